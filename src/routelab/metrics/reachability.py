"""Numbers of pairs that a table or a network joins."""

from __future__ import annotations

import numpy as np

from routelab.api import RouteTable, Topology
from routelab.api.topology import Int32Array
from routelab.kernels.distances import connected_demand
from routelab.kernels.routes import demand_mean


def pairs(topology: Topology) -> int:
    """Count the ordered pairs of different terminals."""
    return topology.num_terminals * (topology.num_terminals - 1)


def reachable_pairs(table: RouteTable) -> int:
    """Count the ordered pairs of different terminals that have a path."""
    weights = table.path_weight
    return int(demand_mean(table.pair_start, weights, weights, table.ends)[1])


def connected_pairs(table: RouteTable) -> tuple[int, int]:
    """Count the ordered pairs of different terminals that the network could join.

    Returns
    -------
    connected : int
        Pairs with some path between them, legal or not.
    shortest : int
        Pairs all of whose routes are as short as the network (without failed parts) allows.
    """
    topology = table.topology
    start, channel = topology.outgoing
    connected, shortest = connected_demand(
        start,
        channel,
        topology.channel_target,
        table.ends,
        (table.pair_start, table.path_start),
    )
    return int(connected), int(shortest)


def connected_parts(topology: Topology) -> list[Int32Array]:
    """List the switches of each connected part, ascending; the largest part first.

    Channels count in both directions: no channel joins switches of different parts.

    Returns
    -------
    parts : list of int32 arrays
    """
    if not topology.num_switches:
        return []
    source, target = topology.channel_source, topology.channel_target
    label = np.arange(topology.num_switches, dtype=np.int32)
    while True:
        low = np.minimum(label[source], label[target])
        lower = label.copy()
        # the switches of the labels, too, so that whole parts are joined in one step
        for ends in (source, target, label[source], label[target]):
            np.minimum.at(lower, ends, low)
        lower = lower[lower]
        if np.array_equal(lower, label):
            break
        label = lower
    members = np.argsort(label, kind="stable").astype(np.int32)
    starts = np.flatnonzero(np.diff(label[members], prepend=-1))
    return sorted(np.split(members, starts[1:]), key=len, reverse=True)
