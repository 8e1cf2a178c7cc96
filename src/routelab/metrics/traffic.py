"""Loads under given traffic: every pair of terminals counts by the amount that it sends."""

from __future__ import annotations

import numpy as np

from routelab.api import RouteTable, Topology
from routelab.api.topology import Float64Array, Int64Array
from routelab.kernels import routes
from routelab.kernels.distances import hop_distances
from routelab.metrics.capacity import total_capacity


def traffic_loads(table: RouteTable, matrix: Float64Array) -> Float64Array:
    """Sum the traffic over each channel.

    Parameters
    ----------
    table : RouteTable
    matrix : float64 array, shape (T, T)
        ``matrix[i, j]``: amount from terminal i to terminal j, in any unit. Several paths of a
        pair carry their shares of it; a pair without a route sends nothing.

    Returns
    -------
    loads : float64 array, shape (C,)
        In the unit of `matrix`, and absolute: capacities have no effect.
    """
    pair_amount = _sum_by_pair(
        table.topology, matrix, table.terminal_destination, table.num_destinations
    )
    loads: Float64Array = routes.weighted_loads(
        table.pair_start,
        table.path_start,
        table.path_weight,
        table.hop_channel,
        pair_amount,
        table.topology.num_channels,
    )
    return loads


def perfect_traffic_load(topology: Topology, matrix: Float64Array) -> float:
    """Find the relative load of every channel if the shortest routes were perfectly balanced.

    Routes are the shortest of the bare network, whatever the rules; unreachable pairs do not count.
    No routes have a smaller maximum of relative loads, because none have fewer hops.

    Parameters
    ----------
    matrix : float64 array, shape (T, T)
        ``matrix[i, j]``: amount from terminal i to terminal j, in any unit.

    Returns
    -------
    load : float
        In the unit of `matrix`; 0 for a network without channels.
    """
    pair_amount = _sum_by_pair(
        topology, matrix, topology.terminal_endpoint, len(topology.endpoints)
    )
    start, channel = topology.outgoing
    distance = np.empty(topology.num_switches, np.int32)
    queue = np.empty_like(distance)  # scratch of the search
    total_hops = 0.0  # amount × hops, of all pairs
    for i, source in enumerate(topology.endpoints):
        if pair_amount[i].any():
            # fills `distance`; −1 for switches out of reach, whose pairs do not count
            hop_distances(start, channel, topology.channel_target, source, distance, queue)
            total_hops += float(pair_amount[i] @ np.maximum(distance[topology.endpoints], 0))
    return total_hops / float(total_capacity(topology) or 1)


def _sum_by_pair(
    topology: Topology, matrix: Float64Array, destination: Int64Array, num_destinations: int
) -> Float64Array:
    """Sum traffic between terminals over those with the same endpoint and the same destination.

    `destination` is the index of the routes' destination for each terminal; int64, shape (T,).
    Returns float64, shape (P, D): a row for each endpoint, a column for each destination.
    """
    pair_amount = np.zeros((len(topology.endpoints), num_destinations))
    np.add.at(pair_amount, (topology.terminal_endpoint[:, None], destination[None, :]), matrix)
    return pair_amount
