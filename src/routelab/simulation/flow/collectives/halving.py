"""Reductions by halving: what Rabenseifner's allreduce and reduce have in common.

Thakur, Rabenseifner and Gropp, 2005, section 4.5. Ranks beyond the largest power of two p' hand
what they have to a neighbour first, so that p' ranks take part, each with a place of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from routelab.api.topology import Int64Array
from routelab.simulation.flow.collectives.group import Group, halvings


@dataclass(eq=False)
class Halves:
    """The ranks that take part, and which chunks of the vector each of them holds.

    The vector is cut into p' chunks of whole bytes; the last one has what is left over.

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
        """All hold everything."""
        return cls(group, at, np.zeros(len(at), np.int64), np.full(len(at), len(at)))

    def bytes(self, low: Int64Array, high: Int64Array) -> Int64Array:
        """Bytes of chunks."""
        places = len(self.at)
        edges = np.arange(places + 1) * (self.group.bytes // places)
        edges[-1] = self.group.bytes
        return edges[high] - edges[low]

    def scatter(self) -> None:
        """Recursive halving: the partner gets its half, and sends ours."""
        place = np.arange(len(self.at))
        for mask in halvings(len(self.at)):
            middle = (self.low + self.high) // 2
            upper = (place & mask) > 0
            low, high = np.where(upper, middle, self.low), np.where(upper, self.high, middle)
            other = place ^ mask
            self.group.exchange(
                self.at,
                self.at[other],
                self.bytes(low[other], high[other]),
                self.at[other],
                self.bytes(low, high),
            )
            self.low, self.high = low, high

    def allgather(self) -> None:
        """Recursive doubling, the halvings backwards."""
        place = np.arange(len(self.at))
        for mask in reversed(list(halvings(len(self.at)))):
            other = place ^ mask
            sent = self.bytes(self.low, self.high)
            self.group.exchange(self.at, self.at[other], sent, self.at[other], sent[other])
            self.low, self.high = (
                np.minimum(self.low, self.low[other]),
                np.maximum(self.high, self.high[other]),
            )

    def gather(self, root: int) -> None:
        """The halvings backwards, towards the place `root` only."""
        place = np.arange(len(self.at))
        for mask in reversed(list(halvings(len(self.at)))):
            # places that are left agree with the root in all bits above the mask
            left = place[(place & ~(2 * mask - 1)) == (root & ~(2 * mask - 1))]
            sender = left[(left & mask) != (root & mask)]
            target = sender ^ mask
            self.group.message(
                self.at[sender], self.at[target], self.bytes(self.low[sender], self.high[sender])
            )
            self.low[target] = np.minimum(self.low[target], self.low[sender])
            self.high[target] = np.maximum(self.high[target], self.high[sender])
