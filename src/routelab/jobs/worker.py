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
_MEMORY, _UNWRITTEN = 1, 2


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
    # memory that the worker shares: numbers of begun and finished items, and a problem
    shared = memoryview(mmap.mmap(-1, 24)).cast("q")

    first = 0
    while first < len(items):
        shared[_BEGUN], shared[_FINISHED], shared[_PROBLEM] = first, first, 0
        ending = run_child(partial(_work, items, first, shared))
        print(ending.trace, end="", file=sys.stderr, flush=True)
        begun, finished, problem = shared
        is_first, first = finished == first, finished
        # it has ended behind an item, not at one
        if finished == len(items) or (finished == begun and not is_first):
            continue
        item = items[finished]
        if problem == _UNWRITTEN:
            raise RoutelabError(f"{item.title}: no outcome was written, see above")
        is_memory = problem == _MEMORY
        failure = explain_memory(item.limits) if is_memory else explain_end(*ending, item.limits)
        if is_first or failure.status == "timeout":
            item.record(failure)
            first += 1


def _work(items: Sequence[Item], first: int, shared: memoryview) -> int:
    """Run items in the worker until the last one, or one that leaves threads behind."""
    folder = Path.cwd()
    with adopt_orphans():
        for number, item in enumerate(items[first:], first + 1):
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
                shared[_PROBLEM] = _MEMORY
                return 1
            except RoutelabError as error:
                logger.error("%s", error)
                shared[_PROBLEM] = _UNWRITTEN
                return 1
            # The next item must find what this one has found: a plugin may have changed the folder,
            # and left programs running.
            set_limits(None)
            os.chdir(folder)
            end_children()
            with suppress(OSError):
                Path("/proc/self/clear_refs").write_text("5")  # peak memory begins anew
            shared[_FINISHED] = number
            if threading.active_count() > 1:  # only the end of the process ends them
                break
    return 0
