"""Listeners that pass compilations of numba and progress messages to a job's meter."""

from __future__ import annotations

import logging
import threading
import time
from functools import cache
from typing import Any

from routelab._runtime.numba_hook import when_imported
from routelab._runtime.progress import LOGGER, WAITING
from routelab.jobs.meter import current_meter

_EVENTS = "numba.core.event"
_LEVEL = logging.DEBUG - 1
"""Level of the progress logger, which no other code is likely to set."""


@cache
def listen() -> None:
    """Pass events of this process, and of processes forked from it, to their meters."""
    _listen_to_progress()
    when_imported(_EVENTS, _listen_to_numba)


def _listen_to_numba(events: Any) -> None:
    """Let meters measure numba's compilations."""

    class Compiles(events.Listener):  # type: ignore[misc]
        """Measures the outermost compilations of each thread."""

        def __init__(self) -> None:
            self._thread = threading.local()

        def on_start(self, event: object) -> None:
            depth = getattr(self._thread, "depth", 0)
            self._thread.depth = depth + 1
            meter = current_meter()
            if depth == 0 and meter is not None:
                self._thread.begin = time.thread_time()
                meter.begin_compile()

        def on_end(self, event: object) -> None:
            self._thread.depth -= 1
            meter = current_meter()
            if self._thread.depth == 0 and meter is not None:
                meter.end_compile(time.thread_time() - self._thread.begin)

    events.register("numba:compile", Compiles())


def _listen_to_progress() -> None:
    """Pass messages about phases of tasks to the meter as notes.

    The logger must let records of all levels pass. So a filter keeps from all handlers, also
    those of its ancestors, the records that did not reach them before.
    """
    logger = logging.getLogger(LOGGER)
    level_before = logger.level

    def note(record: logging.LogRecord) -> bool:
        """Note the task of a record in the meter; return whether its level is logged."""
        meter = current_meter()
        # records of other code have no task, phase and end
        task, phase = getattr(record, "task", None), getattr(record, "phase", None)
        if meter is not None and task and phase != WAITING and not getattr(record, "ended", True):
            meter.note(f"{task}: {phase}")
        level = level_before if logger.level == _LEVEL else logger.level
        if not level and logger.parent is not None:
            level = logger.parent.getEffectiveLevel()
        return record.levelno >= level

    logger.addFilter(note)
    logger.setLevel(_LEVEL)
