"""The CPU time of this process."""

from __future__ import annotations

import resource


def cpu_time() -> float:
    """Return the CPU seconds of all threads of this process, to a microsecond.

    Where a limit of CPU time is set, `time.process_time` has the resolution of the kernel's ticks,
    4 ms: the kernel then keeps sums for its timers, and returns those.
    """
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
