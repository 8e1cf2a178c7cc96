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
    """A line of a trace that is an action of a rank.

    Attributes
    ----------
    path, number
        The file, and the number of the line in it, from 1.
    rank : int
    action : str
        Name of the action as SimGrid 3.32 writes it, also if the file has an older name.
    arguments : tuple of str
        Words after the action.
    """

    path: Path
    number: int
    rank: int
    action: str
    arguments: tuple[str, ...]

    def error(self, problem: str) -> InputError:
        """Return an error with file and line."""
        return InputError(f"{self.path}:{self.number}: {problem}")

    def integer(self, position: int, description: str, default: int | None = None) -> int:
        """Return the argument at a position (0 is the one after the action), an integer ≥ 0.

        Parameters
        ----------
        position : int
        description : str
            What the argument is, for error messages: "a rank".
        default : int, optional
            Value if the line is shorter (default: this is an error).
        """
        if position >= len(self.arguments):
            if default is not None:
                return default
            raise self.error(
                f"{self.action} needs {description}, it has {len(self.arguments)} arguments"
            )
        text = self.arguments[position]
        # programs hold sizes as int64, which any 18 digits fit into
        if text.isascii() and text.isdigit() and len(text) <= 18:
            return int(text)
        # SimGrid writes large sizes as 1e+06. A float is exact up to 2^53, so a larger one might
        # not be the number that was meant.
        try:
            number = read_number(text)
        except ValueError:
            number = -1.0  # refused below, as every negative number
        if not (0 <= number <= MAX_EXACT_FLOAT and number.is_integer()):
            raise self.error(
                f"{self.action}: {description} is {text!r}, not a whole number of 0 or more"
            )
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
    lines_of_rank: dict[int, list[Line]] = {}
    for file in trace_files(path):
        for line in _read_lines(file):
            lines_of_rank.setdefault(line.rank, []).append(line)
    if not lines_of_rank:
        raise InputError(f"{path}: the file has no actions")
    ranks = max(lines_of_rank) + 1
    silent = [rank for rank in range(ranks) if rank not in lines_of_rank]
    if silent:
        raise InputError(
            f"{path}: has rank {ranks - 1}, but nothing of rank {silent[0]}; every rank from "
            "0 on needs its init and finalize"
        )
    readers = [_RankReader(rank, ranks, lines_of_rank[rank]) for rank in range(ranks)]
    return Program(
        ranks, tuple(_read_steps(path, readers)), convention=f"the trace {path.name}: rank by rank"
    )


def trace_files(path: Path) -> list[Path]:
    """Return the files with actions: those that a list names, or the file itself.

    Raises
    ------
    InputError
        If `path` cannot be read or is empty.
    """
    lines = [line.strip() for line in read_user_text(path).splitlines()]
    lines = [line for line in lines if line and not line.startswith("#")]
    if not lines:
        raise InputError(f"{path}: the file has neither a list of files nor actions")
    # the first line decides: an action begins with a rank, as in "0 init"
    first_words = lines[0].split()
    if len(first_words) > 1 and first_words[0].isdigit():
        return [path]
    return [path.parent / name for name in lines]


