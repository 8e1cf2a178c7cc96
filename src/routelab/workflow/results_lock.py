"""The lock of a results folder: one run at a time."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

from routelab.api.errors import InputError
from routelab.jobs.run_lifetime import NO_LOCKS
from routelab.workflow.console import LOCK


def lock_results(results: Path, seconds: float = 1) -> int:
    """Lock `results` against other runs until this process ends in any way.

    Parameters
    ----------
    results : Path
    seconds : float
        Longest time to wait: a dry run holds the lock for a moment.

    Returns
    -------
    lock : int
        Closing this file ends the lock, too.

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
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() < deadline:
                time.sleep(0.05)
                continue
            holder = os.read(lock, 100).decode(errors="replace").strip()
            os.close(lock)
            raise InputError(
                f"another run ({holder}) is working in {results}; wait until it ends, or stop it"
            ) from error
        except OSError as error:  # as in jobs, see `share_results_lock`
            if error.errno not in NO_LOCKS:
                os.close(lock)
                raise
        return lock
