"""Reductions by halving: the common part of Rabenseifner's allreduce and reduce.

Thakur, Rabenseifner and Gropp, 2005, section 4.5. Ranks beyond the largest power of two p' first
send their vector to a neighbour, so that p' ranks take part, with *new ranks* 0 ... p' − 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from routelab.api.topology import Int64Array
from routelab.simulation.flow.collectives.group import Group, halvings


@dataclass(eq=False)
class Halves:
    """Ranks that take part, and the chunks of the vector that each of them holds.

    The vector is divided into p' chunks of whole bytes; the last one has the remainder.

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
    def of(cls, group: Group, positions: Int64Array) -> Halves:
        """Return halves in which all ranks hold all chunks."""
        count = len(positions)
        return cls(group, positions, np.zeros(count, np.int64), np.full(count, count))

    def bytes(self, low: Int64Array, high: Int64Array) -> Int64Array:
        """Return the bytes of ranges of chunks."""
        ranks = len(self.positions)
        edges = np.arange(ranks + 1) * (self.group.bytes // ranks)
        edges[-1] = self.group.bytes
        return edges[high] - edges[low]

    def scatter(self) -> None:
        """Halve recursively: send the partner its half, and receive ours."""
        new_rank = np.arange(len(self.positions))
        for mask in halvings(len(self.positions)):
            middle = (self.low + self.high) // 2
            upper = (new_rank & mask) > 0
            low, high = np.where(upper, middle, self.low), np.where(upper, self.high, middle)
            partner = new_rank ^ mask
            to, sent = self.positions[partner], self.bytes(low[partner], high[partner])
            self.group.exchange(self.positions, to, sent, to, self.bytes(low, high))
            self.low, self.high = low, high

    def allgather(self) -> None:
        """Double recursively, in the reverse order of the halvings."""
        new_rank = np.arange(len(self.positions))
        for mask in reversed(list(halvings(len(self.positions)))):
            partner = new_rank ^ mask
            to, sent = self.positions[partner], self.bytes(self.low, self.high)
            self.group.exchange(self.positions, to, sent, to, sent[partner])
            self.low, self.high = (
                np.minimum(self.low, self.low[partner]),
                np.maximum(self.high, self.high[partner]),
            )

    def gather(self, root: int) -> None:
        """Gather in the reverse order of the halvings, towards the new rank `root` only."""
        new_rank = np.arange(len(self.positions))
        for mask in reversed(list(halvings(len(self.positions)))):
            # the remaining ranks agree with the root in all bits above the mask
            remaining = new_rank[(new_rank & ~(2 * mask - 1)) == (root & ~(2 * mask - 1))]
            sender = remaining[(remaining & mask) != (root & mask)]
            target = sender ^ mask
            self.group.message(
                self.positions[sender],
                self.positions[target],
                self.bytes(self.low[sender], self.high[sender]),
            )
            self.low[target] = np.minimum(self.low[target], self.low[sender])
            self.high[target] = np.maximum(self.high[target], self.high[sender])
