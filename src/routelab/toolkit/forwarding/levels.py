"""Levels of switches in fat trees and similar networks, and trees that go up, then down."""

from __future__ import annotations

import numpy as np

from routelab.api import Topology
from routelab.api.topology import Int32Array
from routelab.kernels.forwarding.levels import leveled_trees
from routelab.toolkit.forwarding.fabric import fabric_of


def switch_levels(topology: Topology) -> Int32Array | None:
    """Return the level of each switch: hops to the nearest one with terminals; int32, shape (S,).

    None if some link does not join neighbouring levels, or has a channel in one direction only.
    """
    level = np.full(topology.num_switches, -1, np.int32)
    level[topology.endpoints] = 0
    source, target = topology.channel_source, topology.channel_target
    for height in range(topology.num_switches):
        parents = source[(level[target] == height) & (level[source] < 0)]
        if not len(parents):
            break
        level[parents] = height + 1
    # A link without a channel in one direction has −1 there.
    if np.any(np.abs(level[source] - level[target]) != 1) or np.any(topology.links < 0):
        return None
    return level


def trees_by_levels(topology: Topology, level: Int32Array) -> Int32Array:
    """Return the trees of `routelab.kernels.forwarding.levels.leveled_trees`; shape (T, S)."""
    opposite = np.empty(topology.num_channels, np.int32)
    one_way, other_way = topology.links.T
    opposite[one_way], opposite[other_way] = other_way, one_way
    trees: Int32Array = leveled_trees(fabric_of(topology), level, opposite)
    return trees
