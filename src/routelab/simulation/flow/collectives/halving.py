"""Reductions by halving: the common part of Rabenseifner's allreduce and reduce.

Thakur, Rabenseifner and Gropp, *Optimization of Collective Communication Operations in MPICH*,
2005, section 4.5. p' is the largest power of two up to the number of ranks p; p − p' ranks first
send their vector to a neighbour, so that p' ranks take part, with *new ranks* 0 ... p' − 1. Chunks
of the vector that each of 4 new ranks holds:

    new rank       0     1     2     3
    at first       0-3   0-3   0-3   0-3
    mask 1         0-1   2-3   0-1   2-3     0 exchanged with 1, and 2 with 3
    mask 2         0     2     1     3       0 exchanged with 2, and 1 with 3
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from routelab.api.topology import Int64Array
from routelab.simulation.flow.collectives.group import Group, powers_of_two


@dataclass(eq=False)
class Halves:
    """Ranks that take part, and the chunks of the vector that each of them holds.

    The vector is divided into p' chunks of whole bytes; the last one has the remainder. Methods add
    messages to the group, and update `low` and `high` to the chunks after them.

    Attributes
    ----------
    group : Group
    positions : int64 array, shape (p',)
        Position in the group, by new rank.
    low, high : int64 array, shape (p',)
        A rank holds chunks low ... high − 1.
    """

    group: Group
    positions: Int64Array
    low: Int64Array
    high: Int64Array

    @classmethod
    def with_whole_vectors(cls, group: Group, positions: Int64Array) -> Halves:
        """Return the state before the first halving: all ranks hold all chunks."""
        count = len(positions)
        return cls(group, positions, np.zeros(count, np.int64), np.full(count, count))

    def bytes_of_chunks(self, low: Int64Array, high: Int64Array) -> Int64Array:
        """Return the bytes of chunks low ... high − 1."""
        num_chunks = len(self.positions)
        chunk_start = np.arange(num_chunks + 1) * (self.group.bytes // num_chunks)
        chunk_start[-1] = self.group.bytes
        return chunk_start[high] - chunk_start[low]

    def reduce_scatter(self) -> None:
        """Halve recursively: exchange halves with the partner, so that each keeps one of them."""
        new_rank = np.arange(len(self.positions))
        for mask in powers_of_two(len(self.positions)):
            middle = (self.low + self.high) // 2
            keeps_upper = (new_rank & mask) > 0
            low = np.where(keeps_upper, middle, self.low)
            high = np.where(keeps_upper, self.high, middle)
            kept_bytes = self.bytes_of_chunks(low, high)
            # A rank sends the half that its partner keeps, and receives the half that it keeps.
            partner = new_rank ^ mask
            to = self.positions[partner]
            self.group.exchange(
                at=self.positions, to=to, sent=kept_bytes[partner], source=to, received=kept_bytes
            )
            self.low, self.high = low, high

    def allgather(self) -> None:
        """Double recursively: exchange all present chunks, in the reverse order of the halvings."""
        new_rank = np.arange(len(self.positions))
        for mask in reversed(list(powers_of_two(len(self.positions)))):
            partner = new_rank ^ mask
            to, sent = self.positions[partner], self.bytes_of_chunks(self.low, self.high)
            self.group.exchange(
                at=self.positions, to=to, sent=sent, source=to, received=sent[partner]
            )
            # the chunks of two partners follow each other, so both now hold one larger interval
            self.low, self.high = (
                np.minimum(self.low, self.low[partner]),
                np.maximum(self.high, self.high[partner]),
            )

    def gather(self, root: int) -> None:
        """Gather in the reverse order of the halvings, towards the new rank `root` only."""
        new_rank = np.arange(len(self.positions))
        for mask in reversed(list(powers_of_two(len(self.positions)))):
            # Ranks that differ from the root in a larger mask have already sent all their chunks.
            larger_masks = ~(2 * mask - 1)  # for mask 4 all bits but 1, 2 and 4
            remaining = new_rank[(new_rank & larger_masks) == (root & larger_masks)]
            sender = remaining[(remaining & mask) != (root & mask)]
            target = sender ^ mask
            self.group.message(
                self.positions[sender],
                self.positions[target],
                self.bytes_of_chunks(self.low[sender], self.high[sender]),
            )
            self.low[target] = np.minimum(self.low[target], self.low[sender])
            self.high[target] = np.maximum(self.high[target], self.high[sender])
