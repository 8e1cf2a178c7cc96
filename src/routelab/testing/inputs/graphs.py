"""The kit's own rules, so that selections can be checked where no rules are installed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from routelab.api import RoutingGraph, Topology


def all_walks(topology: Topology) -> RoutingGraph:
    """Every walk is legal: shortest routes are those of the bare network."""
    return RoutingGraph.of_walks(topology)


def shortest_walks(topology: Topology) -> RoutingGraph:
    """Every shortest route is legal, and longer ones are not, though the graph spells them."""
    return replace(all_walks(topology), minimal_only=True)


def down_up_walks(topology: Topology) -> RoutingGraph:
    """To lower switches first and to higher ones afterwards; some pairs have no legal route."""
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
    """Only routes with an even number of hops: half of the states do not accept."""
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
