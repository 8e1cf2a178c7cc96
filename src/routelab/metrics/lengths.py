"""Lengths and turns of routes.

Means are over ordered pairs of different terminals with a route; two terminals of one
switch are 0 hops apart. Several paths of a pair count by their weight; maxima are over all
paths that some pair uses.
"""

from __future__ import annotations

import numpy as np

from routelab.api import RouteTable
from routelab.api.topology import Float64Array, Int64Array
from routelab.kernels.routes import demand_mean, path_turns


def max_hops(table: RouteTable) -> int:
    """Return the hops of the longest path; the network's diameter if all paths are minimal."""
    return int(table.path_length.max(initial=0))


def mean_hops(table: RouteTable) -> float | None:
    """Average the hops of routes; None if no two terminals have a route."""
    return _mean_over_pairs(table, table.path_length)


def turns(table: RouteTable) -> Float64Array | None:
    """Count the changes of direction on every path.

    Returns
    -------
    turns : float64 array, shape (K,), or None
        None for a network without direction labels, where turns are undefined.
    """
    topology = table.topology
    if not topology.directions:
        return None
    counts: Float64Array = path_turns(
        table.path_start, table.hop_channel, topology.channel_direction
    ).astype(np.float64)
    return counts


def max_turns(table: RouteTable) -> int | None:
    """Return the largest number of turns of a path; None without direction labels."""
    counts = turns(table)
    return None if counts is None else int(counts.max(initial=0))


def mean_turns(table: RouteTable) -> float | None:
    """Average the turns of routes; None without direction labels or routes."""
    counts = turns(table)
    return None if counts is None else _mean_over_pairs(table, counts)


def _mean_over_pairs(table: RouteTable, values: Float64Array | Int64Array) -> float | None:
    """Average a value of each path over the terminal pairs that use it; None without pairs."""
    # float64 and read-only, as path weights are: another type of array would compile the kernel
    # once more
    path_values = values.astype(np.float64)
    path_values.flags.writeable = False
    mean, num_pairs = demand_mean(table.pair_start, table.path_weight, path_values, table.ends)
    return float(mean) if num_pairs else None
