"""Paths of messages between ranks, from a route table and a placement of the ranks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from routelab.api import InputError, RouteTable, Topology
from routelab.api.topology import Float64Array, Int32Array, Int64Array, frozen_array


@dataclass(frozen=True, eq=False)
class PairPaths:
    """Paths of some ordered pairs of terminals, pair after pair.

    A pair of two terminals has the paths of the route table; a terminal and itself have one path
    without channels.

    Attributes
    ----------
    start : int64 array, shape (pairs + 1,)
        Paths ``start[p]:start[p + 1]`` are those of pair p.
    source, target : int32 array, shape (N,)
        Terminals at which each path begins and ends.
    cumulative_share : float64 array, shape (N,)
        Share of the pair's messages on its paths up to and including this one; for two paths with
        weights 1/4 and 3/4: 0.25, 1.
    hop_start : int64 array, shape (N + 1,)
        ``hop_channel[hop_start[k]:hop_start[k + 1]]`` are the channels of path k.
    hop_channel : int32 array, shape (H,)
        Channel of each hop of all paths, path after path.
    """

    start: Int64Array
    source: Int32Array
    target: Int32Array
    cumulative_share: Float64Array
    hop_start: Int64Array
    hop_channel: Int32Array


@dataclass(frozen=True, eq=False)
class Paths:
    """Routes between ranks that are placed on terminals.

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
        """Return the paths of the ordered pairs of terminals ``source[p]`` to ``target[p]``.

        Raises
        ------
        InputError
            If the table has no route for one of them.
        """
        sources, targets = np.asarray(source, np.int64), np.asarray(target, np.int64)
        table = self.table
        # 1. How many paths each pair has.
        table_pair = table.pair_between(sources, targets)
        num_paths = np.where(sources == targets, 1, np.diff(table.pair_start)[table_pair])
        has_no_route = num_paths == 0
        if has_no_route.any():
            self._raise_missing_routes(sources[has_no_route], targets[has_no_route])
        start = np.concatenate(([0], np.cumsum(num_paths)))
        # 2. Which path of the table each one is: the k-th of a pair is pair_start + k. Paths inside
        #    a terminal have none; 0 stands for it, and its length and weight are not used.
        pair_of_path = np.repeat(np.arange(len(table_pair)), num_paths)
        number_in_pair = np.arange(start[-1]) - start[pair_of_path]
        table_path = table.pair_start[table_pair[pair_of_path]] + number_in_pair
        inside = (sources == targets)[pair_of_path]
        table_path[inside] = 0
        # 3. The channels of each path, in the same way.
        lengths = np.where(inside, 0, table.path_length[table_path]) if len(inside) else table_path
        hop_start = np.concatenate(([0], np.cumsum(lengths)))
        path_of_hop = np.repeat(np.arange(len(inside)), lengths)
        number_in_path = np.arange(hop_start[-1]) - hop_start[path_of_hop]
        table_hop = table.path_start[table_path[path_of_hop]] + number_in_path
        # 4. Cumulative shares: running sum of the weights over all paths, minus the sum up to the
        #    first path of the pair.
        weights = (
            np.where(inside, 1.0, table.path_weight[table_path]) if len(inside) else np.zeros(0)
        )
        running_sum = np.concatenate(([0.0], np.cumsum(weights)))
        sum_before_pair = running_sum[start[pair_of_path]]
        return PairPaths(
            start=frozen_array(start, np.int64),
            source=frozen_array(sources[pair_of_path], np.int32),
            target=frozen_array(targets[pair_of_path], np.int32),
            cumulative_share=frozen_array(running_sum[1:] - sum_before_pair, np.float64),
            hop_start=frozen_array(hop_start, np.int64),
            hop_channel=frozen_array(table.hop_channel[table_hop], np.int32),
        )

    def _raise_missing_routes(self, sources: Int64Array, targets: Int64Array) -> None:
        """Raise the error about pairs of terminals without a route; it names the first one."""
        pair = int(self.table.pair_between(sources[:1], targets[:1])[0])
        more = f", nor for {len(sources) - 1} other pairs of terminals" if len(sources) > 1 else ""
        raise InputError(
            f"paths: the routes have none from {self.table.describe_pair(pair)}{more}; "
            "place the ranks elsewhere, or use a routing that reaches all"
        )
