"""Pairs that a table or a network connects, and the network's connected components."""

from __future__ import annotations

import numpy as np

from routelab.api import RouteTable, Topology
from routelab.api.topology import Int32Array
from routelab.kernels.distances import count_connected_pairs
from routelab.kernels.routes import demand_mean


def pairs(topology: Topology) -> int:
    """Count the ordered pairs of different terminals."""
    return topology.num_terminals * (topology.num_terminals - 1)


def reachable_pairs(table: RouteTable) -> int:
    """Count the ordered pairs of different terminals that have a path."""
    weights = table.path_weight
    # only the number of pairs matters, so any values may be averaged: here the weights
    _, num_pairs = demand_mean(table.pair_start, weights, weights, table.ends)
    return int(num_pairs)


def connected_pairs(table: RouteTable) -> tuple[int, int]:
    """Count the ordered pairs of different terminals that the network joins.

    Returns
    -------
    connected : int
        Pairs with some path between them, whether the rules allow it or not.
    minimal : int
        Of these, the pairs whose routes are all as short as the network (without failed parts)
        allows.
    """
    topology = table.topology
    start, channel = topology.outgoing
    connected, minimal = count_connected_pairs(
        start,
        channel,
        topology.channel_target,
        table.ends,
        (table.pair_start, table.path_start),
    )
    return int(connected), int(minimal)


def connected_components(topology: Topology) -> list[Int32Array]:
    """List the switches of each connected component, ascending; the largest component first.

    Channels count in both directions (weakly connected components). Labels are propagated with
    hooking and pointer jumping: Shiloach and Vishkin, *An O(log n) Parallel Connectivity
    Algorithm*, J. Algorithms 3, 1982.

    Returns
    -------
    components : list of int32 arrays
    """
    if not topology.num_switches:
        return []
    source, target = topology.channel_source, topology.channel_target
    # The label of a switch is a switch of its component, its parent in a forest. At the end it is
    # the lowest one, the root.
    label = np.arange(topology.num_switches, dtype=np.int32)
    while True:
        # 1. Hooking: both ends of a channel take the lower of their labels, and so do the parents,
        #    which joins two whole trees in one step.
        lower_label = np.minimum(label[source], label[target])
        new_label = label.copy()
        for switches in (source, target, label[source], label[target]):
            np.minimum.at(new_label, switches, lower_label)
        # 2. Pointer jumping: each switch takes the label of its parent. This halves the depth of
        #    the trees, so a line of n switches needs some log n rounds instead of n.
        new_label = new_label[new_label]
        if np.array_equal(new_label, label):
            break
        label = new_label
    # One component behind the other. Each begins where the label changes, the first at 0, where
    # np.split would leave an empty array.
    members = np.argsort(label, kind="stable").astype(np.int32)
    starts = np.flatnonzero(np.diff(label[members], prepend=-1))
    return sorted(np.split(members, starts[1:]), key=len, reverse=True)
