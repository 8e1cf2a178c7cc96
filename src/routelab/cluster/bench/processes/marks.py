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
"""Longest time in which a process that changes to another program (`execve`) has no variables."""

_always_hidden: set[tuple[str, str]] = set()
"""PID and start of processes of this user that never show their variables."""


def kill_marked(mark: str) -> int:
    """Kill the processes of this machine that have a mark, and return their number.

    One look is not enough: a process shows no variables while it changes to another program, and
    one that was just killed may have started others. So look again, until there is no process to
    wait for, or for half a second after the last one that was found.
    """
    if not mark:
        return 0
    killed: set[int] = set()
    deadline = time.monotonic() + _EXEC_SECONDS
    while True:
        marked, hidden = _find_marked(f"{MARK}={mark}".encode())
        if marked - killed:
            deadline = time.monotonic() + _EXEC_SECONDS
        for pid in marked:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
                killed.add(pid)
        # Done if no process is left that has the mark, or may have it and hides it for a moment.
        if not marked and hidden <= _always_hidden:
            return len(killed)
        if time.monotonic() >= deadline:
            # No `execve` takes so long: do not wait for these processes next time.
            _always_hidden.update(hidden)
            return len(killed)
        time.sleep(_POLL_SECONDS)


def _find_marked(variable: bytes) -> tuple[set[int], set[tuple[str, str]]]:
    """Return the processes that have a variable, and those that may have it but show none.

    Parameters
    ----------
    variable : bytes
        Name and value, ``NAME=VALUE``.

    Returns
    -------
    marked : set of int
        PIDs.
    hidden : set of (str, str)
        PID and start time of processes of this user.
    """
    marked, hidden = set(), set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            variables = (folder / "environ").read_bytes()
        except PermissionError:
            variables = b""
        except OSError:  # it has just ended, or belongs to the kernel
            continue
        if variable in variables.split(b"\0"):
            marked.add(int(folder.name))
        # A process of this user shows no variables while it changes to another program. Some never
        # show any, such as one that has none.
        elif not variables and (start := _own_start_time(folder)):
            hidden.add((folder.name, start))
    return marked, hidden


def _own_start_time(folder: Path) -> str:
    """Return the start time of a process of this user; a later one with its PID has another.

    Empty if the process belongs to another user, or has no program: it has ended, or is a thread
    of the kernel.

    Parameters
    ----------
    folder : Path
        ``/proc/PID``.
    """
    try:
        status_lines = (folder / "status").read_text(errors="replace").splitlines()
        stat = (folder / "stat").read_text(errors="replace")
    except OSError:
        return ""
    # ``stat`` is "PID (NAME) STATE PARENT ...", where the name may have blanks and parentheses. The
    # start is field 22 in proc(5), where fields count from 1 and the name is field 2: so it has the
    # index 19 behind the name.
    start = stat.rpartition(")")[2].split()[19]
    status = dict(line.partition(":")[::2] for line in status_lines)
    is_own = status.get("Uid", "").split()[:1] == [str(os.getuid())]
    # processes of the kernel, and ended ones, have no memory
    return start if is_own and "VmSize" in status else ""
