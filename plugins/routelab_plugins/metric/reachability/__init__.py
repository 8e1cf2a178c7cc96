"""How many pairs a table joins, and whether next hops can express it."""

from __future__ import annotations

from routelab import metrics
from routelab.api import Measurement, MetricPlugin, RouteTable, RoutingGraph


class Reachability(MetricPlugin):
    """Pairs with a route, and the form that the table can take in a switch."""

    name = "reachability"
    summary = "Ordered terminal pairs, those of them with a route, and whether next hops suffice"

    def measure(self, table: RouteTable, graph: RoutingGraph | None) -> list[Measurement]:
        """Measure the table; 1 says that it is destination-based, 0 that it is not."""
        pairs = float(metrics.pairs(table.topology))
        reachable = float(metrics.reachable_pairs(table))
        return [
            Measurement("pairs", pairs, "pairs"),
            Measurement("reachable_pairs", reachable, "pairs", "higher"),
            Measurement("destination_based", float(metrics.destination_based(table))),
        ]
