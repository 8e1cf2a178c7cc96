"""Reader of SMPI's time-independent traces (`routelab.toolkit.workloads.traces`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

import numpy as np

from routelab.api.blocks import ALL
from routelab.api.errors import InputError, PluginError
from routelab.api.number_texts import read_number
from routelab.api.topology import frozen_array
from routelab.api.workload import Collective, CollectiveName, Program, Step
from routelab.toolkit.input_files import read_user_text
from routelab.toolkit.workloads.block_builder import BlockBuilder

_NUMBERS = {
    **dict.fromkeys((2, 6, 8, 9, 16, 17, 21), 1),
    **dict.fromkeys((3, 10, 18), 2),
    **dict.fromkeys((1, 5, 11, 15, 19, 38), 4),
    **dict.fromkeys((0, 4, 7, 12, 13, 20, 24, 25, 28, 40, 48), 8),
    **dict.fromkeys((14, 26, 43), 16),
}
TYPE_SIZES = {str(number): size for number, size in _NUMBERS.items()}
"""Bytes of MPI's types by their number in SimGrid 3.32 (0: MPI_DOUBLE, 1: MPI_INT)."""
DOUBLE, BYTE = "0", "6"
OLD_NAMES = {"sendrecv": "sendRecv"}
"""Names of actions that are not in lower case, by the lower-case name; older versions of SimGrid
write isend as Isend, allreduce as allReduce and so on."""


@dataclass(frozen=True)
class Line:
    """A line of a trace."""

    path: Path
    number: int
    rank: int
    action: str
    arguments: tuple[str, ...]

    def wrong(self, problem: str) -> InputError:
        """Return an error with file and line."""
        return InputError(f"{self.path}:{self.number}: {problem}")

    def integer(self, place: int, what: str, default: int | None = None) -> int:
        """Return an integer argument, 0 or more."""
        if place >= len(self.arguments):
            if default is not None:
                return default
            raise self.wrong(f"{self.action} needs {what}, it has {len(self.arguments)} arguments")
        text = self.arguments[place]
        if text.isascii() and text.isdigit() and len(text) <= 18:
            return int(text)
        try:
            # SimGrid writes large sizes as 1e+06
            number = read_number(text)
        except ValueError:
            number = -1.0
        if not (0 <= number <= 1 << 53 and number.is_integer()):
            raise self.wrong(f"{self.action}: {what} is {text!r}, not a whole number of 0 or more")
        return int(number)


def read_trace(path: Path) -> Program:
    """Read a trace.

    Parameters
    ----------
    path : Path
        A list of files, one per line and rank, resolved against the folder of the list; or one
        file with the actions of all ranks.

    Returns
    -------
    program : Program
        All steps are timed.

    Raises
    ------
    InputError
        If a file cannot be read or its content is wrong or not supported; names file and line.
    """
    streams: dict[int, list[Line]] = {}
    for file in trace_files(path):
        for line in _lines(file):
            streams.setdefault(line.rank, []).append(line)
    if not streams:
        raise InputError(f"{path}: the file has no actions")
    ranks = max(streams) + 1
    silent = [rank for rank in range(ranks) if rank not in streams]
    if silent:
        raise InputError(
            f"{path}: has rank {ranks - 1}, but nothing of rank {silent[0]}; every rank from "
            "0 on needs its init and finalize"
        )
    readers = [_Reader(rank, ranks, streams[rank]) for rank in range(ranks)]
    return Program(
        ranks, tuple(_steps(path, readers)), convention=f"the trace {path.name}: rank by rank"
    )


def trace_files(path: Path) -> list[Path]:
    """Return the files with actions: those that a list names, or the file itself.

    Raises
    ------
    InputError
        If `path` cannot be read or is empty.
    """
    lines = [line.strip() for line in read_user_text(path).splitlines()]
    named = [line for line in lines if line and not line.startswith("#")]
    if not named:
        raise InputError(f"{path}: the file has neither a list of files nor actions")
    words = named[0].split()
    if len(words) > 1 and words[0].isdigit():
        return [path]
    return [path.parent / line for line in named]


