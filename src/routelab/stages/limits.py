"""Time and memory limits, kept by a parent process.

A signal to a process inside a compiled kernel waits until the kernel returns, so a job cannot
stop itself. The job runs in a child; the parent, which has loaded nothing, watches and kills it.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

POLL_SECONDS = 0.05
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Breach:
    """Why a job did not end by itself.

    Attributes
    ----------
    status : {"timeout", "failed"}
    reason : str
    """

    status: Literal["timeout", "failed"]
    reason: str


def run_limited(
    work: Callable[[], int],
    seconds: float | None,
    memory_gb: float | None,
    released: Callable[[], bool] = lambda: False,
    since: Callable[[], float] | None = None,
) -> int | Breach:
    """Run `work` in a child process and return its exit code, or why it was stopped.

    Parameters
    ----------
    work : callable
        Returns an exit code.
    seconds : float or None
        Wall time after which the child is killed.
    memory_gb : float or None
        Resident memory (in 10^9 bytes) above which the child is killed.
    released : callable
        Says that the limits do not hold any more.
    since : callable, optional
        The `time.monotonic` from which on `seconds` count; by default that of the call. A child
        with many pieces of work tells when it began the present one.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        _run_child(work, parent)
    try:
        return _watch(child, seconds, memory_gb, released, since)
    except BaseException:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        raise


def _run_child(work: Callable[[], int], parent: int) -> None:
    """Run `work` and leave; the child never returns into its parent's code."""
    code = 1
    try:
        _die_with(parent)
        code = work()
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _die_with(parent: int) -> None:
    """Let the kernel kill this process when its parent is killed, where it can."""
    if sys.platform != "linux":
        return
    import ctypes

    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it was killed before the call
        os._exit(1)


def _watch(
    child: int,
    seconds: float | None,
    memory_gb: float | None,
    released: Callable[[], bool],
    since: Callable[[], float] | None,
) -> int | Breach:
    begin = time.monotonic()
    ended = select.poll()
    handle = os.pidfd_open(child)
    ended.register(handle, select.POLLIN)
    try:
        # wakes up at once when the child ends, and now and then to look at its limits
        while not ended.poll(POLL_SECONDS * 1000):
            elapsed = time.monotonic() - (since() if since else begin)
            breach = _breach(child, elapsed, seconds, memory_gb)
            if breach is not None and not released():
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return breach
    finally:
        os.close(handle)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        return Breach("failed", f"the process was killed by {name}")
    return os.WEXITSTATUS(status)


def _breach(
    child: int, elapsed: float, seconds: float | None, memory_gb: float | None
) -> Breach | None:
    if seconds is not None and elapsed > seconds:
        return Breach("timeout", f"took longer than {seconds:g} s")
    if memory_gb is not None and _resident(child) > memory_gb * 1e9:
        return Breach("failed", f"used more than {memory_gb:g} GB of memory")
    return None


def _resident(pid: int) -> int:
    """Resident memory of a process in bytes; 0 if it cannot be told."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return 0
