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
        In the unit of `matrix`, for any capacities. With 1 for every pair: the channel loads.
    """
    loads: Float64Array = routes.weighted_loads(
        table.pair_start,
        table.path_start,
        table.path_weight,
        table.hop_channel,
        _between(table.topology, matrix, table.terminal_destination, table.num_destinations),
        table.topology.num_channels,
    )
    return loads


def perfect_traffic_load(topology: Topology, matrix: Float64Array) -> float:
    """Find the relative load of every channel if the shortest routes were perfectly balanced.

    Lengths are those of the bare network, for any rules; unreachable pairs do not count. No routes
    have a smaller maximum of relative loads.

    Parameters
    ----------
    matrix : float64 array, shape (T, T)
        As for `traffic_loads`.

    Returns
    -------
    load : float
        In the unit of `matrix`; 0 for a network without channels.
    """
    between = _between(topology, matrix, topology.terminal_endpoint, len(topology.endpoints))
    start, channel = topology.outgoing
    distance = np.empty(topology.num_switches, np.int32)
    queue = np.empty_like(distance)
    total = 0.0
    for i, source in enumerate(topology.endpoints):
        if between[i].any():
            hop_distances(start, channel, topology.channel_target, source, distance, queue)
            total += float(between[i] @ np.maximum(distance[topology.endpoints], 0))
    return total / float(total_capacity(topology) or 1)


def _between(
    topology: Topology, matrix: Float64Array, destination: Int64Array, count: int
) -> Float64Array:
    """Sum the traffic from endpoints to `count` destinations, one per terminal; float64."""
    between = np.zeros((len(topology.endpoints), count))
    np.add.at(between, (topology.terminal_endpoint[:, None], destination[None, :]), matrix)
    return between