def _lines(path: Path) -> Iterator[Line]:
    """Yield the lines of a trace file that are actions."""
    for number, text in enumerate(read_user_text(path).splitlines(), 1):
        words = text.split()
        if not words or words[0].startswith("#"):
            continue
        rank = words[0]
        if not (rank.isascii() and rank.isdigit()) or len(rank) > 6 or len(words) < 2:
            raise InputError(
                f"{path}:{number}: {text.strip()[:40]!r} is not an action; write a rank, an "
                "action and its arguments, as in '0 send 1 0 4096'"
            )
        action = words[1].lower()
        yield Line(path, number, int(rank), OLD_NAMES.get(action, action), tuple(words[2:]))


@dataclass
class _Reader:
    """Reader of the lines of one rank, from one collective to the next."""

    rank: int
    ranks: int
    lines: list[Line]
    place: int = 0
    unit: str = BYTE
    requests: list[tuple[int, int, int]] = field(default_factory=list)
    request_lines: list[Line] = field(default_factory=list)

    def until_collective(self, builder: BlockBuilder) -> Line | None:
        """Add the actions before the next collective; return its line, None at the end."""
        while self.place < len(self.lines):
            line = self.lines[self.place]
            self.place += 1
            if line.action in COLLECTIVES:
                self._check_requests("before a collective")
                return line
            if line.action == "init":
                self.unit = DOUBLE if line.arguments else BYTE
            elif line.action in ACTIONS:
                ACTIONS[line.action](self, line, builder)
            elif line.action != "finalize":
                supported = ", ".join(["init", "finalize", *ACTIONS, *COLLECTIVES])
                raise line.wrong(f"{line.action!r} is not supported; supported are {supported}")
        self._check_requests("at the end")
        return None

    def _check_requests(self, when: str) -> None:
        if self.request_lines:
            line = self.request_lines[0]
            raise line.wrong(f"nothing waits for this {line.action} {when}, which is not supported")

    def peer(self, line: Line, place: int) -> int:
        """Return a rank argument."""
        peer = line.integer(place, "a rank")
        if peer >= self.ranks:
            raise line.wrong(
                f"{line.action}: there is no rank {peer}, the last is {self.ranks - 1}"
            )
        return peer

    def bytes(self, line: Line, place: int, type_at: int) -> int:
        """Return a number of elements times the size of their type."""
        return line.integer(place, "a size") * self.type_size(line, type_at)

    def type_size(self, line: Line, place: int) -> int:
        """Return the bytes of the type that an argument names (default: the trace's type)."""
        text = line.arguments[place] if place < len(line.arguments) else self.unit
        size = TYPE_SIZES.get(text)
        if size is None:
            raise line.wrong(f"{line.action}: the size of the type {text!r} is not known")
        return size

    def compute(self, line: Line, builder: BlockBuilder) -> None:
        try:
            amount = read_number(line.arguments[0])
        except (IndexError, ValueError):
            amount = -1.0
        if not 0 <= amount < np.inf:
            raise line.wrong("compute needs a number of operations, 0 or more")
        builder.compute(self.rank, amount)

    def send(self, line: Line, builder: BlockBuilder) -> None:
        to, tag, size = self.peer(line, 0), line.integer(1, "a tag"), self.bytes(line, 2, 3)
        if line.action == "send":
            builder.send(self.rank, to, size, tag)
        else:
            builder.isend(self.rank, to, size, tag)
            self._add_request(line, (self.rank, to, tag))

    def receive(self, line: Line, builder: BlockBuilder) -> None:
        source, tag, size = self.peer(line, 0), line.integer(1, "a tag"), self.bytes(line, 2, 3)
        if line.action == "recv":
            builder.receive(self.rank, source, size, tag)
        else:
            builder.ireceive(self.rank, source, size, tag)
            self._add_request(line, (source, self.rank, tag))

    def send_receive(self, line: Line, builder: BlockBuilder) -> None:
        self._check_requests("before a sendRecv")
        sent, received = self.bytes(line, 0, 4), self.bytes(line, 2, 5)
        # a trace does not contain the tag of a sendRecv
        builder.send_receive(self.rank, self.peer(line, 1), sent, self.peer(line, 3), received)

    def wait(self, line: Line, builder: BlockBuilder) -> None:
        key = self.peer(line, 0), self.peer(line, 1), line.integer(2, "a tag")
        if key not in self.requests:
            raise line.wrong("nothing to wait for: no isend or irecv with these ranks and this tag")
        place = self.requests.index(key)
        del self.requests[place], self.request_lines[place]
        builder.wait(self.rank, place)

    def wait_all(self, line: Line, builder: BlockBuilder) -> None:
        self.requests.clear()
        self.request_lines.clear()
        builder.wait(self.rank, ALL)

    def _add_request(self, line: Line, key: tuple[int, int, int]) -> None:
        self.requests.append(key)
        self.request_lines.append(line)

    def call(self, line: Line) -> tuple[CollectiveName, int, int, tuple[int, ...]]:
        """Return name, bytes, root and, for alltoallv, this rank's bytes to every rank."""
        name: CollectiveName = COLLECTIVES[line.action]
        if name == "barrier":
            return name, 0, 0, ()
        if name == "alltoallv":
            unit = self.type_size(line, 2 * self.ranks + 2)
            counts = (line.integer(1 + to, "a size for every rank") for to in range(self.ranks))
            return name, 0, 0, tuple(count * unit for count in counts)
        type_at, root_at = {"bcast": (2, 1), "reduce": (3, 2)}.get(name, (2, -1))
        root = line.integer(root_at, "a root", 0) if root_at > 0 else 0
        if root >= self.ranks:
            raise line.wrong(f"{name}: there is no rank {root}, the last is {self.ranks - 1}")
        return name, self.bytes(line, 0, type_at), root, ()


