"""Signals that ask a session to end; they are put off while a fabric is restored."""

from __future__ import annotations

import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

logger = logging.getLogger(__name__)

_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopRequest(BaseException):
    """A signal asked the session to end; `except Exception` does not catch this."""


class StopSignals:
    """Context manager in which SIGINT, SIGTERM and SIGHUP raise exceptions.

    So `finally` blocks restore the fabric. SIGINT raises KeyboardInterrupt, the others StopRequest.

    Attributes
    ----------
    ignores_signals : bool
        True while the fabric is restored: a signal is only logged then.
    """

    def __init__(self) -> None:
        self.ignores_signals = False
        self._holds_back = False
        self._pending_signal: int | None = None
        self._previous_handlers: dict[signal.Signals, Any] = {}

    def __enter__(self) -> StopSignals:
        self._previous_handlers = {
            number: signal.signal(number, self._handle) for number in _STOP_SIGNALS
        }
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._previous_handlers.items():
            signal.signal(number, handler)

    @contextmanager
    def hold_back(self) -> Iterator[None]:
        """Put off signals until the end of the block; of several, the last one acts."""
        self._holds_back = True
        try:
            yield
        finally:
            self._holds_back = False
            pending, self._pending_signal = self._pending_signal, None
            if pending is not None:
                self._handle(pending, None)

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        """Handle a signal: put it off, ignore it during restoring, or raise an exception."""
        if self._holds_back:
            self._pending_signal = number
        elif self.ignores_signals:
            logger.warning("%s: the fabric is being restored first", signal.Signals(number).name)
        elif number == signal.SIGINT:
            raise KeyboardInterrupt
        else:
            raise StopRequest(signal.Signals(number).name)
