"""Ways of messages between ranks, from a route table and a placement of the ranks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from routelab.api import InputError, RouteTable, Topology
from routelab.api.topology import Float64Array, Int32Array, Int64Array, frozen_array


@dataclass(frozen=True, eq=False)
class PairPaths:
    """Ways of some ordered pairs of terminals.

    Attributes
    ----------
    start : int64 array, shape (pairs + 1,)
        Ways ``start[p]:start[p + 1]`` are those of pair p: the paths of the two terminals in the
        route table; one if both are the same terminal.
    source, target : int32 array, shape (W,)
        Terminals of each way.
    upto : float64 array, shape (W,)
        Cumulative share of the pair's messages on its ways up to and including each.
    hop_start : int64 array, shape (W + 1,)
    hop_channel : int32 array, shape (H,)
    """

    start: Int64Array
    source: Int32Array
    target: Int32Array
    upto: Float64Array
    hop_start: Int64Array
    hop_channel: Int32Array


@dataclass(frozen=True, eq=False)
class Paths:
    """Routes of ranks with a placement on terminals.

    Attributes
    ----------
    table : RouteTable
    terminal : int32 array, shape (ranks,)
        Terminal of each rank; several ranks may share one.
    """

    table: RouteTable
    terminal: Int32Array

    @classmethod
    def create(cls, table: RouteTable, terminal: ArrayLike) -> Paths:
        """Return the routes of a placement."""
        return cls(table, frozen_array(terminal, np.int32))

    @property
    def topology(self) -> Topology:
        """The network."""
        return self.table.topology

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return len(self.terminal)

    def between(self, source: ArrayLike, target: ArrayLike) -> PairPaths:
        """Return the ways of ordered pairs of terminals.

        Raises
        ------
        InputError
            If the table has no route for one of them.
        """
        sources, targets = np.asarray(source, np.int64), np.asarray(target, np.int64)
        table = self.table
        pair = table.pair_between(sources, targets)
        counts = np.where(sources == targets, 1, np.diff(table.pair_start)[pair])
        if (counts == 0).any():
            self._refuse(sources[counts == 0], targets[counts == 0])
        start = np.concatenate(([0], np.cumsum(counts)))
        of_pair = np.repeat(np.arange(len(pair)), counts)
        path = table.pair_start[pair[of_pair]] + np.arange(start[-1]) - start[of_pair]
        inside = (sources == targets)[of_pair]
        path[inside] = 0
        lengths = np.where(inside, 0, table.path_length[path]) if len(path) else path
        hop_start = np.concatenate(([0], np.cumsum(lengths)))
        of_way = np.repeat(np.arange(len(path)), lengths)
        hops = table.path_start[path[of_way]] + np.arange(hop_start[-1]) - hop_start[of_way]
        weights = np.where(inside, 1.0, table.path_weight[path]) if len(path) else np.zeros(0)
        total = np.concatenate(([0.0], np.cumsum(weights)))
        return PairPaths(
            start=frozen_array(start, np.int64),
            source=frozen_array(sources[of_pair], np.int32),
            target=frozen_array(targets[of_pair], np.int32),
            upto=frozen_array(total[1:] - total[start[of_pair]], np.float64),
            hop_start=frozen_array(hop_start, np.int64),
            hop_channel=frozen_array(table.hop_channel[hops], np.int32),
        )

    def _refuse(self, sources: Int64Array, targets: Int64Array) -> None:
        pair = int(self.table.pair_between(sources[:1], targets[:1])[0])
        more = f", nor for {len(sources) - 1} other pairs of terminals" if len(sources) > 1 else ""
        raise InputError(
            f"paths: the routes have none from {self.table.describe_pair(pair)}{more}; "
            "place the ranks elsewhere, or use a routing that reaches all"
        )
