"""Number of shortest legal routes."""

from __future__ import annotations

from routelab import metrics
from routelab.api import Measurement, MetricPlugin, RouteTable, RoutingGraph
from routelab_plugins import works


class RouteDiversityMetric(MetricPlugin):
    """Number of the shortest routes that the rules allow, each a sequence of channels.

    Rules may allow the same channels by several sequences of states: these are one route.
    """

    name = "route-diversity"
    summary = "Number of shortest legal routes, and the share of pairs that have only one"
    citations = (works.MUKOSEY2020("share of pairs with a single minimal route (section 4.3)"),)

    columns = metrics.columns.DIVERSITY

    def measure(self, table: RouteTable, graph: RoutingGraph | None) -> list[Measurement]:
        """Count the routes that the rules allow; nothing for a complete algorithm without rules."""
        # None also if no two terminals on different switches have a route
        diversity = None if graph is None else metrics.route_diversity(graph)
        if diversity is None:
            return []
        return [
            Measurement("single_route_share", diversity.single_route_share),
            Measurement("mean_routes", diversity.mean_routes),
            Measurement("total_routes", diversity.total_routes),
        ]
