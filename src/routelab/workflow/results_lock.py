"""The lock of a results folder: one run at a time."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

from routelab.api.errors import InputError
from routelab.jobs.run_lifetime import take_lock
from routelab.workflow.console import LOCK


def lock_results(results: Path, seconds: float = 1) -> int:
    """Lock a results folder against other runs until this process ends, in whatever way.

    Parameters
    ----------
    results : Path
    seconds : float
        Longest time to wait: a dry run holds the lock for a moment.

    Returns
    -------
    lock : int
        Descriptor of the locked file; closing it also ends the lock.

    Raises
    ------
    InputError
        If another run holds the lock.
    OSError
        If the folder cannot be written.
    """
    results.mkdir(parents=True, exist_ok=True)
    lock = os.open(results / LOCK, os.O_RDWR | os.O_CREAT)
    deadline = time.monotonic() + seconds
    try:
        while not take_lock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB):
            if time.monotonic() >= deadline:
                holder = os.read(lock, 100).decode(errors="replace").strip()
                raise InputError(
                    f"another run ({holder}) is working in {results}; wait until it ends, or stop "
                    "it"
                )
            time.sleep(0.05)
    except BaseException:
        os.close(lock)
        raise
    return lock
