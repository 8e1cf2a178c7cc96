"""Number of pairs with a route."""

from __future__ import annotations

from routelab import metrics
from routelab.api import Measurement, MetricPlugin, RouteTable, RoutingGraph


class Reachability(MetricPlugin):
    """Number of pairs with a route, and with a shortest one.

    In a damaged network only pairs count that are still connected: it is fully routable if all of
    them have a route, and fully minimal if all routes are as short as the remaining network allows.
    """

    name = "reachability"
    summary = "Number of ordered terminal pairs, and of those with a route"

    columns = metrics.columns.REACHABILITY

    def measure(self, table: RouteTable, graph: RoutingGraph | None) -> list[Measurement]:
        """Count ordered pairs of different terminals; no shares if no pair is connected."""
        with_route = metrics.reachable_pairs(table)
        connected, with_minimal_routes = metrics.connected_pairs(table)
        measurements = [
            Measurement("pairs", float(metrics.pairs(table.topology))),
            Measurement("connected_pairs", float(connected)),
            Measurement("reachable_pairs", float(with_route)),
            Measurement("minimal_pairs", float(with_minimal_routes)),
            # 1 or 0
            Measurement("fully_routable", float(with_route == connected)),
            Measurement("fully_minimal", float(with_minimal_routes == connected)),
        ]
        if connected:
            measurements += [
                Measurement("routable_share", with_route / connected),
                Measurement("minimal_share", with_minimal_routes / connected),
            ]
        return measurements
