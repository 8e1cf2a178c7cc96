"""Global mixed-integer programming: the smallest possible maximum relative load.

Kinsy et al. choose one route per flow so that the maximum channel load is least. The routes conform
to an acyclic channel dependence graph (*Application-Aware Deadlock-Free Oblivious Routing*, ISCA
2009, doi 10.1145/1555754.1555782). Abdel-Gawad and Thottethodi, *TransCom*, MICRO
2011, extend such programs to streams that are split or fused.

Here the routes are the shortest legal ones of any rules, which replace the acyclic graph. Every
pair is a flow with the demand of its ends, and each route has a binary variable. The application
traffic and the transformed streams of the two papers are not modelled.

The search begins with a choice made pair after pair, and runs on one thread with a fixed seed. If
it finishes, or `nodes` ends it, the same input gives the same table everywhere. If `seconds` ends
it, the table depends on how far the machine got.
The counter `milp_optimal` is 1 if the maximum load equals `milp_bound`, below which the solver says
there is none.
"""

from __future__ import annotations

from routelab.api import (
    Capabilities,
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
from routelab_plugins import works

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
    summary = "Smallest maximum channel load by mixed-integer programming"
    citations = (
        works.KINSY2009("mixed-integer program of the least maximum channel load"),
        works.ABDELGAWAD2011("global routing as an integer program"),
    )
    capabilities = Capabilities(minimal=None)
    columns = (
        Column(
            "milp_optimal",
            "`milp`: 1 if the solver proved the table optimal, else 0",
            heading="proven optimal by the solver",
            group="Computing effort",
        ),
        Column(
            "milp_bound",
            "`milp`: lower bound reported by the solver",
            heading="lower bound of the solver",
            group="Computing effort",
        ),
        Column(
            "milp_nodes",
            "`milp`: number of nodes of the search tree",
            heading="nodes of the search tree",
            group="Computing effort",
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
        first_choice = least_loaded_paths(
            routes.route_start,
            routes.hop_start,
            routes.hops,
            routes.pair_demand,
            channel_factors(graph.topology),
        )
        solution = minimise(routes, first_choice, options.gap, options.nodes, options.seconds)
        counters = {
            "milp_optimal": int(solution.optimal),
            "milp_bound": float(solution.bound),
            "milp_nodes": solution.nodes,
        }
        return routes.table(solution.chosen, counters=counters)
