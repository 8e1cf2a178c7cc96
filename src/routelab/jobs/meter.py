"""What a job says of itself: memory that it shares with its supervisor."""

from __future__ import annotations

import mmap
import os
import struct
import threading
from typing import Any, NamedTuple

COMPILE_SECONDS = 600.0
"""CPU time of one compilation beyond which it counts as work."""
NOTE_BYTES = 200

_ITEM = struct.Struct("qd")
_COMPILE = struct.Struct("qd")
_NOTE = struct.Struct(f"q{NOTE_BYTES}s")


class Item(NamedTuple):
    """What a job works at; `version` is another one for each that began."""

    version: int
    position: int
    spare: float


class Compile(NamedTuple):
    """CPU time of all finished compilations, and the number of the present one, 0 for none."""

    running: int
    seconds: float


class Meter:
    """Position, note and compile time of a job, which its supervisor reads.

    Made before the fork. Only the job itself writes, from any of its threads.
    """

    def __init__(self) -> None:
        sizes = [_Cell.size(layout) for layout in (_ITEM, _COMPILE, _NOTE)]
        memory = memoryview(mmap.mmap(-1, sum(sizes)))
        self._item = _Cell(_ITEM, memory[: sizes[0]])
        self._compile = _Cell(_COMPILE, memory[sizes[0] : sizes[0] + sizes[1]])
        self._note = _Cell(_NOTE, memory[sizes[0] + sizes[1] :])
        self._lock = threading.Lock()
        self._compiles = 0
        self.begin(0)

    def begin(self, position: int, spare: float = 0.0) -> None:
        """Say that the job works at an item from now on, whose CPU time counts from now.

        Parameters
        ----------
        position : int
        spare : float
            CPU time that this item may use beyond the limit, in seconds.
        """
        with self._lock:
            self._item.store(position, spare)

    @property
    def position(self) -> int:
        """Position of the present item."""
        return self.item.position

    @property
    def item(self) -> Item:
        """The present item."""
        version, (position, spare) = self._item.load()
        return Item(version, position, spare)

    def note(self, text: str) -> None:
        """Say what the job does now; only about 200 bytes are kept."""
        line = " ".join(text.split()).encode("utf-8", "replace")[:NOTE_BYTES]
        line = line.decode("utf-8", "ignore").encode("utf-8")
        with self._lock:
            self._note.store(len(line), line)

    @property
    def text(self) -> str:
        """What the job does now; empty if it never said."""
        _, (length, line) = self._note.load()
        return bytes(line[:length]).decode("utf-8")

    def begin_compile(self) -> None:
        """Say that a compilation begins."""
        with self._lock:
            self._compiles += 1
            self._compile.store(self._compiles, self.compile.seconds)

    def end_compile(self, seconds: float) -> None:
        """Say that it has ended, after so much CPU time."""
        with self._lock:
            self._compile.store(0, self.compile.seconds + min(seconds, COMPILE_SECONDS))

    def add_compile(self, seconds: float) -> None:
        """Add the CPU time of compilations in a job of this job."""
        with self._lock:
            _, seconds_before = self.compile
            self._compile.store(self.compile.running, seconds_before + seconds)

    @property
    def compile(self) -> Compile:
        """State of compilation."""
        _, (running, seconds) = self._compile.load()
        return Compile(running, seconds)


class _Cell:
    """Numbers and bytes that one process writes, and others read as they were written together.

    There are two copies, and a counter that says which is the present one. The writer fills the
    other copy, then changes the counter, which is stored in one step. So a writer that is killed
    meanwhile leaves what it wrote before.
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

    def load(self) -> tuple[int, tuple[Any, ...]]:
        while True:
            count = self._count[0]
            content = bytes(self._copies[count % 2])
            if self._count[0] == count:
                return count, self._layout.unpack(content)


_current: tuple[int, Meter] | None = None


def current() -> Meter | None:
    """Return the meter of this process, if `run_limited` started it."""
    if _current is None or _current[0] != os.getpid():
        return None
    return _current[1]


def adopt(meter: Meter) -> None:
    """Make a meter that of this process."""
    global _current
    _current = os.getpid(), meter
