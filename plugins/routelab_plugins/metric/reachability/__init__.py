"""How many pairs a table joins."""

from __future__ import annotations

from routelab import metrics
from routelab.api import Measurement, MetricPlugin, RouteTable, RoutingGraph


class Reachability(MetricPlugin):
    """Pairs with a route, and with one as short as can be.

    Of a damaged network only those pairs count that it still joins: a system is fully routable if
    all of them have a route, and fully minimal if none of these is longer than what is left of the
    network allows.
    """

    name = "reachability"
    summary = "Ordered terminal pairs, and those of them with a route"

    columns = metrics.columns.REACHABILITY

    def measure(self, table: RouteTable, graph: RoutingGraph | None) -> list[Measurement]:
        """Measure the table; of what is true or not, 1 says that it is true, 0 that it is not."""
        reachable = metrics.reachable_pairs(table)
        connected, minimal = metrics.connected_pairs(table)
        found = [
            Measurement("pairs", float(metrics.pairs(table.topology))),
            Measurement("connected_pairs", float(connected)),
            Measurement("reachable_pairs", float(reachable)),
            Measurement("minimal_pairs", float(minimal)),
            Measurement("fully_routable", float(reachable == connected)),
            Measurement("fully_minimal", float(minimal == connected)),
        ]
        if connected:
            shares = {"routable_share": reachable, "minimal_share": minimal}
            found += [Measurement(name, count / connected) for name, count in shares.items()]
        return found
