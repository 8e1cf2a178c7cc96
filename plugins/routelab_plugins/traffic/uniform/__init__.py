"""uniform: everybody sends to everybody alike.

Dally and Towles, *Principles and Practices of Interconnection Networks*, Morgan Kaufmann 2004,
section 3.2: "random traffic".
"""

from __future__ import annotations

from routelab.api import (
    Citation,
    Demand,
    Parameters,
    Topology,
    TrafficPlugin,
    parameter,
)
from routelab.toolkit import too_few_terminals


class UniformParameters(Parameters):
    """Who is everybody."""

    self_: bool = parameter(False, description="Whether a terminal also sends to itself")


class Uniform(TrafficPlugin):
    """Rank-based; every packet has a target of its own, drawn at random."""

    name = "uniform"
    summary = "Every terminal sends to all others alike"
    citations = (Citation("dally2004", "random traffic (section 3.2)"),)
    Parameters = UniformParameters

    def supports(self, topology: Topology) -> str | None:
        """One terminal can only send to itself."""
        if self.parameters.self_ and topology.num_terminals:
            return None
        return too_few_terminals(topology)

    def demand(self, topology: Topology, seed: int) -> Demand:
        """One part for each terminal, and one set for all."""
        to_self: bool = self.parameters.self_
        whom = "all terminals, itself included" if to_self else "all other terminals"
        return Demand.uniform(topology, f"each terminal to {whom}, alike", to_self=to_self)
