"""The kit's rules, for checks of selections without installed rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from routelab.api import RoutingGraph, Topology


def all_walks(topology: Topology) -> RoutingGraph:
    """Return a graph in which every walk is legal."""
    return RoutingGraph.of_walks(topology)


def shortest_walks(topology: Topology) -> RoutingGraph:
    """Return a graph in which shortest routes only are legal, though it contains longer ones."""
    return replace(all_walks(topology), minimal_only=True)


def down_up_walks(topology: Topology) -> RoutingGraph:
    """Return a graph of walks that go to lower switch numbers first, then only to higher ones.

    3, 1, 0, 2 is such a walk. Some pairs of switches have no route.

    Of S switches, vertex s is switch s before the first step up, and vertex S + s is switch s after
    it, from where only channels up lead on.
    """
    num_switches = topology.num_switches
    switches, channels = np.arange(num_switches), np.arange(topology.num_channels)
    source, target = topology.channel_source, topology.channel_target
    up = target >= source
    return RoutingGraph.create(
        topology,
        vertex_switch=np.concatenate((switches, switches)),
        accepting=np.ones(2 * num_switches, dtype=np.bool_),
        begin=switches,
        # Before the first step up all channels may follow, and after it only those up.
        edge_source=np.concatenate((source, source[up] + num_switches)),
        edge_target=np.concatenate(
            (np.where(up, target + num_switches, target), target[up] + num_switches)
        ),
        edge_channel=np.concatenate((channels, channels[up])),
    )


def even_walks(topology: Topology) -> RoutingGraph:
    """Return a graph of routes with an even number of hops; half of its states do not accept.

    Of S switches, vertex s is switch s after an even number of hops, vertex S + s after an odd one.
    """
    num_switches = topology.num_switches
    switches, channels = np.arange(num_switches), np.arange(topology.num_channels)
    source, target = topology.channel_source, topology.channel_target
    return RoutingGraph.create(
        topology,
        vertex_switch=np.concatenate((switches, switches)),
        accepting=np.arange(2 * num_switches) < num_switches,
        begin=switches,
        edge_source=np.concatenate((source, source + num_switches)),
        edge_target=np.concatenate((target + num_switches, target)),
        edge_channel=np.concatenate((channels, channels)),
    )


GRAPHS: Mapping[str, Callable[[Topology], RoutingGraph]] = {
    "walks": all_walks,
    "shortest": shortest_walks,
    "ordered": down_up_walks,
    "even": even_walks,
}
"""Rules by name."""
