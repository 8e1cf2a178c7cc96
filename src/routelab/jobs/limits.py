"""Limits of an item of work, which the kernel enforces, and why an item has no result."""

from __future__ import annotations

import math
import os
import re
import resource
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING

from routelab._runtime.cpu_time import cpu_time

if TYPE_CHECKING:
    from routelab.results.outcome import Status
    from routelab.study.study import Limits


@dataclass(frozen=True)
class Failure:
    """Why an item was stopped or ended without a result.

    Attributes
    ----------
    status : {"unsupported", "failed", "timeout"}
    reason : str
    """

    status: Status
    reason: str


def set_limits(limits: Limits | None) -> None:
    """Limit this process, and each process that it starts, from now on; None: no limits.

    Beyond its CPU time the process gets SIGXCPU, which ends it even inside a compiled kernel.
    Beyond its memory an allocation fails, which is a `MemoryError` in Python and in kernels.
    """
    # Signals such as SIGXCPU would also write a core dump.
    _set_soft_limit(resource.RLIMIT_CORE, 0)
    # The kernel counts the CPU time of a process from its start, with all earlier items.
    _set_soft_limit(resource.RLIMIT_CPU, cpu_time() + limits.seconds if limits else math.inf)
    _set_soft_limit(resource.RLIMIT_DATA, limits.memory_gb * 1e9 if limits else math.inf)


def _set_soft_limit(kind: int, limit: float) -> None:
    """Set a limit of this process, as far as the hard limit allows.

    The hard limit stays, because it could not be raised again for the next item.
    """
    _, hard_limit = resource.getrlimit(kind)
    # RLIM_INFINITY is −1, so it cannot be compared
    is_allowed = limit < (math.inf if hard_limit == resource.RLIM_INFINITY else hard_limit)
    # not allowed: the limit is above the hard one, or is infinite, which the hard one may be, too
    resource.setrlimit(kind, (math.ceil(limit) if is_allowed else hard_limit, hard_limit))


def explain_memory(limits: Limits) -> Failure:
    """Return the failure of an item that ran out of memory."""
    if math.isinf(limits.memory_gb):
        return Failure("failed", "the machine has too little memory")
    return Failure("failed", f"reached its limit of {limits.memory_gb:g} GB (limits.memory_gb)")


def explain_end(status: int, hung: bool, trace: str, limits: Limits | None) -> Failure:
    """Return the failure of an item during which its process ended.

    Parameters
    ----------
    status : int
        Wait status of the process, from `os.waitpid`.
    hung : bool
        Whether the process was killed because it only waited.
    trace : str
        Output of faulthandler; empty if there is none.
    limits : Limits or None
        Limits of the item.
    """
    # Each stack has the heading "Stack (most recent call first):". The last one is that of the
    # process: forks of earlier items may have crashed before.
    _, _, last_stack = trace.rpartition("most recent call first")
    frame = re.search(
        r'File "(?P<file>[^"]+)", line (?P<line>\d+) in (?P<function>\S+)', last_stack
    )
    where = f" in {frame['function']} ({frame['file']}, line {frame['line']})" if frame else ""
    if hung:
        return Failure("timeout", f"hung: used no CPU time for minutes{where}")
    if not os.WIFSIGNALED(status):
        code = os.WEXITSTATUS(status)
        ending = f"ended with exit code {code}" if code else "ended"
        return Failure("failed", f"its process {ending} without a result")
    number = os.WTERMSIG(status)
    if number == signal.SIGXCPU and limits:
        text = f"reached its limit of {limits.seconds:g} CPU-s (limits.seconds)"
        return Failure("timeout", text + where)
    try:
        name = signal.Signals(number).name
    except ValueError:  # real-time signals have none
        name = f"signal {number}"
    return Failure("failed", f"the process was killed by {name}{where}")
