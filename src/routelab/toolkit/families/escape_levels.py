"""Levels and up*/down* distances of any connected network, for escape subnetworks.

SurePath (Camarero and others, *Achieving High-Performance Fault-Tolerant Routing in HyperX
Interconnection Networks*, arXiv 2404.04315) escapes by up*/down* routes. This is our reading of
published descriptions, not of the full text.

Levels are distances from a root. An up*/down* route goes up, then down, by links between
neighbouring levels. A link inside a level is a *shortcut* where it lessens the up*/down* distance.
One shortcut never follows another. So the escapes depend on each other in one order only, in every
connected network: up to level n, across level n, up to level n - 1, and so on; then down.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from routelab.api.parameters import Parameters, parameter
from routelab.api.topology import Int32Array, Topology
from routelab.toolkit.families.graph_hops import switch_distances, too_large


class EscapeTurnParameters(Parameters):
    """What a packet does if its best channel has no room.

    Name it first of two base classes: then its parameters come after those of the other one.
    """

    blocked: Literal["wait", "skip"] = parameter(
        "wait",
        description="Packets whose best channel is full wait, unless an escape has room (wait), "
        "or take the next best channel that has room, escapes last (skip)",
    )
    escape_wait: int = parameter(
        4,
        ge=0,
        le=1000,
        description="Time that packets wait for the best channel before they may escape (with "
        "blocked=wait), in times that a packet takes to cross a channel, at most 500 cycles",
    )

    @property
    def choice(self) -> dict[str, Any]:
        """Fields of a `HopProgram` for these parameters."""
        if self.blocked == "skip":
            return {"ranking": "room"}
        return {"ranking": "best-or-escape", "again": True, "escape_wait": self.escape_wait}


def no_escape(topology: Topology) -> str | None:
    """Return why a network has no escape subnetwork; None if it has one."""
    if reason := too_large(topology):
        return reason
    neighbours = np.unique((topology.channel_source, topology.channel_target), axis=1)
    opposite = np.unique(neighbours[::-1], axis=1)
    if not np.array_equal(neighbours, opposite):
        return "needs links in both directions; some channels have no opposite channel"
    if switch_distances(topology).min() < 0:
        return "some pairs of switches have no path"
    return None


def escape_levels(topology: Topology, distance: Int32Array) -> tuple[Int32Array, Int32Array]:
    """Return the level of each switch, and the up*/down* distances, for escapes.

    The root is the first switch with the least sum of distances to all others. Up is towards the
    root, so to a lower level.

    Parameters
    ----------
    topology : Topology
        One for which `no_escape` returns None.
    distance : int32 array, shape (S, S)
        By (target, source); of `routelab.toolkit.families.graph_hops.switch_distances`.

    Returns
    -------
    level : int32 array, shape (S,)
        Distance from the root.
    up_down : int32 array, shape (S, S)
        By (target, source): hops of the shortest route that goes up, then down, by links between
        neighbouring levels.
    """
    level = distance[distance.sum(axis=1).argmin()]
    count = topology.num_switches
    source, target = topology.channel_source, topology.channel_target
    # 1. Targets that each switch reaches by going down only, by (switch, target). From the lowest
    #    level to the root, those of a switch are itself and those of its children.
    below = np.eye(count, dtype=np.bool_)
    for switch in np.argsort(-level, kind="stable"):
        children = target[(source == switch) & (level[target] == level[switch] + 1)]
        below[switch] |= below[children].any(axis=0)
    # 2. Hops of those routes, infinite for other targets. Half of the largest int32, so that adding
    #    a hop below does not overflow.
    infinite = np.iinfo(np.int32).max // 2
    up_down = np.where(below, level - level[:, None], infinite)
    # 3. Routes that first go up. From the root to the lowest level, the parents' routes are known.
    for switch in np.argsort(level, kind="stable"):
        parents = target[(source == switch) & (level[target] == level[switch] - 1)]
        if len(parents):
            np.minimum(up_down[switch], up_down[parents].min(axis=0) + 1, out=up_down[switch])
    return level, np.ascontiguousarray(up_down.T.astype(np.int32))
