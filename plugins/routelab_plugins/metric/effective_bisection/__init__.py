"""Effective bisection bandwidth: the mean over random pairings of two halves."""

from __future__ import annotations

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


class EffectiveBisectionParameters(Parameters):
    """Sample of pairings."""

    samples: int = parameter(1000, ge=30, le=1_000_000, description="Random pairings")
    seed: int = parameter(0, ge=0, description="Seed of the pairings")


class EffectiveBisection(MetricPlugin):
    """Mean bandwidth of messages between random halves, each limited by its busiest channel.

    All tables of a network are measured with the same pairings.
    """

    name = "effective-bisection"
    summary = "Mean bandwidth between partners in random halves of the terminals, 0 to 1"
    citations = (works.HOEFLER2008("effective bisection bandwidth"),)
    Parameters = EffectiveBisectionParameters
    columns = (
        Column(
            "effective_bisection",
            "mean share of its bandwidth that a terminal gets when each terminal of a random half "
            "sends to a partner in the other half: 1 / (load of the busiest channel on the way), "
            "averaged over partners and `samples` pairings (Hoefler, Schneider and Lumsdaine "
            "2008); 1 for a crossbar",
            heading="effective bisection bandwidth",
            better="higher",
            group="Traffic other than all-to-all",
        ),
        Column(
            "effective_bisection_half_width",
            "half the width of the 95 % confidence interval of `effective_bisection`. All tables "
            "use the same pairings, so differences between tables are more precise",
            heading="effective bisection bandwidth, half of the 95 % interval",
            group="Traffic other than all-to-all",
        ),
    )
    by_default = False

    def measure(self, table: RouteTable, graph: RoutingGraph | None) -> list[Measurement]:
        """Measure the mean and its 95 % confidence interval; nothing on a single terminal."""
        parameters = self.parameters
        bandwidth = metrics.effective_bisection(table, parameters.samples, parameters.seed)
        if bandwidth is None:
            return []
        return [
            Measurement("effective_bisection", bandwidth.mean),
            Measurement("effective_bisection_half_width", bandwidth.half_width),
        ]
