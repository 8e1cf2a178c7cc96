"""The mark of a session's programs, by which all of them are found and killed.

Launchers put ranks into sessions and groups of their own. When the launcher is gone, only their
environment shows whose they are.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

MARK = "ROUTELAB_SESSION"
"""Variable that all programs of a session have, with a unique text."""

_POLL_SECONDS = 0.02
_EXEC_SECONDS = 0.5
"""Longest time in which a process that changes to another program shows no variables."""


def kill_marked(mark: str) -> int:
    """Kill the processes of this machine that have a mark, and return their number.

    A process shows no variables while it changes to another program, and one that was just killed
    may have started others: then all are examined again, for at most half a second after the last
    one that was found.
    """
    if not mark:
        return 0
    killed: set[int] = set()
    until = time.monotonic() + _EXEC_SECONDS
    while True:
        marked, hidden = _find_marked(f"{MARK}={mark}".encode())
        if marked - killed:
            until = time.monotonic() + _EXEC_SECONDS
        for number in marked:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(number, signal.SIGKILL)
                killed.add(number)
        if not marked and hidden <= _ALWAYS_HIDDEN:
            return len(killed)
        if time.monotonic() >= until:
            _ALWAYS_HIDDEN.update(hidden)
            return len(killed)
        time.sleep(_POLL_SECONDS)


_ALWAYS_HIDDEN: set[tuple[str, str]] = set()
"""Processes of this user, with their starting times, that never show their variables."""


def _find_marked(wanted: bytes) -> tuple[set[int], set[tuple[str, str]]]:
    """Return the processes that have a variable, and those of this user that show none."""
    marked, hidden = set(), set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            variables = (folder / "environ").read_bytes()
        except PermissionError:
            variables = b""
        except OSError:  # it has just ended, or belongs to the kernel
            continue
        if wanted in variables.split(b"\0"):
            marked.add(int(folder.name))
        elif not variables and (began := _own_start(folder)):
            hidden.add((folder.name, began))
    return marked, hidden


def _own_start(folder: Path) -> str:
    """Return when a process began; empty if it is not of this user or has no program (any more)."""
    try:
        lines = (folder / "status").read_text(errors="replace").splitlines()
        began = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()[19]
    except OSError:
        return ""
    status = dict(line.partition(":")[::2] for line in lines)
    is_own = status.get("Uid", "").split()[:1] == [str(os.getuid())]
    # processes of the kernel, and ended ones, have no memory
    return began if is_own and "VmSize" in status else ""
