"""Reductions by halving: the common part of Rabenseifner's allreduce and reduce.

Thakur, Rabenseifner and Gropp, 2005, section 4.5. Ranks beyond the largest power of two p' first
send their vector to a neighbour, so that p' ranks take part, each with a different place.
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
    at : int64 array, shape (p',)
        Position of each place.
    low, high : int64 array, shape (p',)
        A place holds chunks low ... high − 1.
    """

    group: Group
    at: Int64Array
    low: Int64Array
    high: Int64Array

    @classmethod
    def of(cls, group: Group, at: Int64Array) -> Halves:
        """Return halves in which all ranks hold all chunks."""
        return cls(group, at, np.zeros(len(at), np.int64), np.full(len(at), len(at)))

    def bytes(self, low: Int64Array, high: Int64Array) -> Int64Array:
        """Return the bytes of ranges of chunks."""
        places = len(self.at)
        edges = np.arange(places + 1) * (self.group.bytes // places)
        edges[-1] = self.group.bytes
        return edges[high] - edges[low]

    def scatter(self) -> None:
        """Halve recursively: send the partner its half, and receive ours."""
        place = np.arange(len(self.at))
        for mask in halvings(len(self.at)):
            middle = (self.low + self.high) // 2
            upper = (place & mask) > 0
            low, high = np.where(upper, middle, self.low), np.where(upper, self.high, middle)
            partner = place ^ mask
            self.group.exchange(
                self.at,
                self.at[partner],
                self.bytes(low[partner], high[partner]),
                self.at[partner],
                self.bytes(low, high),
            )
            self.low, self.high = low, high

    def allgather(self) -> None:
        """Double recursively, in the reverse order of the halvings."""
        place = np.arange(len(self.at))
        for mask in reversed(list(halvings(len(self.at)))):
            partner = place ^ mask
            sent = self.bytes(self.low, self.high)
            self.group.exchange(self.at, self.at[partner], sent, self.at[partner], sent[partner])
            self.low, self.high = (
                np.minimum(self.low, self.low[partner]),
                np.maximum(self.high, self.high[partner]),
            )

    def gather(self, root: int) -> None:
        """Gather in the reverse order of the halvings, towards the place `root` only."""
        place = np.arange(len(self.at))
        for mask in reversed(list(halvings(len(self.at)))):
            # the remaining places agree with the root in all bits above the mask
            remaining = place[(place & ~(2 * mask - 1)) == (root & ~(2 * mask - 1))]
            sender = remaining[(remaining & mask) != (root & mask)]
            target = sender ^ mask
            self.group.message(
                self.at[sender], self.at[target], self.bytes(self.low[sender], self.high[sender])
            )
            self.low[target] = np.minimum(self.low[target], self.low[sender])
            self.high[target] = np.maximum(self.high[target], self.high[sender])
