"""Programs as blocks of operations and the order in which engines run them.

A collective becomes a block of messages, a loop becomes repeated numbers on a tape.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from types import MappingProxyType

import numpy as np

from routelab.api.blocks import ISEND, SEND, Block
from routelab.api.errors import UnsupportedError
from routelab.api.topology import Float64Array, Int32Array, Int64Array, frozen_array
from routelab.api.workload import Collective, Loop, Program, Step
from routelab.simulation.flow.collectives import collective_block


@dataclass(frozen=True, eq=False)
class Schedule:
    """Blocks, and the order in which every rank runs them.

    A block's end is not a barrier: each rank continues with the next one on the tape.

    Attributes
    ----------
    ranks : int
    blocks : tuple of Block
        Different and not empty.
    names : tuple of str
        Description of each block.
    tape : int32 array, shape (L,)
        Numbers of blocks, in order.
    timed : tuple of two int
        ``tape[timed[0]:timed[1]]`` is the timed part.
    round_start : int64 array, shape (rounds + 1,)
        Places on the tape where the simulated rounds of the outermost timed loop begin, and where
        the last one ends; rounds are equal.
    total_rounds : int
        Number of rounds of the program; engines extrapolate those that are not simulated.
    operations : float
        Operations of the whole timed part as the benchmark counts them; 0 if it has no count.
    """

    ranks: int
    blocks: tuple[Block, ...]
    names: tuple[str, ...]
    tape: Int32Array
    timed: tuple[int, int]
    round_start: Int64Array
    total_rounds: int
    operations: float = 0.0

    @property
    def rounds(self) -> int:
        """Number of simulated rounds of the outermost timed loop."""
        return len(self.round_start) - 1

    def repeats(self) -> Int64Array:
        """Return the repetitions of each block in the whole program, with rounds that were cut.

        Returns
        -------
        int64 array, shape (B,)
        """
        counts = np.bincount(self.tape, minlength=len(self.blocks)).astype(np.int64)
        if self.rounds:
            round_tape = self.tape[self.round_start[0] : self.round_start[1]]
            left_out = self.total_rounds - self.rounds
            counts += left_out * np.bincount(round_tape, minlength=len(self.blocks))
        return counts

    def bytes_between(self) -> Float64Array:
        """Return the bytes between ranks in the whole program, including collectives.

        Returns
        -------
        float64 array, shape (ranks, ranks)
        """
        total = np.zeros((self.ranks, self.ranks))
        for block, times in zip(self.blocks, self.repeats().tolist(), strict=True):
            sends = (block.kind == SEND) | (block.kind == ISEND)
            pairs = block.rank_of()[sends], block.peer[sends]
            np.add.at(total, pairs, times * block.amount[sends])
        return total


MAX_TAPE = 1 << 28
"""Largest number of places on a tape: 1 GiB."""


def schedule(
    program: Program,
    choice: Mapping[str, str] = MappingProxyType({}),
    iterations: int | None = None,
) -> Schedule:
    """Convert collectives to blocks, and loops to a tape.

    Parameters
    ----------
    program : Program
    choice : mapping of str to str
        Algorithm by collective (`routelab.simulation.flow.collectives.parse_choice`).
    iterations : int, optional
        Largest number of simulated rounds of the outermost loop of the timed part. Of several
        consecutive loops, this is the one with the most operations.

    Raises
    ------
    InputError, UnsupportedError
        If the choice contains an unknown or unsuitable algorithm, or the tape would be too long.
    """
    # 1. Steps as blocks, which are numbered in the order of the program.
    blocks = _Blocks(program.ranks, choice)
    before = [_tape((step,), blocks) for step in program.before]
    parts = [_Part.of(step, blocks) for step in _without_single_rounds(program.timed)]
    outermost = max(
        (part for part in parts if part.is_loop), key=lambda part: part.operations, default=None
    )
    # 2. The tape. Rounds are left out of one loop only, from which engines extrapolate.
    pieces, loop_begin, rounds = list(before), 0, 0
    timed_begin = sum(map(len, pieces))
    for part in parts:
        times = part.times
        if part is outermost:
            if iterations is not None:
                times = min(times, iterations)
            rounds, loop_begin = times, sum(map(len, pieces))
        pieces.append(_repeat(part.round, times))
    timed_end = sum(map(len, pieces))
    pieces += [_tape((step,), blocks) for step in program.after]
    round_length = len(outermost.round) if outermost else 0
    return Schedule(
        ranks=program.ranks,
        blocks=tuple(blocks.distinct),
        names=tuple(blocks.names),
        tape=frozen_array(np.concatenate([_EMPTY, *pieces]), np.int32),
        timed=(timed_begin, timed_end),
        round_start=frozen_array(loop_begin + round_length * np.arange(rounds + 1), np.int64),
        total_rounds=outermost.times if outermost else 0,
        operations=program.operations,
    )


_EMPTY = np.zeros(0, dtype=np.int32)


@dataclass(frozen=True, eq=False)
class _Part:
    """A step of the timed part; for a loop, one round and their number."""

    round: Int32Array
    times: int
    is_loop: bool
    operations: int

    @classmethod
    def of(cls, step: Step, blocks: _Blocks) -> _Part:
        """Return the part of one step, with its number of operations in all rounds."""
        steps, times = (step.steps, step.times) if isinstance(step, Loop) else ((step,), 1)
        tape = _tape(steps, blocks)
        numbers, counts = np.unique(tape, return_counts=True)
        work = sum(
            count * len(blocks.distinct[number].kind)
            for number, count in zip(numbers.tolist(), counts.tolist(), strict=True)
        )
        is_loop = isinstance(step, Loop) and len(tape) > 0 and times > 0
        return cls(tape, times, is_loop, work * times)


def _without_single_rounds(steps: Iterable[Step]) -> Iterator[Step]:
    """Replace loops of one round by their steps, so that a loop inside can be the outermost."""
    for step in steps:
        if isinstance(step, Loop) and step.times == 1:
            yield from _without_single_rounds(step.steps)
        else:
            yield step


def _tape(steps: Iterable[Step], blocks: _Blocks) -> Int32Array:
    """Return the blocks of some steps in order, each round of a loop repeated; int32."""
    pieces = [_EMPTY]
    for step in steps:
        if isinstance(step, Loop):
            pieces.append(_repeat(_tape(step.steps, blocks), step.times))
        else:
            number = blocks.number(step)
            pieces.append(_EMPTY if number is None else np.array([number], dtype=np.int32))
    return np.concatenate(pieces)


def _repeat(tape: Int32Array, times: int) -> Int32Array:
    if len(tape) * times > MAX_TAPE:
        raise UnsupportedError(
            f"a loop of {times} rounds with {len(tape)} blocks each is too long to be simulated; "
            "simulate fewer rounds of the outermost one (iterations)"
        )
    return np.tile(tape, times)


class _Blocks:
    """The different blocks that are not empty."""

    def __init__(self, ranks: int, choice: Mapping[str, str]) -> None:
        self._ranks, self._choice = ranks, choice
        self._number_of_step: dict[int, int | None] = {}
        self._number_of_key: dict[tuple[object, ...], int | None] = {}
        self._number_of_content: dict[bytes, int] = {}
        self.distinct: list[Block] = []
        self.names: list[str] = []

    def number(self, step: Block | Collective) -> int | None:
        """Return the number of a step's block; None if it is empty."""
        # the program keeps its steps, so that their identities stay unique
        if id(step) not in self._number_of_step:
            if isinstance(step, Block):
                block_number = self._add(step, f"messages {len(self.distinct)}")
            else:
                block_number = self._number_of_call(step)
            self._number_of_step[id(step)] = block_number
        return self._number_of_step[id(step)]

    def _number_of_call(self, call: Collective) -> int | None:
        """Return the number of a collective's block, made once for equal calls; None if empty."""
        matrix = None if call.matrix is None else call.matrix.tobytes()
        groups = tuple(group.tobytes() for group in call.groups)
        key = call.name, call.bytes, call.root, call.algorithm, matrix, groups
        if key not in self._number_of_key:
            block = collective_block(call, self._ranks, self._choice)
            size = f" of {call.bytes} bytes" if call.bytes else ""
            self._number_of_key[key] = self._add(block, f"{call.name}{size}")
        return self._number_of_key[key]

    def _add(self, block: Block, name: str) -> int | None:
        """Return the number of a block, that of an equal one if there is one; None if empty."""
        if not len(block.kind):
            return None
        content = blake2b()
        for array in (block.start, block.kind, block.peer, block.amount, block.tag):
            content.update(array.tobytes())
        number = self._number_of_content.setdefault(content.digest(), len(self.distinct))
        if number == len(self.distinct):
            self.distinct.append(block)
            self.names.append(name)
        return number
