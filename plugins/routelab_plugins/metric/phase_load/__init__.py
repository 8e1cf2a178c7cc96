"""Loads of a pairwise all-to-all exchange, which proceeds in phases."""

from __future__ import annotations

from typing import Literal

from routelab import metrics
from routelab.api import Column, Measurement, MetricPlugin, RouteTable, RoutingGraph


class PhaseLoad(MetricPlugin):
    """Sum over the phases of the busiest channel's load: a model of the exchange's time.

    Large messages of an MPI all-to-all are exchanged with one rank after another. In phase p, rank
    i exchanges with ``i ^ p`` if the number T of ranks is a power of two; otherwise it sends to
    ``(i + p) mod T``.
    """

    name = "phase-load"
    summary = "Sum of the phases' maximum channel loads in a pairwise all-to-all exchange"

    columns = (
        Column(
            "phase_load_xor",
            "load of the busiest channel, summed over the phases of a pairwise all-to-all "
            "exchange: a model of its time for large messages. In phase p, rank i exchanges with "
            "rank i xor p. Only if the number of terminals is a power of two",
            heading="maximum channel load, summed over XOR phases",
            unit="messages",
            better="lower",
            group="Traffic other than all-to-all",
        ),
        Column(
            "phase_load_shift",
            "like `phase_load_xor`, but rank i sends to rank (i + p) mod T, for T terminals",
            heading="maximum channel load, summed over shift phases",
            unit="messages",
            better="lower",
            group="Traffic other than all-to-all",
        ),
    )

    def measure(self, table: RouteTable, graph: RoutingGraph | None) -> list[Measurement]:
        """Measure both patterns; XOR only where the number of terminals is a power of two."""
        patterns: tuple[Literal["xor"], Literal["shift"]] = ("xor", "shift")
        sums = {pattern: metrics.phase_load(table, pattern) for pattern in patterns}
        return [
            Measurement(f"phase_load_{pattern}", value)
            for pattern, value in sums.items()
            if value is not None
        ]
