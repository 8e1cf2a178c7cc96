"""Iterative removal: the traffic balancing of Sancho and Robles.

Sancho and Robles, *Improving the Up*/Down* Routing Scheme for Networks of Workstations*, Euro-Par
2000, doi 10.1007/3-540-44520-X_123, as Mukosey et al. (*Optimized Graph Based Routing Algorithm for
the Angara Interconnect*, section 1.1) describe it: all routes of all pairs are listed; in each step
the channel with the highest load is determined, and a route that crosses it is removed, if its pair
has more than one; the end is reached when every pair has one route.

The description leaves open which route over the channel goes, and what happens when no route over
it may go. Here a route of the pair with most remaining routes goes, the last of them in tie order;
and the next channel in order of load that has one is taken. A load counts each route once for every
terminal pair of its switches, whatever the capacity of the channel.
"""

from __future__ import annotations

import numpy as np

from routelab.api import (
    Capabilities,
    Column,
    RouteTable,
    RoutingGraph,
    SelectionPlugin,
)
from routelab.api.topology import Int64Array
from routelab.toolkit import ListedRoutes, TieParameters, too_many_routes
from routelab.toolkit.ties import backwards_at, endpoint_order, tie_order
from routelab_plugins import works

from .kernels import remove_routes


class IterativeRemoval(SelectionPlugin):
    """Every pair starts with all of its routes and loses those over the busiest channels."""

    name = "iterative-removal"
    summary = "Removes routes over the most loaded channel until every pair has one"
    citations = (
        works.SANCHO2000("the traffic balancing algorithm"),
        works.MUKOSEY2020("description of the algorithm (section 1.1, reference 27)"),
    )
    capabilities = Capabilities(minimal=None)
    columns = (
        Column(
            "removed_routes",
            "`iterative-removal`: number of routes removed until each pair had one",
            heading="removed routes",
            group="Computing effort",
        ),
    )
    Parameters = TieParameters

    def supports(self, graph: RoutingGraph) -> str | None:
        """Require that all shortest legal routes fit in memory."""
        return too_many_routes(graph)

    def select(self, graph: RoutingGraph) -> RouteTable:
        """Choose one route per pair; O(H log R) for R listed routes with H hops in total."""
        options: TieParameters = self.parameters
        routes = ListedRoutes.of(graph, tie_order(graph, options.tie_seed))
        removed = remove_routes(
            routes=(routes.hop_start, routes.hops),
            pair=routes.route_pair,
            demand=routes.pair_demand,
            routes_left=np.diff(routes.route_start),
            tie_position=_tie_positions(graph, routes, options),
            num_channels=graph.topology.num_channels,
        )
        chosen = np.flatnonzero(~removed)
        return routes.table(chosen, counters={"removed_routes": routes.num_routes - len(chosen)})


def _tie_positions(graph: RoutingGraph, routes: ListedRoutes, options: TieParameters) -> Int64Array:
    """Return each route's position in tie order: by source, then target, then number.

    The number counts the routes of a pair from 0. Of equally good routes the one with the greatest
    position is removed, so the first remains. For sources whose ties go backwards, the last route
    of a pair should remain, so the numbers are negated.
    """
    num_endpoints = len(graph.topology.endpoints)
    endpoint_rank = np.empty(num_endpoints, dtype=np.int64)
    endpoint_rank[endpoint_order(graph, options.tie_seed)] = np.arange(num_endpoints)
    pair = routes.route_pair
    source, target = np.divmod(pair, max(num_endpoints, 1))
    number = np.arange(routes.num_routes) - routes.route_start[pair]
    number[backwards_at(graph, options.ties)[source]] *= -1
    position = np.empty(routes.num_routes, dtype=np.int64)
    order = np.lexsort((number, endpoint_rank[target], endpoint_rank[source]))
    position[order] = np.arange(routes.num_routes)
    return position