ACTIONS: dict[str, Callable[[_Reader, Line, BlockBuilder], None]] = {
    "compute": _Reader.compute,
    "send": _Reader.send,
    "isend": _Reader.send,
    "recv": _Reader.receive,
    "irecv": _Reader.receive,
    "sendRecv": _Reader.send_receive,
    "wait": _Reader.wait,
    "waitall": _Reader.wait_all,
}
COLLECTIVES: dict[str, CollectiveName] = {name: name for name in get_args(CollectiveName)}


def _steps(path: Path, readers: list[_Reader]) -> Iterator[Step]:
    """Yield the blocks and collectives of all ranks in turn, until every rank's lines end."""
    while True:
        builder = BlockBuilder(len(readers))
        collectives = [reader.until_collective(builder) for reader in readers]
        try:
            block = builder.build()
        except PluginError as error:
            line = collectives[0]
            before = f"before {line.path}:{line.number}" if line else "at the end"
            raise InputError(
                f"{path}: what ranks send and receive between two collectives, {before}, does not "
                f"fit together: {error}"
            ) from None
        if len(block.kind):
            yield block
        lines = [line for line in collectives if line is not None]
        if not lines:
            return
        if len(lines) < len(collectives):
            silent = collectives.index(None)
            raise lines[0].wrong(f"rank {silent} has ended and makes no such call")
        yield _collective(lines, readers)


def _collective(lines: list[Line], readers: list[_Reader]) -> Collective:
    """Return the collective that all ranks call; `lines` has each rank's call."""
    calls = [reader.call(line) for reader, line in zip(readers, lines, strict=True)]
    name, size, root, _ = calls[0]
    for line, call in zip(lines, calls, strict=True):
        if call[:3] != (name, size, root):
            reference = lines[0]
            raise line.wrong(
                f"rank {line.rank} calls {_call_text(call)} where rank 0 calls "
                f"{_call_text(calls[0])} ({reference.path}:{reference.number})"
            )
    matrix = None
    if name == "alltoallv":
        matrix = frozen_array(np.array([call[3] for call in calls]), np.int64)
    return Collective(name, size, root, matrix)


def _call_text(call: tuple[CollectiveName, int, int, tuple[int, ...]]) -> str:
    name, size, root, _ = call
    return f"{name} of {size} bytes" + (f" with root {root}" if name in ("bcast", "reduce") else "")
