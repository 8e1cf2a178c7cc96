"""Up*/down* routing on any network.

Schroeder et al., *Autonet: A High-Speed, Self-Configuring Local Area Network Using Point-to-Point
Links*, IEEE JSAC 9(8), 1991, doi 10.1109/49.105178. A breadth-first tree orders the switches by
(level, index); a route goes up (towards the root) first and down afterwards, never up again.
Dependencies follow that order, so one virtual channel is enough.
"""

from __future__ import annotations

import numpy as np

from routelab.api import (
    Capabilities,
    Citation,
    InputError,
    Parameters,
    RoutingGraph,
    RulesPlugin,
    Topology,
    parameter,
)
from routelab.api.topology import Int32Array
from routelab.kernels.distances import eccentricities, hop_distances


class UpDownParameters(Parameters):
    """Root of the tree."""

    root: str = parameter(
        "center",
        description="Root of the tree: center (least eccentricity), degree (most channels), or "
        "the name of a switch",
    )


class UpDown(RulesPlugin):
    """Routes that go up first, then down."""

    name = "up-down"
    summary = "Up towards the root of a breadth-first tree, then down (up*/down*)"
    citations = (Citation("schroeder1991", "up*/down* rule"),)
    capabilities = Capabilities(minimal=False, flow_control="plain")
    Parameters = UpDownParameters

    def routing_graph(self, topology: Topology) -> RoutingGraph:
        """Build the automaton of legal routes: two states per switch, before and after going down.

        Every connected part of the network gets a tree; the chosen root serves its own part.
        """
        count = topology.num_switches
        level = self._levels(topology)
        source, target = topology.channel_source, topology.channel_target
        switches = np.arange(count)
        up = (level[target] < level[source]) | (
            (level[target] == level[source]) & (target < source)
        )
        channels = np.arange(topology.num_channels)
        # vertex u: going up, vertex count + u: gone down
        edge_source = np.concatenate((source, source[~up] + count))
        edge_target = np.concatenate((np.where(up, target, target + count), target[~up] + count))
        return RoutingGraph.create(
            topology,
            vertex_switch=np.concatenate((switches, switches)),
            accepting=np.ones(2 * count, dtype=np.bool_),
            begin=switches,
            edge_source=edge_source,
            edge_target=edge_target,
            edge_channel=np.concatenate((channels, channels[~up])),
            turn_set="up-down",
        )

    def _levels(self, topology: Topology) -> Int32Array:
        """Return the hops from the tree's root to every switch; each connected part has a root."""
        root = self._root(topology)
        count = topology.num_switches
        level = np.full(count, -1, dtype=np.int32)
        hops, queue = np.empty(count, dtype=np.int32), np.empty(count, dtype=np.int32)
        for candidate in [root, *range(count)]:
            if level[candidate] < 0:
                hop_distances(*topology.outgoing, topology.channel_target, candidate, hops, queue)
                level = np.where((level < 0) & (hops >= 0), hops, level)
        return level

    def _root(self, topology: Topology) -> int:
        choice: str = self.parameters.root
        if topology.num_switches == 0:
            raise InputError("up-down: the network has no switch")
        if choice == "degree":
            return int(np.argmax(np.diff(topology.outgoing[0])))
        if choice == "center":
            return int(np.argmin(eccentricities(*topology.outgoing, topology.channel_target)))
        if choice not in topology.switch_names:
            raise InputError(
                f"up-down: root={choice} is not a switch of the network; "
                "name one, or use center or degree"
            )
        return topology.switch_names.index(choice)
