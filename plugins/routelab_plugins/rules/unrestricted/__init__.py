"""No restriction: every walk is legal.

For selections whose routes a layers plugin makes free of deadlock, and for bounds that no rule
may limit.
"""

from __future__ import annotations

from routelab.api import Capabilities, RoutingGraph, RulesPlugin, Topology


class Unrestricted(RulesPlugin):
    """Rules under which packets may leave each switch over every channel."""

    name = "unrestricted"
    summary = "Every walk is legal; needs layers to be free of deadlock"
    capabilities = Capabilities(virtual_channels=None)

    def routing_graph(self, topology: Topology) -> RoutingGraph:
        """Return a graph with a vertex for each switch and an edge for each channel."""
        return RoutingGraph.of_walks(topology, "unrestricted")
