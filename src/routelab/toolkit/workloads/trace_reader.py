"""Reader of SMPI's time-independent traces (`routelab.toolkit.workloads.traces`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, get_args

import numpy as np
from typing_extensions import override

from routelab.api.blocks import ALL
from routelab.api.errors import InputError, PluginError
from routelab.api.number_texts import read_number
from routelab.api.topology import frozen_array
from routelab.api.workload import Collective, CollectiveName, Program, Step
from routelab.toolkit.input_files import read_user_text
from routelab.toolkit.workloads.block_builder import BlockBuilder

_SIZE_OF_TYPE = {
    **dict.fromkeys((2, 6, 8, 9, 16, 17, 21), 1),
    **dict.fromkeys((3, 10, 18), 2),
    **dict.fromkeys((1, 5, 11, 15, 19, 38), 4),
    **dict.fromkeys((0, 4, 7, 12, 13, 20, 24, 25, 28, 40, 48), 8),
    **dict.fromkeys((14, 26, 43), 16),
}
TYPE_SIZES = {str(number): size for number, size in _SIZE_OF_TYPE.items()}
"""Bytes of MPI's types by their number in SimGrid 3.32 (0: MPI_DOUBLE, 1: MPI_INT)."""
DOUBLE, BYTE = "0", "6"
MAX_EXACT_FLOAT = 1 << 53
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

    def error(self, problem: str) -> InputError:
        """Return an error with file and line."""
        return InputError(f"{self.path}:{self.number}: {problem}")

    def integer(self, position: int, what: str, default: int | None = None) -> int:
        """Return the integer argument at a position, 0 or more.

        Parameters
        ----------
        position : int
        what : str
            What the argument is, for messages.
        default : int, optional
            Value if the line is shorter (default: this is an error).
        """
        if position >= len(self.arguments):
            if default is not None:
                return default
            raise self.error(f"{self.action} needs {what}, it has {len(self.arguments)} arguments")
        text = self.arguments[position]
        # programs hold sizes as int64, which any 18 digits fit into
        if text.isascii() and text.isdigit() and len(text) <= 18:
            return int(text)
        # SimGrid writes large sizes as 1e+06. A float is exact up to 2^53, so a larger one might
        # not be the number that was meant.
        try:
            number = read_number(text)
        except ValueError:
            number = -1.0
        if not (0 <= number <= MAX_EXACT_FLOAT and number.is_integer()):
            raise self.error(f"{self.action}: {what} is {text!r}, not a whole number of 0 or more")
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


class Call(NamedTuple):
    """A rank's call of a collective.

    Attributes
    ----------
    name : CollectiveName
    bytes : int
    root : int
        0 if the collective has none.
    bytes_to_rank : tuple of int
        Only for alltoallv.
    """

    name: CollectiveName
    bytes: int = 0
    root: int = 0
    bytes_to_rank: tuple[int, ...] = ()

    @override
    def __str__(self) -> str:
        root = f" with root {self.root}" if self.name in ("bcast", "reduce") else ""
        return f"{self.name} of {self.bytes} bytes{root}"


