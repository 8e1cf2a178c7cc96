"""Lengths and turns of routes."""

from __future__ import annotations

from routelab import metrics
from routelab.api import Measurement, MetricPlugin, RouteTable, RoutingGraph


class RouteLength(MetricPlugin):
    """Hops and changes of direction: maxima over all paths, means over terminal pairs."""

    name = "route-length"
    summary = "Longest and mean route in hops, and changes of direction on routes"

    columns = (metrics.columns.MAX_HOPS, metrics.columns.MEAN_HOPS, *metrics.columns.TURNS)

    def measure(self, table: RouteTable, graph: RoutingGraph | None) -> list[Measurement]:
        """Measure the routes; turns only where channels have directions."""
        numbers = [
            ("max_hops", metrics.max_hops(table)),
            ("mean_hops", metrics.mean_hops(table)),
            ("mean_turns", metrics.mean_turns(table)),
            ("max_turns", metrics.max_turns(table)),
        ]
        return [Measurement(name, float(value)) for name, value in numbers if value is not None]
