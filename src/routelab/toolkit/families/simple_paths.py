"""The k shortest simple paths between switches, for routings on any network."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from routelab.api.parameters import Parameters, parameter
from routelab.api.topology import Int32Array, Int64Array, Topology, adopt_array
from routelab.kernels.simple_paths import Arcs, shortest_paths

MOST_PATHS = 20_000_000
"""Largest number of paths that a network may need, about 400 MB."""


class ShortPathsParameters(Parameters):
    """How many paths a pair has, and which."""

    k: int = parameter(8, ge=1, le=1024, description="Largest number of paths of a pair")
    seed: int = parameter(
        0,
        ge=0,
        lt=1 << 63,
        description="Seed of the draw among paths of the last length, where there are too many",
    )


@dataclass(frozen=True, eq=False)
class ShortPaths:
    """The k shortest simple paths of all ordered pairs of endpoints; arrays are read-only.

    Pair ``i * P + j`` goes from endpoint i to endpoint j.

    Attributes
    ----------
    topology : Topology
    pair_start : int64 array, shape (P * P + 1,)
        Paths ``pair_start[p]:pair_start[p + 1]`` belong to pair p, from short to long. A pair
        without a path has none; an endpoint has one path without hops to itself.
    lengths : int32 array, shape (K,)
        Hops of each path.
    hops : int32 array
        Channels, path after path.
    """

    topology: Topology
    pair_start: Int64Array
    lengths: Int32Array
    hops: Int32Array

    @property
    def hop_start(self) -> Int64Array:
        """Index in `hops` of the first hop of each path, and the end; int64, shape (K + 1,)."""
        return adopt_array(_starts(self.lengths), np.int64)

    @property
    def pair_without_path(self) -> tuple[int, int] | None:
        """Switches of the first pair without a path; None if every pair has one."""
        empty = np.flatnonzero(np.diff(self.pair_start) == 0)
        return None if not empty.size else self._switches(int(empty[0]))

    @property
    def longest(self) -> tuple[int, int, int]:
        """Hops of the longest path, its first and its last switch."""
        if not len(self.lengths):
            return 0, 0, 0
        path = int(self.lengths.argmax())
        # the last pair whose paths begin at this path or before
        pair = int(np.searchsorted(self.pair_start, path, side="right")) - 1
        return int(self.lengths[path]), *self._switches(pair)

    def _switches(self, pair: int) -> tuple[int, int]:
        """Return the source and the target of a pair."""
        ends = self.topology.endpoints
        source, target = divmod(pair, len(ends))
        return int(ends[source]), int(ends[target])


def too_many_paths(topology: Topology, k: int) -> str | None:
    """Return why k paths for each pair of the network are too many; None if they are not."""
    count = len(topology.endpoints)
    if count**2 * k <= MOST_PATHS:
        return None
    largest = MOST_PATHS // count**2
    fix = f"lower k to {largest}" if largest else "choose a routing that decides hop by hop"
    return (
        f"{count} switches with terminals and {k} paths for each pair: at most "
        f"{MOST_PATHS:,} paths are supported; {fix}"
    )


@lru_cache(maxsize=1)
def shortest_simple_paths(topology: Topology, k: int, seed: int) -> ShortPaths:
    """Return the k shortest simple paths of all pairs of switches with terminals.

    A simple path visits no switch twice. Parallel channels make different paths. If there are more
    paths of the last length than are needed, a set of them is drawn, every set with the same
    probability and independently for each pair.

    Parameters
    ----------
    topology : Topology
    k : int
        At least 1. Pairs with fewer simple paths get all of them.
    seed : int
    """
    arcs = Arcs(
        *topology.outgoing, topology.channel_target, *topology.incoming, topology.channel_source
    )
    # `sizes` has the number of paths of each pair (row 0), and their hops together (row 1). A first
    # call, with empty arrays for the paths, only counts; so those of the second have the right
    # size.
    ends = topology.endpoints
    sizes = np.empty((2, len(ends) ** 2), np.int32)
    no_starts, no_paths = np.empty((2, 0), np.int64), np.empty(0, np.int32)
    shortest_paths(arcs, ends, k, np.uint64(seed), sizes, no_starts, no_paths, no_paths)
    starts = np.stack([_starts(row) for row in sizes])
    num_paths, num_hops = starts[:, -1]
    lengths, hops = np.empty(num_paths, np.int32), np.empty(num_hops, np.int32)
    shortest_paths(arcs, ends, k, np.uint64(seed), sizes, starts, lengths, hops)
    return ShortPaths(
        topology,
        pair_start=adopt_array(starts[0].copy(), np.int64),
        lengths=adopt_array(lengths, np.int32),
        hops=adopt_array(hops, np.int32),
    )


def _starts(sizes: Int32Array) -> Int64Array:
    """Return where parts of these sizes begin, and the end of the last: [0, 3, 5] for [3, 2]."""
    starts = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts
