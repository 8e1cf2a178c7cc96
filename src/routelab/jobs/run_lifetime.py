"""Jobs end with the run of Snakemake that started them, and a lock shows whether any is left."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from types import FrameType

import psutil

from routelab.jobs.processes import die_with_parent

RUN = "ROUTELAB_RUN"
"""Environment variable with host and PID of the Snakemake process."""
LOCK = ".jobs.lock"
NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)
"""Errors of `flock` on a file system without locks."""

_locks: dict[Path, int] = {}
"""Open lock file of each results folder: the lock lasts until all processes have closed it."""


def announce_run() -> None:
    """Announce this process to the jobs that it starts as the run that they belong to."""
    os.environ[RUN] = f"{os.uname().nodename} {os.getpid()}"


def end_with_run() -> None:
    """Let the kernel ask this process to end when the Snakemake process ends that started it.

    Snakemake's shell replaces itself by the job (``exec``), so Snakemake is the parent.
    """
    host, _, pid = os.environ.get(RUN, "").partition(" ")
    # If Snakemake has ended already, the parent is another process, whose end says nothing. A PID
    # of another host cannot be looked up here; the variable is missing outside a run.
    if host == os.uname().nodename and not psutil.pid_exists(int(pid)):
        os._exit(1)
    die_with_parent(os.getppid(), signal.SIGTERM)


def end_jobs_on_interrupt() -> None:
    """End this run's local jobs when this process alone is interrupted.

    A terminal interrupts all processes of a run by itself; ``kill -INT`` reaches Snakemake only,
    and Snakemake would wait for its jobs.
    """
    previous_handler = signal.getsignal(signal.SIGINT)

    def end_jobs(number: int, frame: FrameType | None) -> None:
        for child in psutil.Process().children():
            with suppress(psutil.Error):
                child.terminate()
        if callable(previous_handler):
            previous_handler(number, frame)

    # Where interruptions are ignored, as in the background of a script, the handler is SIG_IGN,
    # which is not callable. They stay ignored.
    if callable(previous_handler):
        signal.signal(signal.SIGINT, end_jobs)


def share_results_lock(results: Path) -> None:
    """Hold a lock of a results folder until this process and all its forks have ended."""
    if results in _locks:
        return
    results.mkdir(parents=True, exist_ok=True)
    lock = os.open(results / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    _locks[results] = lock
    take_lock(lock, fcntl.LOCK_SH)


def take_lock(lock: int, operation: int) -> bool:
    """Lock an open file; return False if another process holds its lock.

    On a file system without locks nobody holds one.

    Parameters
    ----------
    lock : int
        Descriptor of the file.
    operation : int
        `fcntl.LOCK_SH` or `fcntl.LOCK_EX`; with `fcntl.LOCK_NB` it does not wait.

    Raises
    ------
    OSError
        If the file cannot be locked for another reason.
    """
    try:
        fcntl.flock(lock, operation)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
    return True


def wait_for_jobs(results: Path, seconds: float = 10) -> bool:
    """Wait until no job holds the lock of a results folder.

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
        # Jobs hold shared locks, so an exclusive one is free only without jobs. It is given back
        # when the file is closed.
        while not take_lock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB):
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.05)
        return True
    finally:
        os.close(lock)