@dataclass
class _Reader:
    """Reader of the lines of one rank, from one collective to the next.

    Attributes
    ----------
    rank, ranks : int
        The rank, and the number of all.
    lines : list of Line
    next_line : int
        Position of the line to read next.
    default_type : str
        Type of data where an action names none, by MPI's number.
    requests : list of (int, int, int)
        Sender, receiver and tag of each isend and irecv that nothing has waited for yet.
    request_lines : list of Line
        The line of each of them.
    """

    rank: int
    ranks: int
    lines: list[Line]
    next_line: int = 0
    default_type: str = BYTE
    requests: list[tuple[int, int, int]] = field(default_factory=list)
    request_lines: list[Line] = field(default_factory=list)

    def read_to_collective(self, builder: BlockBuilder) -> Line | None:
        """Add the actions before the next collective; return its line, None at the end."""
        while self.next_line < len(self.lines):
            line = self.lines[self.next_line]
            self.next_line += 1
            if line.action in COLLECTIVES:
                self._require_no_requests("before a collective")
                return line
            if line.action == "init":
                self.default_type = DOUBLE if line.arguments else BYTE
            elif line.action in ACTIONS:
                ACTIONS[line.action](self, line, builder)
            elif line.action != "finalize":
                supported = ", ".join(["init", "finalize", *ACTIONS, *COLLECTIVES])
                raise line.error(f"{line.action!r} is not supported; supported are {supported}")
        self._require_no_requests("at the end")
        return None

    def _require_no_requests(self, when: str) -> None:
        if self.request_lines:
            line = self.request_lines[0]
            raise line.error(f"nothing waits for this {line.action} {when}, which is not supported")

    def peer(self, line: Line, position: int) -> int:
        """Return a rank argument."""
        peer = line.integer(position, "a rank")
        if peer >= self.ranks:
            raise line.error(
                f"{line.action}: there is no rank {peer}, the last is {self.ranks - 1}"
            )
        return peer

    def bytes(self, line: Line, position: int, type_position: int) -> int:
        """Return a number of elements times the size of their type."""
        return line.integer(position, "a size") * self.type_size(line, type_position)

    def type_size(self, line: Line, position: int) -> int:
        """Return the bytes of the type that an argument names (default: the trace's type)."""
        has_type = position < len(line.arguments)
        text = line.arguments[position] if has_type else self.default_type
        size = TYPE_SIZES.get(text)
        if size is None:
            raise line.error(f"{line.action}: the size of the type {text!r} is not known")
        return size

    def compute(self, line: Line, builder: BlockBuilder) -> None:
        try:
            amount = read_number(line.arguments[0])
        except (IndexError, ValueError):
            amount = -1.0
        if not 0 <= amount < np.inf:
            raise line.error("compute needs a number of operations, 0 or more")
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
        self._require_no_requests("before a sendRecv")
        sent, received = self.bytes(line, 0, 4), self.bytes(line, 2, 5)
        # a trace does not contain the tag of a sendRecv
        builder.send_receive(self.rank, self.peer(line, 1), sent, self.peer(line, 3), received)

    def wait(self, line: Line, builder: BlockBuilder) -> None:
        key = self.peer(line, 0), self.peer(line, 1), line.integer(2, "a tag")
        if key not in self.requests:
            raise line.error("nothing to wait for: no isend or irecv with these ranks and this tag")
        # a block numbers the requests that are open
        request = self.requests.index(key)
        del self.requests[request], self.request_lines[request]
        builder.wait(self.rank, request)

    def wait_all(self, line: Line, builder: BlockBuilder) -> None:
        self.requests.clear()
        self.request_lines.clear()
        builder.wait(self.rank, ALL)

    def _add_request(self, line: Line, key: tuple[int, int, int]) -> None:
        self.requests.append(key)
        self.request_lines.append(line)

    def call(self, line: Line) -> Call:
        """Return this rank's call of a collective."""
        name: CollectiveName = COLLECTIVES[line.action]
        if name == "barrier":
            return Call(name)
        if name == "alltoallv":
            size = self.type_size(line, 2 * self.ranks + 2)
            counts = (line.integer(1 + to, "a size for every rank") for to in range(self.ranks))
            return Call(name, bytes_to_rank=tuple(count * size for count in counts))
        # only these have a root
        type_position, root_position = {"bcast": (2, 1), "reduce": (3, 2)}.get(name, (2, -1))
        root = line.integer(root_position, "a root", 0) if root_position > 0 else 0
        if root >= self.ranks:
            raise line.error(f"{name}: there is no rank {root}, the last is {self.ranks - 1}")
        return Call(name, self.bytes(line, 0, type_position), root)


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
        collectives = [reader.read_to_collective(builder) for reader in readers]
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
            raise lines[0].error(f"rank {silent} has ended and makes no such call")
        yield _collective(lines, readers)


def _collective(lines: list[Line], readers: list[_Reader]) -> Collective:
    """Return the collective that all ranks call; `lines` has each rank's call."""
    calls = [reader.call(line) for reader, line in zip(readers, lines, strict=True)]
    first = calls[0]
    for line, call in zip(lines, calls, strict=True):
        # only the bytes of alltoallv may differ from rank to rank
        if call._replace(bytes_to_rank=first.bytes_to_rank) != first:
            raise line.error(
                f"rank {line.rank} calls {call} where rank 0 calls {first} "
                f"({lines[0].path}:{lines[0].number})"
            )
    matrix = None
    if first.name == "alltoallv":
        matrix = frozen_array(np.array([call.bytes_to_rank for call in calls]), np.int64)
    return Collective(first.name, first.bytes, first.root, matrix)
