"""Channel loads: the busiest channel, the idlest one, and the deviation from perfect balance."""

from __future__ import annotations

from collections.abc import Sequence

from routelab import metrics
from routelab.api import (
    Column,
    Measurement,
    MetricPlugin,
    Parameters,
    RouteTable,
    RoutingGraph,
    parameter,
)
from routelab_plugins import works


class ChannelLoadParameters(Parameters):
    """Power of the deviation."""

    k: int = parameter(4, ge=1, le=64, description="Power of the deviation sigma")


class ChannelLoad(MetricPlugin):
    """Number of routes that cross a channel; each pair of terminals counts as one route.

    Loads are relative to capacity: a route counts 1 on a channel of the greatest capacity, and 4 on
    one with a quarter of it.
    """

    name = "channel-load"
    summary = "Maximum, minimum and mean channel load, and deviation from perfect balance"
    citations = (works.MUKOSEY2020("perfect load and deviation σ(k, R) (section 1.1)"),)
    columns = (*metrics.columns.LOADS, metrics.columns.PERFECT_LOAD)
    Parameters = ChannelLoadParameters

    def list_columns(self) -> Sequence[Column]:
        """List the columns; the parameter k is part of a name: ``sigma4``."""
        columns = metrics.columns
        sigma = columns.sigma_column(self.parameters.k)
        return columns.MAX_LOAD, columns.MIN_LOAD, columns.MEAN_LOAD, columns.PERFECT_LOAD, sigma

    def measure(self, table: RouteTable, graph: RoutingGraph | None) -> list[Measurement]:
        """Measure the loads; nothing on a network without channels."""
        topology = table.topology
        if not topology.num_channels:
            return []
        route_counts = metrics.channel_loads(table)
        loads = metrics.relative_loads(topology, route_counts)
        # the load of every channel if all routes were shortest and balanced perfectly
        perfect = metrics.perfect_load(topology)
        k = self.parameters.k
        return [
            Measurement("max_load", float(loads.max())),
            Measurement("min_load", float(loads.min())),
            # the weighted mean of `loads`, computed from the counts
            Measurement("mean_load", metrics.mean_load(topology, route_counts)),
            Measurement("perfect_load", perfect),
            Measurement(f"sigma{k}", metrics.sigma(loads, perfect, k)),
        ]
