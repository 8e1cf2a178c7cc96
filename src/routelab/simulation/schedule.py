"""A program as an engine works through it: blocks of operations, and the order in which they come.

A collective becomes a block of messages, a loop becomes repeated numbers on a tape.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from routelab.api.topology import Int32Array, Int64Array
from routelab.api.workload import Block


@dataclass(frozen=True, eq=False)
class Schedule:
    """Blocks, and the order in which every rank works through them.

    A block's end is no barrier: each rank goes on to the next one on the tape by itself.

    Attributes
    ----------
    ranks : int
    blocks : tuple of Block
        Without two that are equal, and without empty ones.
    names : tuple of str
        What each block is, for people.
    tape : int32 array, shape (L,)
        Numbers of blocks, in order.
    timed : tuple of two int
        ``tape[timed[0]:timed[1]]`` is what benchmarks time.
    round_start : int64 array, shape (rounds + 1,)
        Places on the tape where the simulated rounds of the outermost timed loop begin, and where
        the last one ends; rounds are equal.
    rounds_of : int
        How many rounds the program has; more than are simulated if it was cut. What the others
        would take is to be extrapolated.
    operations : float
        Of the whole timed part, in the benchmark's own count; 0 if it has none.
    """

    ranks: int
    blocks: tuple[Block, ...]
    names: tuple[str, ...]
    tape: Int32Array
    timed: tuple[int, int]
    round_start: Int64Array
    rounds_of: int
    operations: float = 0.0

    @property
    def rounds(self) -> int:
        """How many rounds of the outermost timed loop are simulated."""
        return len(self.round_start) - 1

    def repeats(self) -> Int64Array:
        """How many times each block is done in the whole program, rounds that were cut included.

        Returns
        -------
        int64 array, shape (B,)
        """
        counts = np.bincount(self.tape, minlength=len(self.blocks)).astype(np.int64)
        if self.rounds:
            one = self.tape[self.round_start[0] : self.round_start[1]]
            left_out = self.rounds_of - self.rounds
            counts += left_out * np.bincount(one, minlength=len(self.blocks))
        return counts
