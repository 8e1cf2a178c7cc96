"""Processes whose end also ends this one, and locks that show whether jobs are still running.

Snakemake may be killed before it can end its jobs. So a supervisor watches Snakemake, its own
parent, and, in a job that supervises jobs itself, the supervisor above.
"""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NoReturn

from routelab.jobs.processes import (
    has_ended,
    identity,
    is_local,
    kill_descendants,
    open_identity,
    read_tree,
    send_signal,
    set_parent_death_signal,
)

RUN = "ROUTELAB_RUN"
"""Environment variable with the identity of the Snakemake process."""
LOCK = ".jobs.lock"

_COMMAND = "routelab"
_NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)
_handles: list[int] = []
_parent: int | None = None
_locks: dict[Path, int] = {}


def announce_run() -> None:
    """Announce this process to the jobs that it starts as the run that they belong to."""
    os.environ[RUN] = identity(os.getpid())


def end_jobs_on_interrupt() -> None:
    """End this run's local jobs when this process alone is interrupted.

    A terminal interrupts all processes of a run by itself; ``kill -INT`` reaches Snakemake only,
    and Snakemake would wait for its jobs.
    """
    before = signal.getsignal(signal.SIGINT)

    def interrupt(number: int, frame: FrameType | None) -> None:
        for process in read_tree([os.getpid()]):
            if _COMMAND in _read_command(process.pid):
                send_signal(process.key, signal.SIGTERM)
        if callable(before):
            before(number, frame)

    if callable(before):  # else interruptions are ignored, as in the background of a script
        signal.signal(signal.SIGINT, interrupt)


def _read_command(pid: int) -> list[str]:
    """Return the file names of the first arguments of a process."""
    try:
        arguments = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:  # the process has just ended
        return []
    return [Path(os.fsdecode(argument)).name for argument in arguments[:2]]


def watch_run() -> None:
    """Let `run_limited` end this process when the run or the parent of this process ends.

    If the run has ended already, this process ends immediately. A run on another machine, in
    another container or before a reboot is not watched.
    """
    name = os.environ.get(RUN, "")
    if is_local(name):
        handle = open_identity(name)
        if handle is None:
            kill_descendants_and_exit()
        _handles.append(handle)
    try:
        _handles.append(os.pidfd_open(os.getppid()))
    except OSError:  # the run is outside this container, or has ended
        if os.getppid():
            kill_descendants_and_exit()


def watch_handles() -> list[int]:
    """Return pidfds of the processes whose end must end this one."""
    return list(_handles)


def follow_parent(parent: int, handle: int | None) -> None:
    """Tie a forked child to its parent: the kernel kills it when the parent ends.

    Parameters
    ----------
    parent : int
        PID.
    handle : int or None
        A pidfd of the parent, opened before the fork.
    """
    global _parent
    for inherited in _handles:
        os.close(inherited)
    _handles[:] = [] if handle is None else [handle]
    _parent = parent
    _die_with_parent()


@contextmanager
def supervising() -> Iterator[None]:
    """Stop the kernel from killing this process, which must end its descendants first."""
    if _parent is not None:
        set_parent_death_signal(0)
    try:
        yield
    finally:
        if _parent is not None:
            _die_with_parent()


def kill_descendants_and_exit() -> NoReturn:
    """Kill all descendants, and exit."""
    try:
        kill_descendants()
    finally:
        os._exit(1)


def _die_with_parent() -> None:
    set_parent_death_signal(signal.SIGKILL)
    # the parent may have ended before the call, and then nothing would end this process
    if os.getppid() != _parent or any(map(has_ended, _handles)):
        kill_descendants_and_exit()


def share_results_lock(results: Path) -> None:
    """Hold a lock of a results folder until this process and all its forks have ended."""
    if results in _locks:
        return
    results.mkdir(parents=True, exist_ok=True)
    lock = os.open(results / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    _locks[results] = lock
    try:
        fcntl.flock(lock, fcntl.LOCK_SH)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise


def wait_for_jobs(results: Path, seconds: float = 10) -> bool:
    """Wait until no job holds a results folder.

    Parameters
    ----------
    results : path
    seconds : float
        Longest time to wait.

    Returns
    -------
    free : bool
        False if jobs still run after that time.
    """
    try:
        lock = os.open(results / LOCK, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    deadline = time.monotonic() + seconds
    try:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    return False
                time.sleep(0.05)
            except OSError as error:
                if error.errno not in _NO_LOCKS:
                    raise
                return True
            else:
                return True
    finally:
        os.close(lock)
