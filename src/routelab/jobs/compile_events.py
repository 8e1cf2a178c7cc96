"""Listeners that pass compilations of numba and progress messages to a job's meter."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import cache
from typing import Any

from routelab._runtime import progress
from routelab._runtime.numba_hook import when_imported
from routelab._runtime.progress import WAITING
from routelab.jobs.meter import current_meter

_EVENTS = "numba.core.event"


_waiting: list[Callable[[], None]] = []


def when_compiling(action: Callable[[], None]) -> None:
    """Call `action` once, when the next compilation of this process begins; see `listen`."""
    _waiting.append(action)


@cache
def listen() -> None:
    """Pass events of this process, and of processes forked from it, to their meters."""
    progress.listeners.append(_note)
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
            while _waiting:
                _waiting.pop()()
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


def _note(task: str, phase: str, ended: bool) -> None:
    """Note the phase of a task in the meter."""
    meter = current_meter()
    if meter is not None and phase != WAITING and not ended:
        meter.note(f"{task}: {phase}")
