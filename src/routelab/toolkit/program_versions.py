"""Versions of external programs."""

from __future__ import annotations

import re
import subprocess
from functools import cache

SECONDS = 10.0
"""Limit of the wall time in which a program must print its version."""


@cache
def program_version(program: str, option: str = "--version") -> str:
    """Return the version that a program prints, such as ``3.3.23``; ask it once per process.

    Parameters
    ----------
    program : str
        Its name or path.
    option : str
        Option that prints the version.

    Returns
    -------
    version : str
        The first number with a dot in the output; empty if there is none, the program is missing
        or it takes long.
    """
    try:
        process = subprocess.run(
            [program, option],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    version = re.search(r"\d+(\.\d+)+", process.stdout)
    return version[0] if version else ""
