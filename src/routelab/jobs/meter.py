"""The meter of a job: memory that the job shares with its supervisor."""

from __future__ import annotations

import mmap
import os
import struct
import threading
from typing import Any, NamedTuple

COMPILE_SECONDS = 600.0
"""CPU time of one compilation beyond which it counts as work."""
NOTE_BYTES = 200
NOT_BEGUN = -1
"""Position in a job of which no item has begun."""

_ITEM = struct.Struct("qqd")
_COMPILE = struct.Struct("qd")
_NOTE = struct.Struct(f"q{NOTE_BYTES}s")


class WorkItem(NamedTuple):
    """The part of its work that a process is doing; each item that begins has another `version`."""

    version: int
    job: int
    position: int
    spare: float


class Compile(NamedTuple):
    """CPU time of all finished compilations, and the number of the current one, 0 for none."""

    running: int
    seconds: float


class Meter:
    """Position, note and compilation time of some jobs, which their supervisor reads.

    It is created before the fork. Only the process of the jobs writes, from any of its threads.
    """

    def __init__(self) -> None:
        sizes = [_Cell.size(layout) for layout in (_ITEM, _COMPILE, _NOTE)]
        memory = memoryview(mmap.mmap(-1, sum(sizes)))
        self._item = _Cell(_ITEM, memory[: sizes[0]])
        self._compile = _Cell(_COMPILE, memory[sizes[0] : sizes[0] + sizes[1]])
        self._note = _Cell(_NOTE, memory[sizes[0] + sizes[1] :])
        self._lock = threading.Lock()
        self._compiles = 0
        self.begin_job(0)

    def begin_job(self, number: int, position: int = 0) -> None:
        """Record that the process begins a job, or will do so: then `position` is `NOT_BEGUN`."""
        with self._lock:
            self._item.store(number, position, 0.0)
            self._note.store(0, b"")

    def begin(self, position: int, spare: float = 0.0) -> None:
        """Record that the job begins an item, whose CPU time counts from now on.

        Parameters
        ----------
        position : int
        spare : float
            CPU time that this item may use beyond the limit, in seconds.
        """
        with self._lock:
            self._item.store(self.job, position, spare)

    @property
    def job(self) -> int:
        """Number of the current job."""
        return self.item.job

    @property
    def position(self) -> int:
        """Position of the current item."""
        return self.item.position

    @property
    def item(self) -> WorkItem:
        """Return the current item."""
        return WorkItem(*self._item.load())

    def note(self, text: str) -> None:
        """Record what the job is doing now; only about 200 bytes are stored."""
        line = " ".join(text.split()).encode("utf-8", "replace")[:NOTE_BYTES]
        line = line.decode("utf-8", "ignore").encode("utf-8")
        with self._lock:
            self._note.store(len(line), line)

    @property
    def text(self) -> str:
        """Last note of the job; empty if there is none."""
        _, length, line = self._note.load()
        return bytes(line[:length]).decode("utf-8")

    def begin_compile(self) -> None:
        """Record that a compilation begins."""
        with self._lock:
            self._compiles += 1
            self._compile.store(self._compiles, self.compile.seconds)

    def end_compile(self, seconds: float) -> None:
        """Record that the compilation has ended, and its CPU time."""
        with self._lock:
            self._compile.store(0, self.compile.seconds + min(seconds, COMPILE_SECONDS))

    def add_compile(self, seconds: float) -> None:
        """Add the CPU time of compilations in a job that this job supervises."""
        with self._lock:
            _, seconds_before = self.compile
            self._compile.store(self.compile.running, seconds_before + seconds)

    @property
    def compile(self) -> Compile:
        """Return the state of compilation."""
        _, running, seconds = self._compile.load()
        return Compile(running, seconds)


class _Cell:
    """Numbers and bytes that one process writes together and others read consistently.

    There are two copies, and a counter that selects the current one. The writer fills the other
    copy, then changes the counter, which is stored in one step. So a writer that is killed
    meanwhile leaves the previous values.
    """

    def __init__(self, layout: struct.Struct, memory: memoryview) -> None:
        self._layout = layout
        self._count = memory[:8].cast("q")
        middle = 8 + layout.size
        self._copies = memory[8:middle], memory[middle : middle + layout.size]

    @staticmethod
    def size(layout: struct.Struct) -> int:
        return 8 + 2 * layout.size

    def store(self, *values: float | bytes) -> None:
        count = self._count[0] + 1
        self._copies[count % 2][:] = self._layout.pack(*values)
        self._count[0] = count

    def load(self) -> tuple[Any, ...]:
        """Return the number of the last `store`, and what it stored."""
        while True:
            count = self._count[0]
            content = bytes(self._copies[count % 2])
            if self._count[0] == count:
                return count, *self._layout.unpack(content)


_current: tuple[int, Meter] | None = None


def current_meter() -> Meter | None:
    """Return the meter of this process, if `run_limited` started it."""
    if _current is None or _current[0] != os.getpid():
        return None
    return _current[1]


def set_current_meter(meter: Meter) -> None:
    """Set the meter of this process."""
    global _current
    _current = os.getpid(), meter
