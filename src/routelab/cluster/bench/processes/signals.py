"""Signals that ask a session to end; they are put off while a fabric is restored."""

from __future__ import annotations

import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

logger = logging.getLogger(__name__)

_HEEDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopRequest(BaseException):
    """A signal asked the session to end; `except Exception` does not catch this."""


class StopSignals:
    """Turn signals that ask to end into exceptions, so that everything is restored on the way out.

    Attributes
    ----------
    deaf : bool
        Set while the fabric is restored: signals are ignored then.
    """

    def __init__(self) -> None:
        self.deaf = False
        self._held = False
        self._waiting = 0
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> StopSignals:
        self._before = {number: signal.signal(number, self._handle) for number in _HEEDED}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @contextmanager
    def hold_back(self) -> Iterator[None]:
        """Put off signals until the end of the block."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
            waiting, self._waiting = self._waiting, 0
            if waiting:
                self._handle(waiting, None)

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        """Handle a signal: keep it, ignore it during restoring, or stop."""
        if self._held:
            self._waiting = number
        elif self.deaf:
            logger.warning("%s: the fabric is being restored first", signal.Signals(number).name)
        elif number == signal.SIGINT:
            raise KeyboardInterrupt
        else:
            raise StopRequest(signal.Signals(number).name)
