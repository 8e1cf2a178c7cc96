"""Work on many sources at once, in threads, with the same result whatever their number.

Compiled kernels that let go of Python's lock (``nogil=True``) run side by side in plain threads.
Unlike numba's own parallel loops these leave nothing behind in the process, which may fork
afterwards. How many: ``NUMBA_NUM_THREADS``, which the workflow sets to what a job was given; all
cores by default.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

Result = TypeVar("Result")


def allowed_threads() -> int:
    """Threads that this process may use."""
    told = os.environ.get("NUMBA_NUM_THREADS", "")
    return int(told) if told.isdecimal() and int(told) else os.cpu_count() or 1


def over_ranges(work: Callable[[int, int], Result], count: int, least: int = 64) -> list[Result]:
    """Call ``work(first, last)`` for consecutive ranges that make up ``0 … count``.

    Parameters
    ----------
    work : callable
        Has to spend its time in kernels with ``nogil=True``, and to write to nothing shared but its
        own range.
    count : int
    least : int
        Fewest items worth a thread.

    Returns
    -------
    list
        What the calls returned, in the order of the ranges.
    """
    threads = max(1, min(allowed_threads(), count // least))
    ranges = list(pairwise(count * k // threads for k in range(threads + 1)))
    if threads == 1:
        return [work(*ranges[0])]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda limits: work(*limits), ranges))