def _read_lines(path: Path) -> Iterator[Line]:
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
        As in a `Collective`: what the rank sends to each peer, or the whole vector.
    root : int
        0 if the collective has none.
    bytes_to_rank : tuple of int
        What the rank sends to each rank; only for alltoallv.
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
class _RankReader:
    """Reader of the lines of one rank, from one collective to the next.

    All ranks call the same collectives, so these cut the trace into steps. What ranks do between
    two of them is a block, to which every rank's reader adds its operations.

    Attributes
    ----------
    rank, ranks : int
        The rank, and the number of all.
    lines : list of Line
    next_line : int
        Index in `lines` of the line to read next.
    default_type : str
        Type of data where an action names none, by MPI's number.
    requests : list of (int, int, int)
        Sender, receiver and tag of each isend and irecv that nothing has waited for yet, the
        oldest first.
    request_lines : list of Line
        The line that opened each of these requests, for error messages.
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
                # SimGrid: after init with an argument, sizes without a type are in MPI_DOUBLE
                self.default_type = DOUBLE if line.arguments else BYTE
            elif line.action in ACTIONS:
                ACTIONS[line.action](self, line, builder)
            elif line.action != "finalize":
                supported = ", ".join(["init", "finalize", *ACTIONS, *COLLECTIVES])
                raise line.error(f"{line.action!r} is not supported; supported are {supported}")
        self._require_no_requests("at the end")
        return None

    def _require_no_requests(self, when: str) -> None:
        """Refuse open requests here: a block must wait for all requests that it opens."""
        if self.request_lines:
            line = self.request_lines[0]
            raise line.error(f"nothing waits for this {line.action} {when}, which is not supported")

    def read_peer(self, line: Line, position: int) -> int:
        """Return the argument at a position, which must be a rank of the trace."""
        peer = line.integer(position, "a rank")
        if peer >= self.ranks:
            raise line.error(
                f"{line.action}: there is no rank {peer}, the last is {self.ranks - 1}"
            )
        return peer

    def message_bytes(self, line: Line, position: int, *, type_position: int) -> int:
        """Return the number of elements at a position times the bytes of their type."""
        return line.integer(position, "a size") * self.read_type_size(line, type_position)

    def read_type_size(self, line: Line, position: int) -> int:
        """Return the bytes of the type at a position, or of the default type on a shorter line."""
        has_type = position < len(line.arguments)
        text = line.arguments[position] if has_type else self.default_type
        size = TYPE_SIZES.get(text)
        if size is None:
            raise line.error(f"{line.action}: the size of the type {text!r} is not known")
        return size

    def add_compute(self, line: Line, builder: BlockBuilder) -> None:
        """Add ``compute <operations>``."""
        try:
            amount = read_number(line.arguments[0])
        except (IndexError, ValueError):
            amount = -1.0  # refused below, as every negative number
        if not 0 <= amount < np.inf:
            raise line.error("compute needs a number of operations, 0 or more")
        builder.compute(self.rank, amount)

    def add_send(self, line: Line, builder: BlockBuilder) -> None:
        """Add ``send|isend <receiver> <tag> <elements> [<type>]``."""
        to, tag = self.read_peer(line, 0), line.integer(1, "a tag")
        size = self.message_bytes(line, 2, type_position=3)
        if line.action == "send":
            builder.send(self.rank, to, size, tag)
        else:
            builder.isend(self.rank, to, size, tag)
            self._add_request(line, (self.rank, to, tag))

    def add_receive(self, line: Line, builder: BlockBuilder) -> None:
        """Add ``recv|irecv <sender> <tag> <elements> [<type>]``."""
        source, tag = self.read_peer(line, 0), line.integer(1, "a tag")
        size = self.message_bytes(line, 2, type_position=3)
        if line.action == "recv":
            builder.receive(self.rank, source, size, tag)
        else:
            builder.ireceive(self.rank, source, size, tag)
            self._add_request(line, (source, self.rank, tag))

    def add_send_receive(self, line: Line, builder: BlockBuilder) -> None:
        """Add ``sendRecv <sent> <receiver> <received> <sender> [<sent type> <received type>]``."""
        # The builder's operation waits for all open requests, but MPI_Sendrecv only for its own
        # two, so no other request may be open.
        self._require_no_requests("before a sendRecv")
        sent = self.message_bytes(line, 0, type_position=4)
        received = self.message_bytes(line, 2, type_position=5)
        to, source = self.read_peer(line, 1), self.read_peer(line, 3)
        # a trace does not contain the tag of a sendRecv
        builder.send_receive(self.rank, to, sent, source, received)

    def add_wait(self, line: Line, builder: BlockBuilder) -> None:
        """Add ``wait <sender> <receiver> <tag>``."""
        key = self.read_peer(line, 0), self.read_peer(line, 1), line.integer(2, "a tag")
        if key not in self.requests:
            raise line.error("nothing to wait for: no isend or irecv with these ranks and this tag")
        # A block names a request by its index among those that are open. `index` finds the oldest
        # with this key.
        request = self.requests.index(key)
        del self.requests[request], self.request_lines[request]
        builder.wait(self.rank, request)

    def add_wait_all(self, line: Line, builder: BlockBuilder) -> None:
        """Add ``waitall <requests>``; the number is not needed."""
        self.requests.clear()
        self.request_lines.clear()
        builder.wait(self.rank, ALL)

    def _add_request(self, line: Line, key: tuple[int, int, int]) -> None:
        """Add a request that the line opens; `key` is its sender, receiver and tag."""
        self.requests.append(key)
        self.request_lines.append(line)

    def read_call(self, line: Line) -> Call:
        """Return this rank's call of a collective from its line.

        Arguments by position; sizes are numbers of elements::

                                                0     1            2      3
            alltoall, allgather                 sent  received     type
            allreduce                           size  operations   type
            bcast                               size  root         type
            reduce                              size  operations   root   type

        alltoallv of P ranks has at 0 the sum of what the rank sends, at 1 to P the sizes to send,
        at P + 1 the sum of what it receives, then P sizes to receive, and at 2 P + 2 the type.
        """
        name: CollectiveName = COLLECTIVES[line.action]
        if name == "barrier":
            return Call(name)
        if name == "alltoallv":
            element_size = self.read_type_size(line, 2 * self.ranks + 2)
            counts = [line.integer(1 + to, "a size for every rank") for to in range(self.ranks)]
            return Call(name, bytes_to_rank=tuple(count * element_size for count in counts))
        type_position = 3 if name == "reduce" else 2
        root = 0
        if name in ("bcast", "reduce"):
            root_position = 2 if name == "reduce" else 1
            root = line.integer(root_position, "a root", default=0)
        if root >= self.ranks:
            raise line.error(f"{name}: there is no rank {root}, the last is {self.ranks - 1}")
        return Call(name, self.message_bytes(line, 0, type_position=type_position), root)


ACTIONS: dict[str, Callable[[_RankReader, Line, BlockBuilder], None]] = {
    "compute": _RankReader.add_compute,
    "send": _RankReader.add_send,
    "isend": _RankReader.add_send,
    "recv": _RankReader.add_receive,
    "irecv": _RankReader.add_receive,
    "sendRecv": _RankReader.add_send_receive,
    "wait": _RankReader.add_wait,
    "waitall": _RankReader.add_wait_all,
}
"""Method that adds each action to a block."""
COLLECTIVES: dict[str, CollectiveName] = {name: name for name in get_args(CollectiveName)}


def _read_steps(path: Path, readers: list[_RankReader]) -> Iterator[Step]:
    """Yield a block, the collective after it, the next block and so on, until the lines end.

    Empty blocks are left out. `path`, the trace, is for error messages.
    """
    while True:
        # 1. Each rank's operations up to its next collective.
        builder = BlockBuilder(len(readers))
        next_calls = [reader.read_to_collective(builder) for reader in readers]
        try:
            block = builder.build()
        except PluginError as error:
            line = next_calls[0]
            before = f"before {line.path}:{line.number}" if line else "at the end"
            raise InputError(
                f"{path}: what ranks send and receive between two collectives, {before}, does not "
                f"fit together: {error}"
            ) from None
        if len(block.kind):
            yield block
        # 2. The collective. All ranks call it, or all have ended.
        lines = [line for line in next_calls if line is not None]
        if not lines:
            return
        if len(lines) < len(next_calls):
            silent = next_calls.index(None)
            raise lines[0].error(f"rank {silent} has ended and makes no such call")
        yield _merge_calls(lines, readers)


def _merge_calls(lines: list[Line], readers: list[_RankReader]) -> Collective:
    """Return the collective that all ranks call; refuse calls that differ.

    `lines` has the line of each rank's call.
    """
    calls = [reader.read_call(line) for reader, line in zip(readers, lines, strict=True)]
    first = calls[0]
    for line, call in zip(lines, calls, strict=True):
        # Only the sizes of alltoallv may differ from rank to rank, so compare all but these.
        is_same_call = call._replace(bytes_to_rank=first.bytes_to_rank) == first
        if not is_same_call:
            raise line.error(
                f"rank {line.rank} calls {call} where rank 0 calls {first} "
                f"({lines[0].path}:{lines[0].number})"
            )
    matrix = None
    if first.name == "alltoallv":
        matrix = frozen_array(np.array([call.bytes_to_rank for call in calls]), np.int64)
    return Collective(first.name, bytes=first.bytes, root=first.root, matrix=matrix)
