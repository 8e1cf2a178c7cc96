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
    """Return a graph of walks to lower switches, then to higher; some pairs have no route."""
    count = topology.num_switches
    switches, channels = np.arange(count), np.arange(topology.num_channels)
    source, target = topology.channel_source, topology.channel_target
    down = target < source
    return RoutingGraph.create(
        topology,
        vertex_switch=np.concatenate((switches, switches)),
        accepting=np.ones(2 * count, dtype=np.bool_),
        begin=switches,
        edge_source=np.concatenate((source, source[~down] + count)),
        edge_target=np.concatenate((np.where(down, target, target + count), target[~down] + count)),
        edge_channel=np.concatenate((channels, channels[~down])),
    )


def even_walks(topology: Topology) -> RoutingGraph:
    """Return a graph of routes with an even number of hops; half of its states do not accept."""
    count = topology.num_switches
    switches, channels = np.arange(count), np.arange(topology.num_channels)
    source, target = topology.channel_source, topology.channel_target
    return RoutingGraph.create(
        topology,
        vertex_switch=np.concatenate((switches, switches)),
        accepting=np.arange(2 * count) < count,
        begin=switches,
        edge_source=np.concatenate((source, source + count)),
        edge_target=np.concatenate((target + count, target)),
        edge_channel=np.concatenate((channels, channels)),
    )


GRAPHS: Mapping[str, Callable[[Topology], RoutingGraph]] = {
    "walks": all_walks,
    "shortest": shortest_walks,
    "ordered": down_up_walks,
    "even": even_walks,
}
"""Rules by name."""
