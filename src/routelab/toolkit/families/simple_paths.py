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
        """Place of the first hop of each path; int64, shape (K + 1,)."""
        return adopt_array(_sums(self.lengths), np.int64)

    @property
    def pair_without_path(self) -> tuple[int, int] | None:
        """Switches of the first pair without a path; None if every pair has one."""
        empty = np.flatnonzero(np.diff(self.pair_start) == 0)
        return None if not empty.size else self._switches(int(empty[0]))

    @property
    def longest(self) -> tuple[int, int, int]:
        """Largest number of hops of a path, and the switches at both ends of one."""
        if not len(self.lengths):
            return 0, 0, 0
        path = int(self.lengths.argmax())
        pair = int(np.searchsorted(self.pair_start, path, side="right")) - 1
        return int(self.lengths[path]), *self._switches(pair)

    def _switches(self, pair: int) -> tuple[int, int]:
        ends = self.topology.endpoints
        source, target = divmod(pair, len(ends))
        return int(ends[source]), int(ends[target])


def too_many_paths(topology: Topology, k: int) -> str | None:
    """Return why a network has too many pairs for k paths each; None if it has not."""
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
    ends, bare = topology.endpoints, np.empty(0, np.int32)
    sizes = np.empty((2, len(ends) ** 2), np.int32)
    shortest_paths(arcs, ends, k, np.uint64(seed), sizes, np.empty((2, 0), np.int64), bare, bare)
    starts = np.stack([_sums(row) for row in sizes])
    lengths, hops = (np.empty(total, np.int32) for total in starts[:, -1])
    shortest_paths(arcs, ends, k, np.uint64(seed), sizes, starts, lengths, hops)
    return ShortPaths(
        topology,
        adopt_array(starts[0].copy(), np.int64),
        adopt_array(lengths, np.int32),
        adopt_array(hops, np.int32),
    )


def _sums(counts: Int32Array) -> Int64Array:
    sums = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=sums[1:])
    return sums
