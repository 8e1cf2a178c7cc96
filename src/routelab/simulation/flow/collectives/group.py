"""Positions in a group and rounds of messages, from which the algorithms are built."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from routelab.api.topology import Int64Array
from routelab.toolkit.workloads.block_builder import BlockBuilder


@dataclass(frozen=True, eq=False)
class Group:
    """One group's call of a collective; algorithms use positions 0 ... size − 1 in the group.

    In a group of the ranks 3, 7 and 5, rank 7 has position 1. All methods that add messages take
    arrays: element k of each argument belongs to the k-th message.

    Attributes
    ----------
    builder : BlockBuilder
        Receives the operations of the group's ranks.
    rank : int64 array, shape (size,)
        Rank at each position.
    bytes : int
        Argument of the call, as in `routelab.api.workload.Collective`.
    root : int
        Position of the root.
    matrix : int64 array, shape (size, size), optional
        Bytes from position to position, for alltoallv.
    """

    builder: BlockBuilder
    rank: Int64Array
    bytes: int
    root: int
    matrix: Int64Array | None

    @property
    def size(self) -> int:
        """Number of ranks."""
        return len(self.rank)

    @property
    def positions(self) -> Int64Array:
        """All positions."""
        return np.arange(self.size)

    @property
    def power_of_two(self) -> int:
        """Largest power of two that is not above the size."""
        return 1 << (self.size.bit_length() - 1)

    def bytes_between(self) -> Int64Array:
        """Return the bytes from position to position: the matrix, or a constant."""
        if self.matrix is not None:
            return self.matrix
        return np.full((self.size, self.size), self.bytes, dtype=np.int64)

    def message(self, source: ArrayLike, target: ArrayLike, bytes_: ArrayLike) -> None:
        """Add blocking messages from positions `source` to positions `target`."""
        source, target = self.rank[np.asarray(source)], self.rank[np.asarray(target)]
        self.builder.send(source, target, bytes_)
        self.builder.receive(target, source, bytes_)

    def exchange(
        self,
        *,
        at: Int64Array,
        to: Int64Array,
        sent: ArrayLike,
        source: Int64Array,
        received: ArrayLike,
    ) -> None:
        """Add an MPI_Sendrecv at each of the positions `at`.

        Position ``at[k]`` sends ``sent[k]`` bytes to position ``to[k]`` and at the same time
        receives ``received[k]`` bytes from position ``source[k]``.
        """
        self.builder.send_receive(self.rank[at], self.rank[to], sent, self.rank[source], received)


Algorithm = Callable[[Group], None]
"""Function that adds the operations of one group to its builder."""


def powers_of_two(limit: int) -> Iterator[int]:
    """Yield the powers of two below `limit`, ascending."""
    mask = 1
    while mask < limit:
        yield mask
        mask *= 2


def is_power_of_two(count: int) -> bool:
    """Return whether `count` is 1, 2, 4, ..."""
    return count & (count - 1) == 0
