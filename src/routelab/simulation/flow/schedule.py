"""Programs as blocks of operations and the order in which engines run them.

A collective becomes a block of messages, a loop becomes repeated block numbers on a *tape*, which
is the order in which every rank runs the blocks. Two rounds of "exchange, barrier" are the blocks
0 (exchange) and 1 (barrier), and the tape 0 1 0 1.
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
        No two are equal, and none is empty.
    names : tuple of str
        Description of each block.
    tape : int32 array, shape (L,)
        Numbers of blocks, in order.
    timed : tuple of two int
        ``tape[timed[0]:timed[1]]`` is the timed part.
    round_start : int64 array, shape (rounds + 1,)
        Indices on the tape where the simulated rounds of the outermost timed loop begin, and where
        the last one ends; all rounds run the same blocks.
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
        """Return how often each block runs in the whole program, rounds not simulated included.

        Returns
        -------
        int64 array, shape (B,)
        """
        counts = np.bincount(self.tape, minlength=len(self.blocks)).astype(np.int64)
        # All rounds run the same blocks, so the first one represents those that are not simulated.
        if self.rounds:
            round_tape = self.tape[self.round_start[0] : self.round_start[1]]
            missing_rounds = self.total_rounds - self.rounds
            counts += missing_rounds * np.bincount(round_tape, minlength=len(self.blocks))
        return counts

    def bytes_between(self) -> Float64Array:
        """Return the bytes between ranks in the whole program, including collectives.

        Returns
        -------
        float64 array, shape (ranks, ranks)
        """
        total = np.zeros((self.ranks, self.ranks))
        for block, num_runs in zip(self.blocks, self.repeats().tolist(), strict=True):
            is_send = (block.kind == SEND) | (block.kind == ISEND)
            pairs = block.rank_of()[is_send], block.peer[is_send]
            # unlike +=, it adds all messages of a pair that occurs several times
            np.add.at(total, pairs, num_runs * block.amount[is_send])
        return total


MAX_TAPE = 1 << 28
"""Largest number of blocks of a loop on a tape: 1 GiB of int32 numbers."""


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
    # 1. Steps as block numbers. `_tape` and `_TimedStep.create` add new blocks to `blocks`.
    blocks = _DistinctBlocks(program.ranks, choice)
    pieces = [_tape((step,), blocks) for step in program.before]
    timed_steps = [
        _TimedStep.create(step, blocks) for step in _without_single_rounds(program.timed)
    ]
    outermost = max(
        (step for step in timed_steps if step.is_loop),
        key=lambda step: step.num_operations,
        default=None,
    )
    # 2. The tape. Rounds are left out of one loop only, from which engines extrapolate. Without a
    #    timed loop, there are 0 rounds.
    loop_begin, simulated_rounds = 0, 0
    timed_begin = sum(map(len, pieces))
    for step in timed_steps:
        num_rounds = step.num_rounds
        if step is outermost:
            if iterations is not None:
                num_rounds = min(num_rounds, iterations)
            simulated_rounds, loop_begin = num_rounds, sum(map(len, pieces))
        pieces.append(_repeat(step.round_tape, num_rounds))
    timed_end = sum(map(len, pieces))
    pieces += [_tape((step,), blocks) for step in program.after]
    round_length = len(outermost.round_tape) if outermost else 0
    round_start = loop_begin + round_length * np.arange(simulated_rounds + 1)
    return Schedule(
        ranks=program.ranks,
        blocks=tuple(blocks.distinct),
        names=tuple(blocks.names),
        tape=frozen_array(np.concatenate([_EMPTY, *pieces]), np.int32),
        timed=(timed_begin, timed_end),
        round_start=frozen_array(round_start, np.int64),
        total_rounds=outermost.num_rounds if outermost else 0,
        operations=program.operations,
    )


_EMPTY = np.zeros(0, dtype=np.int32)


@dataclass(frozen=True, eq=False)
class _TimedStep:
    """A step of the timed part (`Program.timed`); a step that is not a loop counts as one round.

    Attributes
    ----------
    round_tape : int32 array
        Block numbers of one round, in order.
    num_rounds : int
    is_loop : bool
        Whether the step is a loop in which at least one block runs.
    num_operations : int
        Operations of all ranks in all rounds.
    """

    round_tape: Int32Array
    num_rounds: int
    is_loop: bool
    num_operations: int

    @classmethod
    def create(cls, step: Step, blocks: _DistinctBlocks) -> _TimedStep:
        """Convert a step of a program; add its blocks to `blocks`."""
        steps, num_rounds = (step.steps, step.times) if isinstance(step, Loop) else ((step,), 1)
        round_tape = _tape(steps, blocks)
        block_numbers, num_runs = np.unique(round_tape, return_counts=True)
        # a block has one entry of `kind` for each operation of all ranks
        round_operations = sum(
            runs * len(blocks.distinct[number].kind)
            for number, runs in zip(block_numbers.tolist(), num_runs.tolist(), strict=True)
        )
        is_loop = isinstance(step, Loop) and len(round_tape) > 0 and num_rounds > 0
        return cls(round_tape, num_rounds, is_loop, num_operations=round_operations * num_rounds)


def _without_single_rounds(steps: Iterable[Step]) -> Iterator[Step]:
    """Yield the steps, with loops of one round replaced by what they repeat.

    A loop inside such a loop can then be the outermost one, of which rounds are left out.
    """
    for step in steps:
        if isinstance(step, Loop) and step.times == 1:
            yield from _without_single_rounds(step.steps)
        else:
            yield step


def _tape(steps: Iterable[Step], blocks: _DistinctBlocks) -> Int32Array:
    """Return the block numbers of some steps in order, each round of a loop repeated.

    Blocks that are not in `blocks` yet are added to it.
    """
    pieces = [_EMPTY]
    for step in steps:
        if isinstance(step, Loop):
            pieces.append(_repeat(_tape(step.steps, blocks), step.times))
        else:
            number = blocks.add_step(step)
            if number is not None:
                pieces.append(np.array([number], dtype=np.int32))
    return np.concatenate(pieces)


def _repeat(tape: Int32Array, times: int) -> Int32Array:
    """Return a tape several times in a row; refuse one longer than `MAX_TAPE`."""
    if len(tape) * times > MAX_TAPE:
        raise UnsupportedError(
            f"a loop of {times} rounds with {len(tape)} blocks each is too long to be simulated; "
            "simulate fewer rounds of the outermost one (iterations)"
        )
    return np.tile(tape, times)


class _DistinctBlocks:
    """The blocks of a program without repetitions and empty ones, numbered from 0.

    Parameters
    ----------
    ranks : int
    choice : mapping of str to str
        Algorithm by collective.

    Attributes
    ----------
    distinct : list of Block
        By number.
    names : list of str
        Description of each block.
    """

    def __init__(self, ranks: int, choice: Mapping[str, str]) -> None:
        self._ranks, self._choice = ranks, choice
        # Three ways to find the number of a block that is in the list (None: an empty block, which
        # is not). By the `id` of its step, so that its content need not be compared:
        self._number_of_step: dict[int, int | None] = {}
        # by the arguments of a collective call, so that its messages are made only once:
        self._number_of_call: dict[tuple[object, ...], int | None] = {}
        # and by a hash of the content:
        self._number_of_content: dict[bytes, int] = {}
        self.distinct: list[Block] = []
        self.names: list[str] = []

    def add_step(self, step: Block | Collective) -> int | None:
        """Add the block of a step, unless an equal one exists.

        Return its number; None if it is empty.
        """
        # No other step can get the same id, because the program keeps its steps alive.
        if id(step) not in self._number_of_step:
            if isinstance(step, Block):
                block_number = self._add_block(step, f"messages {len(self.distinct)}")
            else:
                block_number = self._add_call(step)
            self._number_of_step[id(step)] = block_number
        return self._number_of_step[id(step)]

    def _add_call(self, call: Collective) -> int | None:
        """Add the block of a collective call, unless an equal call has been added.

        Return its number; None if it is empty.
        """
        matrix = None if call.matrix is None else call.matrix.tobytes()
        groups = tuple(group.tobytes() for group in call.groups)
        key = call.name, call.bytes, call.root, call.algorithm, matrix, groups
        if key not in self._number_of_call:
            block = collective_block(call, self._ranks, self._choice)
            size = f" of {call.bytes} bytes" if call.bytes else ""
            self._number_of_call[key] = self._add_block(block, f"{call.name}{size}")
        return self._number_of_call[key]

    def _add_block(self, block: Block, name: str) -> int | None:
        """Add a block, unless an equal one exists. Return its number; None if it is empty."""
        if not len(block.kind):
            return None
        content = blake2b()
        for array in (block.start, block.kind, block.peer, block.amount, block.tag):
            content.update(array.tobytes())
        next_number = len(self.distinct)
        number = self._number_of_content.setdefault(content.digest(), next_number)
        is_new = number == next_number
        if is_new:
            self.distinct.append(block)
            self.names.append(name)
        return number
