"""The largest load that any permutation of terminals puts on a channel."""

from __future__ import annotations

from routelab import metrics
from routelab.api import Column, Measurement, MetricPlugin, RouteTable, RoutingGraph
from routelab_plugins import works

MAX_TERMINALS = 1024
"""Largest number of terminals; larger networks are not measured."""


class WorstPermutationMetric(MetricPlugin):
    """Load of the worst permutation, in which each terminal sends and receives one message."""

    name = "worst-permutation"
    summary = "Largest channel load that any permutation of terminals can cause"
    citations = (
        works.TOWLES2002("the worst permutation of a channel as a maximum-weight matching"),
    )
    columns = (
        Column(
            "worst_permutation",
            "load of the busiest channel under the worst permutation, in which every terminal "
            "sends and receives one message (Towles and Dally 2002). Its inverse is the "
            "guaranteed throughput under any permutation, in channel bandwidths per terminal",
            heading="maximum channel load under the worst permutation",
            unit="messages",
            better="lower",
            group="Traffic other than all-to-all",
        ),
    )
    by_default = False

    def measure(self, table: RouteTable, graph: RoutingGraph | None) -> list[Measurement]:
        """Measure the load; nothing without channels, or above `MAX_TERMINALS` terminals."""
        topology = table.topology
        if not topology.num_channels or topology.num_terminals > MAX_TERMINALS:
            return []
        permutation = metrics.worst_permutation(table)
        return [Measurement("worst_permutation", permutation.load)]
