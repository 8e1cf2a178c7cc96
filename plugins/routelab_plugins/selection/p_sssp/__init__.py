"""P-SSSP: one lightest shortest tree for every endpoint, or for every destination terminal.

Hoefler, Schneider, Lumsdaine, *Optimized Routing for Large-Scale InfiniBand Networks*, HOTI 2009,
doi 10.1109/HOTI.2009.9. The weights there start at |N|² so that no detour is ever lighter; here
hops are compared before loads, which is the same.

InfiniBand forwards by destination terminals (LIDs). With ``routes=terminals`` each of them gets a
separate tree, as in the engines ``sssp`` and ``dfsssp`` of OpenSM. (Domke, Hoefler, Nagel,
*Deadlock-Free Oblivious Routing for Arbitrary Topologies*, IPDPS 2011, doi 10.1109/IPDPS.2011.65.)
With ``routes=auto`` this depends on the network. One tree for all terminals of a switch has equal
routes from equal places, so all its traffic may come over a single channel. Where only leaves have
terminals, as in fat trees, separate trees share it out over all channels down to the leaf.
The loads grow after each tree by the routes that it gives the other terminals.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from routelab.api import (
    Capabilities,
    RouteTable,
    RoutingGraph,
    SelectionPlugin,
    parameter,
)
from routelab.kernels.rooted_trees import routes_by_root, routes_to_terminals
from routelab.toolkit import TieParameters, search_arrays
from routelab.toolkit.ties import visit_order
from routelab_plugins import works


class PSsspParameters(TieParameters):
    """Order of ties, root of the trees, and kind of destinations."""

    root: Literal["source", "destination"] = parameter(
        "source",
        description="Trees from sources, or towards destinations; where the rules have one state "
        "a switch the latter gives a destination-based table",
    )
    routes: Literal["auto", "switches", "terminals"] = parameter(
        "auto",
        description="Destinations: switches, whose terminals share a route from each switch, or "
        "single terminals with separate trees (needs root=destination). Auto: terminals if "
        "root=destination and some switches have none, as in fat trees, otherwise switches",
    )


class PSssp(SelectionPlugin):
    """Builds all routes of one tree together and updates loads between trees."""

    name = "p-sssp"
    summary = "Lightest shortest-path tree for each endpoint; loads are updated after each (P-SSSP)"
    citations = (
        works.HOEFLER2009("P-SSSP"),
        works.DOMKE2011("trees towards single terminals"),
    )
    capabilities = Capabilities(minimal=None)
    Parameters = PSsspParameters
    parameters: PSsspParameters

    def supports(self, graph: RoutingGraph) -> str | None:
        """Require root=destination for terminals: trees of sources have one route per switch."""
        if self.parameters.routes == "terminals" and self.parameters.root == "source":
            return "routes=terminals needs root=destination: trees towards the terminals"
        return None

    def select(self, graph: RoutingGraph) -> RouteTable:
        """Build lightest shortest legal routes.

        From P trees of O(V + E), one for each endpoint, or from T trees, one for each terminal.
        """
        search = search_arrays(graph, self.parameters)
        if self._has_tree_per_terminal(graph):
            # column t is for terminal t instead of its switch
            endpoint_of_terminal = graph.topology.terminal_endpoint
            lengths = np.ascontiguousarray(search.lengths[:, endpoint_of_terminal])
            order = visit_order(self.parameters.tie_seed, len(endpoint_of_terminal))
            hops = routes_to_terminals(search, lengths, endpoint_of_terminal, order)
            return RouteTable.from_lengths(graph.topology, lengths, hops, per_terminal=True)
        from_source = self.parameters.root == "source"
        hops = routes_by_root(search, from_source=from_source, each_pair=False)
        return RouteTable.from_lengths(graph.topology, search.lengths, hops)

    def _has_tree_per_terminal(self, graph: RoutingGraph) -> bool:
        """Return whether each terminal has a separate tree."""
        topology, options = graph.topology, self.parameters
        if options.routes == "auto" and options.root == "destination":
            return len(topology.endpoints) < topology.num_switches
        return options.routes == "terminals"
