"""Distance, weight and deviation as in Table 1 of the paper on segment-based routing.

Mejía, Flich, Duato, *Segment-Based Routing: A New Approach to Efficient Topology-Agnostic Routing*,
2005. The distance is the mean over all ordered pairs of terminals, a terminal and itself included;
the weight of a channel is the number of routes that cross it. Both are what the numbers of the
paper's table obey: weight = distance · pairs / channels.
"""

from __future__ import annotations

import numpy as np

from routelab import metrics
from routelab.api import Column, Measurement, MetricPlugin, RouteTable, RoutingGraph
from routelab_plugins import works


class LinkWeight(MetricPlugin):
    """Mean distance over all pairs, mean weight of the channels, and its standard deviation."""

    name = "link-weight"
    summary = "Distance, mean number of routes on a channel and its deviation, as in the SR paper"
    citations = (works.MEJIA2005("the columns of Table 1"),)
    by_default = False
    columns = (
        Column(
            "distance",
            "mean number of hops over all ordered pairs of terminals, with pairs of a terminal and "
            "itself; only if all pairs have routes",
            heading="mean path length, self-pairs included",
            unit="hops",
            better="lower",
            decimals=2,
            group="Length of the routes",
        ),
        Column(
            "weight",
            "mean number of routes on a channel, regardless of its capacity",
            heading="mean routes per channel",
            unit="routes",
            better="lower",
            decimals=2,
            group="Channel loads",
        ),
        Column(
            "weight_deviation",
            "standard deviation of the number of routes on a channel",
            heading="standard deviation of routes per channel",
            unit="routes",
            better="lower",
            decimals=2,
            group="Channel loads",
        ),
    )

    def measure(self, table: RouteTable, graph: RoutingGraph | None) -> list[Measurement]:
        """Measure the three numbers; nothing on a network without channels."""
        topology = table.topology
        if not topology.num_channels:
            return []
        loads = metrics.channel_loads(table)
        measurements = [
            Measurement("weight", float(loads.mean())),
            Measurement("weight_deviation", float(np.std(loads))),
        ]
        # A pair without a route would count as one of 0 hops.
        if metrics.reachable_pairs(table) == metrics.pairs(topology):
            # Each hop of a route adds 1 to a load, so the loads add up to the hops of all routes.
            # The paper's mean has pairs of a terminal and itself: T² pairs, not T · (T − 1).
            distance = float(loads.sum()) / topology.num_terminals**2
            measurements.insert(0, Measurement("distance", distance))
        return measurements
