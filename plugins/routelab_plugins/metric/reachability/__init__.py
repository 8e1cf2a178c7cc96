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
        """Measure the table; truth values are 1 or 0."""
        reachable = metrics.reachable_pairs(table)
        connected, minimal = metrics.connected_pairs(table)
        measurements = [
            Measurement("pairs", float(metrics.pairs(table.topology))),
            Measurement("connected_pairs", float(connected)),
            Measurement("reachable_pairs", float(reachable)),
            Measurement("minimal_pairs", float(minimal)),
            Measurement("fully_routable", float(reachable == connected)),
            Measurement("fully_minimal", float(minimal == connected)),
        ]
        if connected:
            shares = {"routable_share": reachable, "minimal_share": minimal}
            measurements += [Measurement(name, count / connected) for name, count in shares.items()]
        return measurements
