"""P²-SSSP: one lightest shortest route for every pair.

Hoefler, Schneider, Lumsdaine, *Optimized Routing for Large-Scale InfiniBand Networks*, HOTI 2009,
doi 10.1109/HOTI.2009.9. The weights there start at |N|² so that no detour is ever lighter; here
hops are compared before loads, which is the same.
"""

from __future__ import annotations

from typing import Literal

from routelab.api import (
    Capabilities,
    RouteTable,
    RoutingGraph,
    SelectionPlugin,
    parameter,
)
from routelab.kernels.rooted_trees import routes_by_root
from routelab.toolkit import TieParameters, search_arrays
from routelab_plugins import works


class P2SsspParameters(TieParameters):
    """Order of ties, and root of the trees."""

    root: Literal["source", "destination"] = parameter(
        "source",
        description="Trees from sources, or towards destinations; where the rules have one state "
        "a switch the latter gives a destination-based table",
    )


class P2Sssp(SelectionPlugin):
    """Builds one route at a time and updates loads after each."""

    name = "p2-sssp"
    summary = "Lightest shortest route for each pair; loads are updated after each (P²-SSSP)"
    citations = (works.HOEFLER2009("P²-SSSP"),)
    capabilities = Capabilities(minimal=None)
    Parameters = P2SsspParameters

    def select(self, graph: RoutingGraph) -> RouteTable:
        """Build lightest shortest legal routes from P² trees of O(V + E)."""
        search = search_arrays(graph, self.parameters)
        from_source = self.parameters.root == "source"
        hops = routes_by_root(search, from_source=from_source, each_pair=True)
        return RouteTable.from_lengths(graph.topology, search.lengths, hops)
