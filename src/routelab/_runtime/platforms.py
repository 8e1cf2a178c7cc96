"""The platforms on which routelab works."""

from __future__ import annotations

import sys

NAMES = {"darwin": "macOS", "win32": "Windows", "cygwin": "Cygwin"}


def unsupported_platform() -> str | None:
    """Return why routelab does not run on this platform; None on Linux.

    Jobs are supervised through ``/proc``, pidfds and child subreapers, which other systems lack.
    Windows also lacks modules of Python's library, such as fcntl and resource. So every entry into
    routelab calls this before it imports more.
    """
    if sys.platform == "linux":
        return None
    return (
        f"routelab runs only on Linux, and this is {NAMES.get(sys.platform, sys.platform)}: use a "
        "Linux machine, a Linux container, or WSL2 on Windows"
    )
