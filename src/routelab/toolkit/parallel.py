"""Work on many sources in threads, with a result that does not depend on their number.

Compiled kernels that release Python's lock (``nogil=True``) run in plain threads. Unlike numba's
parallel loops, these leave no state in the process, which may fork afterwards. The number of
threads is ``NUMBA_NUM_THREADS``, which the workflow sets to the threads of the job; all cores by
default.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

Result = TypeVar("Result")


def allowed_threads() -> int:
    """Return the number of threads that this process may use: `NUMBA_NUM_THREADS`, or all cores."""
    setting = os.environ.get("NUMBA_NUM_THREADS", "")
    return int(setting) if setting.isdecimal() and int(setting) else os.cpu_count() or 1


def over_ranges(work: Callable[[int, int], Result], count: int, least: int = 64) -> list[Result]:
    """Call ``work(first, last)`` for consecutive ranges of the items 0 to ``count - 1``.

    With 4 threads and 10 items: (0, 2), (2, 5), (5, 7) and (7, 10), if `least` is at most 2.

    Parameters
    ----------
    work : callable
        Must spend its time in kernels with ``nogil=True``, and write to shared memory only within
        its range.
    count : int
    least : int
        Fewest items worth a thread.

    Returns
    -------
    list
        Results of the calls, in the order of the ranges.
    """
    threads = max(1, min(allowed_threads(), count // least))
    ranges = list(pairwise(count * k // threads for k in range(threads + 1)))
    if threads == 1:
        return [work(*ranges[0])]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda limits: work(*limits), ranges))
