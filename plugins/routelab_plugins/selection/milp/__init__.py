"""Global mixed-integer programming: the least maximum relative load that there is.

Kinsy et al., *Application-Aware Deadlock-Free Oblivious Routing*, ISCA 2009, doi
10.1145/1555754.1555782, choose one route a flow among those that conform to an acyclic channel
dependence graph, so that the maximum channel load is least; Abdel-Gawad and Thottethodi,
*TransCom*, MICRO 2011, extend such programs to streams that are split or fused. Here the routes are
the shortest legal ones of any rules (which take the place of the acyclic graph), every pair is a
flow of the demand of its ends, and a binary variable stands for each route. What the two papers add
to the program, application traffic and transformed streams, is not here.

The search begins with a choice made pair after pair, and runs on one thread with a fixed seed. As
long as it finishes or ends by `nodes`, the same input gives the same table everywhere; if
`seconds` cut it short, the table is what the machine managed, and differs from machine to machine.
The counter `milp_optimal` is 1 if the maximum load equals `milp_bound`, below which the solver says
there is none.
"""

from __future__ import annotations

from routelab.api import (
    Capabilities,
    Citation,
    Column,
    Parameters,
    RouteTable,
    RoutingGraph,
    SelectionPlugin,
    parameter,
)
from routelab.kernels.least_loaded import least_loaded_paths
from routelab.metrics import channel_factors
from routelab.toolkit import ListedRoutes, too_many_routes

from .program import minimise

MAX_HOPS = 200_000
"""Hops of all listed routes together; above, even the relaxation takes minutes."""


class MilpParameters(Parameters):
    """Limits of the search."""

    gap: float = parameter(
        0.0, ge=0, lt=1, description="Relative distance from the bound at which the search stops"
    )
    nodes: int = parameter(
        10_000, ge=0, le=2**31 - 1, description="Largest number of nodes of the search tree"
    )
    seconds: float = parameter(
        600.0,
        gt=0,
        description="Time limit, in seconds; a result that reaches it depends on the machine",
    )


class Milp(SelectionPlugin):
    """Chooses the routes of all pairs together, by branch and bound."""

    name = "milp"
    summary = "Least maximum channel load by mixed-integer programming"
    citations = (
        Citation("kinsy2009", "mixed-integer program of the least maximum channel load"),
        Citation("abdelgawad2011", "global routing as an integer program"),
    )
    capabilities = Capabilities(minimal=None)
    columns = (
        Column(
            "milp_optimal",
            "`milp`: 1 if the solver proved the table optimal, else 0",
            group="Computing effort",
        ),
        Column(
            "milp_bound", "`milp`: lower bound reported by the solver", group="Computing effort"
        ),
        Column(
            "milp_nodes", "`milp`: number of nodes of the search tree", group="Computing effort"
        ),
    )
    Parameters = MilpParameters

    def supports(self, graph: RoutingGraph) -> str | None:
        """Require few enough shortest legal routes for the solver."""
        return too_many_routes(graph, MAX_HOPS)

    def select(self, graph: RoutingGraph) -> RouteTable:
        """Return the best table found; exponential time in the worst case."""
        options: MilpParameters = self.parameters
        routes = ListedRoutes.of(graph)
        start = least_loaded_paths(
            routes.route_start,
            routes.hop_start,
            routes.hops,
            routes.pair_demand,
            channel_factors(graph.topology),
        )
        found = minimise(routes, start, options.gap, options.nodes, options.seconds)
        counters = {
            "milp_optimal": int(found.optimal),
            "milp_bound": float(found.bound),
            "milp_nodes": found.nodes,
        }
        return routes.table(found.chosen, counters=counters)
