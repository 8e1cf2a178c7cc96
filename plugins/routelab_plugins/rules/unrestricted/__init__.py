"""No restriction: every walk is legal.

For selections whose routes a layers plugin makes free of deadlock, and for bounds that no rule
may limit.
"""

from __future__ import annotations

import numpy as np

from routelab.api import Capabilities, RoutingGraph, RulesPlugin, Topology


class Unrestricted(RulesPlugin):
    """One state a switch."""

    name = "unrestricted"
    summary = "Every walk is legal; needs layers to be free of deadlock"
    capabilities = Capabilities(virtual_channels=None)

    def routing_graph(self, topology: Topology) -> RoutingGraph:
        """The network itself as an automaton."""
        switches = np.arange(topology.num_switches)
        return RoutingGraph.create(
            topology,
            vertex_switch=switches,
            accepting=np.ones(topology.num_switches, dtype=np.bool_),
            begin=switches,
            edge_source=topology.channel_source,
            edge_target=topology.channel_target,
            edge_channel=np.arange(topology.num_channels),
            turn_set="unrestricted",
        )
