"""P-SSSP: one lightest shortest tree for every endpoint.

Hoefler, Schneider, Lumsdaine, *Optimized Routing for Large-Scale InfiniBand Networks*, HOTI 2009,
doi 10.1109/HOTI.2009.9. The weights there start at |N|² so that no detour is ever lighter; here
hops are compared before loads, which is the same.
"""

from __future__ import annotations

from typing import Literal

from routelab.api import (
    Capabilities,
    Citation,
    RouteTable,
    RoutingGraph,
    SelectionPlugin,
    parameter,
)
from routelab.kernels.rooted import routes_by_root
from routelab.toolkit import TieParameters, search_arrays


class PSsspParameters(TieParameters):
    """Tie handling, and which end the trees grow from."""

    root: Literal["source", "destination"] = parameter(
        "source",
        description="Trees from sources, or towards destinations; where the rules have one state "
        "a switch the latter gives a destination-based table",
    )


class PSssp(SelectionPlugin):
    """All routes of one endpoint at once, loads updated between endpoints."""

    name = "p-sssp"
    summary = "One lightest shortest tree an endpoint, loads updated in between (P-SSSP)"
    citations = (
        Citation(
            key="hoefler2009",
            title="Optimized Routing for Large-Scale InfiniBand Networks",
            authors="Hoefler, Torsten and Schneider, Timo and Lumsdaine, Andrew",
            year=2009,
            venue="17th IEEE Symposium on High Performance Interconnects, pp. 103-111",
            cited_for="P-SSSP",
            doi="10.1109/HOTI.2009.9",
        ),
    )
    capabilities = Capabilities(minimal=None)
    Parameters = PSsspParameters

    def select(self, graph: RoutingGraph) -> RouteTable:
        """Lightest shortest legal routes from P trees of O(V + E)."""
        search = search_arrays(graph, self.parameters)
        hops = routes_by_root(search, self.parameters.root == "source", False)
        return RouteTable.from_lengths(graph.topology, search.lengths, hops)
