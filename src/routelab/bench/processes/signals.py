"""Signals that ask a session to end: heeded, but never while a fabric is put back."""

from __future__ import annotations

import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

logger = logging.getLogger(__name__)

_HEEDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(BaseException):
    """A signal asked the session to end; no `except Exception` takes it for something else."""


class Heeding:
    """Signals that ask to end raise, so that all is put back on the way out.

    Attributes
    ----------
    deaf : bool
        Set while it is put back: nobody interrupts that.
    """

    def __init__(self) -> None:
        self.deaf = False
        self._held = False
        self._waiting = 0
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Heeding:
        self._before = {number: signal.signal(number, self._heed) for number in _HEEDED}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Put off what comes in here until the end of it."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
            waiting, self._waiting = self._waiting, 0
            if waiting:
                self._heed(waiting, None)

    def _heed(self, number: int, _frame: FrameType | None) -> None:
        if self._held:
            self._waiting = number
        elif self.deaf:
            logger.warning("%s: the fabric is being restored first", signal.Signals(number).name)
        elif number == signal.SIGINT:
            raise KeyboardInterrupt
        else:
            raise Stopped(signal.Signals(number).name)
