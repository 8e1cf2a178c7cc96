"""uniform: all terminals send to all others at equal rates.

Dally and Towles, *Principles and Practices of Interconnection Networks*, Morgan Kaufmann 2004,
section 3.2: "random traffic".
"""

from __future__ import annotations

from routelab.api import (
    Demand,
    Parameters,
    Topology,
    TrafficPlugin,
    parameter,
)
from routelab.toolkit import too_few_terminals
from routelab_plugins import works


class UniformParameters(Parameters):
    """Set of targets."""

    self_: bool = parameter(False, description="Whether a terminal also sends to itself")


class Uniform(TrafficPlugin):
    """The target of every packet is drawn at random, wherever the terminals are."""

    name = "uniform"
    summary = "Every terminal sends to all others with the same probability"
    citations = (works.DALLY2004("random traffic (section 3.2)"),)
    Parameters = UniformParameters

    def supports(self, topology: Topology) -> str | None:
        """Require two terminals, unless terminals send to themselves."""
        if self.parameters.self_ and topology.num_terminals:
            return None
        return too_few_terminals(topology)

    def demand(self, topology: Topology, seed: int) -> Demand:
        """Return one part for each terminal, with one common set of targets."""
        to_self: bool = self.parameters.self_
        whom = "all terminals, itself included" if to_self else "all other terminals"
        return Demand.uniform(topology, f"each terminal to {whom}, equally", to_self=to_self)
