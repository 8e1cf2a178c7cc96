"""A worker: a process that runs items one after another.

    batch ── worker: item 0, item 1, item 2 (crash)
         └── worker:                             item 3, item 4, ...

The worker has modules and kernels loaded for all its items, and each item has its own limits. Where
an item ends the worker, its failure is recorded, and a new worker goes on behind it.
"""

from __future__ import annotations

import logging
import mmap
import os
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from routelab._runtime import progress
from routelab.api.errors import RoutelabError
from routelab.jobs.child import run_child
from routelab.jobs.limits import Failure, explain_end, explain_memory, set_limits
from routelab.jobs.processes import adopt_orphans, end_children
from routelab.registry.catalogue import QuarantinedError
from routelab.study.study import Limits

logger = logging.getLogger(__name__)

_BEGUN, _FINISHED, _PROBLEM = range(3)
"""Positions in the memory that a worker shares with its parent: the number of items that are begun,
of those that are finished, from the first item of the batch on, and a problem of the worker."""

_NO_PROBLEM, _OUT_OF_MEMORY, _NOT_WRITTEN = range(3)
"""Problems: none; an item ran out of memory; an item's result could not be written."""


class Item(NamedTuple):
    """Work that has its own limits.

    Attributes
    ----------
    title : str
        Name in messages.
    limits : Limits
    run : callable
        Does the work in the worker and writes the result, also if the work fails. It raises a
        `QuarantinedError` if a plugin cannot be used, and another `RoutelabError` if no result can
        be written, for example on a full disk.
    record : callable
        Writes instead of the result why there is none, for example why the worker ended.
    """

    title: str
    limits: Limits
    run: Callable[[], object]
    record: Callable[[Failure], None]


def run_items(items: Sequence[Item]) -> None:
    """Run items in worker processes, until each has a result or its failure is recorded.

    An item that ends a worker that has run others before is tried once more in a new one, unless
    its time was up: the cause may be what the others have left behind, for example memory.

    Raises
    ------
    RoutelabError
        If a result cannot be written.
    """
    # Memory that the worker shares with this process, and that is left if the worker is killed:
    # three integers of 8 bytes, at the positions `_BEGUN`, `_FINISHED` and `_PROBLEM`.
    shared = memoryview(mmap.mmap(-1, 3 * 8)).cast("q")

    num_done = 0
    while num_done < len(items):
        # 1. Run a worker until it ends, by itself or not.
        shared[_BEGUN], shared[_FINISHED], shared[_PROBLEM] = num_done, num_done, _NO_PROBLEM
        ending = run_child(partial(_work, items, num_done, shared))
        print(ending.trace, end="", file=sys.stderr, flush=True)
        # `begun` and `finished` also count the items of earlier workers
        begun, finished, problem = shared
        has_finished_none = finished == num_done
        num_done = finished

        # 2. If it ended between two items, a new one goes on. But an end before its first item is a
        #    failure of this item: otherwise the loop might not end.
        ended_between_items = finished == begun
        if finished == len(items) or (ended_between_items and not has_finished_none):
            continue

        # 3. It ended during an item. Record why, or try the item once more as a worker's first one.
        item = items[finished]
        if problem == _NOT_WRITTEN:
            raise RoutelabError(f"{item.title}: no outcome was written, see above")
        if problem == _OUT_OF_MEMORY:
            failure = explain_memory(item.limits)
        else:
            failure = explain_end(ending.status, ending.hung, ending.trace, item.limits)
        if has_finished_none or failure.status == "timeout":
            item.record(failure)
            num_done += 1


def _work(items: Sequence[Item], num_done: int, shared: memoryview) -> int:
    """Run the items that are not done, in the worker; end it after one that leaves threads behind.

    Returns
    -------
    code : int
        Exit code of the worker.
    """
    start_folder = Path.cwd()
    with adopt_orphans():
        # `number` counts from 1, so it is also the number of items that are begun or finished
        for number, item in enumerate(items[num_done:], num_done + 1):
            shared[_BEGUN] = number
            logger.info("[%d/%d] %s", number, len(items), item.title)
            progress.current = ""
            set_limits(item.limits)
            try:
                item.run()
            except QuarantinedError as error:
                item.record(Failure("failed", str(error)))
            except MemoryError:
                traceback.print_exc()
                shared[_PROBLEM] = _OUT_OF_MEMORY
                return 1
            except RoutelabError as error:
                logger.error("%s", error)
                shared[_PROBLEM] = _NOT_WRITTEN
                return 1
            # The next item must find what this one has found: a plugin may have changed the folder,
            # and left programs running.
            set_limits(None)
            os.chdir(start_folder)
            end_children()
            with suppress(OSError):
                # 5 resets the peak of the memory, VmHWM in proc(5), which each item measures.
                Path("/proc/self/clear_refs").write_text("5")
            shared[_FINISHED] = number
            if threading.active_count() > 1:  # only the end of the process ends these threads
                break
    return 0
