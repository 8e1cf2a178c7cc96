"""Breadth-first route building, the Angara interconnect's first table generator.

Algorithms 1 and 2 of Mukosey, Semenov, Tretiakov, *Optimized Graph Based Routing Algorithm for
the Angara Interconnect*. The paper sorts each level's vertices "by outgoing edge weights"
without stating how several edges make one key, so the key is a parameter.
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
from routelab.toolkit import TieParameters, search_arrays
from routelab_plugins import works

from .kernels import FIRST, LARGEST, SMALLEST, SUM, UNSORTED, build_routes_bfs

SORT_KEYS = {"sum": SUM, "min": SMALLEST, "max": LARGEST, "first": FIRST, "none": UNSORTED}


class BfsParameters(TieParameters):
    """Order of ties, and the key by which a level is sorted."""

    sort: Literal["sum", "min", "max", "first", "none"] = parameter(
        "sum",
        description="Key of 'ascending sort by outgoing edge weights' (Algorithm 2): sum, least, "
        "greatest or first of the outgoing edges' weights, or no sorting",
    )


class Bfs(SelectionPlugin):
    """One breadth-first tree a source; loads only order the vertices of a level."""

    name = "bfs"
    summary = "Breadth-first trees, levels sorted by load (Angara, Algorithms 1 and 2)"
    citations = (works.MUKOSEY2020("Algorithms 1 and 2"),)
    capabilities = Capabilities(minimal=None)
    Parameters = BfsParameters

    def select(self, graph: RoutingGraph) -> RouteTable:
        """Build shortest legal routes from one breadth-first tree per source; O(P (V + E))."""
        options: BfsParameters = self.parameters
        search = search_arrays(graph, options)
        hops = build_routes_bfs(search, SORT_KEYS[options.sort])
        return RouteTable.from_lengths(graph.topology, search.lengths, hops)
