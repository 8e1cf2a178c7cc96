"""Signals that arrive while a supervisor waits for a job."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, TypeAlias

Handler: TypeAlias = Callable[[int, FrameType | None], Any] | int

DEADLY = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interruptions:
    """Put off signals that end this process until the descendants are dead.

    Within the block a signal only makes `handle` readable. After the block it acts as usual.
    Signals that are ignored stay ignored.
    """

    def __init__(self) -> None:
        self.arrived: list[int] = []
        self._before: dict[signal.Signals, Handler] = {}

    def __enter__(self) -> Interruptions:
        self.handle = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        with _block_signals((*DEADLY, signal.SIGCHLD)):
            # children of a process that ignores SIGCHLD cannot be waited for
            if signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN:
                self._set(signal.SIGCHLD, signal.SIG_DFL)
            for number in DEADLY:
                if signal.getsignal(number) not in (signal.SIG_IGN, None):
                    self._set(number, self._take_note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._restore()
        os.close(self.handle)
        for number in self.arrived:
            signal.raise_signal(number)

    def fork(self) -> int:
        """Fork; in the child, signals act as before the block, but SIGINT is ignored."""
        with _block_signals(DEADLY):
            child = os.fork()
            if child == 0:
                self._before.pop(signal.SIGCHLD, None)
                self._restore()
                signal.signal(signal.SIGINT, signal.SIG_IGN)
                os.close(self.handle)
        return child

    def _set(self, number: signal.Signals, handler: Handler) -> None:
        before = signal.signal(number, handler)
        if before is not None:
            self._before[number] = before

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _take_note(self, number: int, frame: FrameType | None) -> None:
        self.arrived.append(number)
        os.eventfd_write(self.handle, 1)


@contextmanager
def _block_signals(numbers: tuple[signal.Signals, ...]) -> Iterator[None]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
