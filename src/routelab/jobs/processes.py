"""Processes that end together, by what the kernel offers.

    Snakemake ── routelab batch ── worker ── program of a plugin, such as OpenSM

A child asks for a signal at the end of its parent (`die_with_parent`). A parent adopts orphans
among its descendants (`adopt_orphans`), so that `end_children` finds and kills all of them.
"""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress

import psutil

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PR_GET_CHILD_SUBREAPER = 37
_MAX_ROUNDS = 20
"""Largest number of rounds in which children are killed: new ones may appear meanwhile."""

_libc = ctypes.CDLL(None, use_errno=True)


def die_with_parent(parent: int, number: signal.Signals = signal.SIGKILL) -> None:
    """Let the kernel send a signal to this process when its parent ends.

    Parameters
    ----------
    parent : int
        PID of the parent: if it has ended already, this process ends immediately.
    number : signal
        The signal to send.
    """
    _prctl(_PR_SET_PDEATHSIG, int(number))
    if os.getppid() != parent:  # it ended before the kernel knew that it should send a signal
        os._exit(1)


@contextmanager
def adopt_orphans() -> Iterator[None]:
    """Let orphans among the descendants become children of this process, within the block."""
    before = ctypes.c_int()
    _prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(before))
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    try:
        yield
    finally:
        _prctl(_PR_SET_CHILD_SUBREAPER, before.value)


def has_children() -> bool:
    """Return whether this process has children, also ended ones that nobody has waited for."""
    try:
        # WNOHANG does not wait, WNOWAIT leaves an ended child for the real wait.
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def present_children() -> set[psutil.Process]:
    """Return the children of this process."""
    return set(psutil.Process().children()) if has_children() else set()


def end_children(spared: Collection[psutil.Process] = ()) -> None:
    """Kill the children of this process with all their descendants, and wait until none is left.

    Parameters
    ----------
    spared : collection of psutil.Process
        Children to leave alone.
    """
    # Each round kills those that it finds. The next one finds what they forked meanwhile, and
    # orphans that have become children of this process.
    for _ in range(_MAX_ROUNDS):
        children = present_children() - set(spared)
        if not children:
            return
        # 1. List them with their descendants. For each list, psutil reads all processes of the
        #    machine, so one list for each of thousands of orphans would take hours. If none is
        #    spared, a single list has all.
        victims: list[psutil.Process] = []
        if not spared:
            victims = psutil.Process().children(recursive=True)
        else:
            for child in children:
                with suppress(psutil.Error):  # it has just ended
                    victims += [child, *child.children(recursive=True)]

        # 2. Kill whole groups, as a process may fork meanwhile; but this process's own group has
        #    this process, too.
        for process in victims:
            with suppress(psutil.Error, ProcessLookupError, PermissionError):
                group = os.getpgid(process.pid)
                if group == os.getpgrp():
                    process.kill()
                elif process.is_running():  # else another process may have its PID by now
                    os.killpg(group, signal.SIGKILL)
        psutil.wait_procs(victims, timeout=1)


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process and its descendants; ended ones may count twice."""
    total = 0.0
    with suppress(psutil.Error):  # it has just ended
        process = psutil.Process(pid)
        for member in (process, *process.children(recursive=True)):
            times = member.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return total


def _prctl(option: int, argument: object) -> None:
    if _libc.prctl(option, argument, 0, 0, 0):
        code = ctypes.get_errno()
        raise OSError(code, f"prctl({option}): {os.strerror(code)}")
