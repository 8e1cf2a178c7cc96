"""Loads of an all-to-all exchange that goes pairwise, phase after phase."""

from __future__ import annotations

from typing import Literal

from routelab import metrics
from routelab.api import Column, Measurement, MetricPlugin, RouteTable, RoutingGraph


class PhaseLoad(MetricPlugin):
    """Sum over the phases of the busiest channel's load: a model of the exchange's time.

    Large messages of an MPI all-to-all are exchanged with one rank after another: with ``i ^ p``
    where the number of ranks is a power of two, else with ``(i + p) mod T``.
    """

    name = "phase-load"
    summary = "Sum of the phases' maximum channel loads in a pairwise all-to-all exchange"

    columns = (
        Column(
            "phase_load_xor",
            "large messages of an all-to-all exchange go pairwise, phase by phase, rank i with "
            "rank i xor p. Sum over the phases of the busiest channel's load: a model of the "
            "exchange's time. Only for a power of two terminals",
            unit="messages",
            better="lower",
            group="Other traffic than all to all",
        ),
        Column(
            "phase_load_shift",
            "the same where rank i sends to (i + p) mod T",
            unit="messages",
            better="lower",
            group="Other traffic than all to all",
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
