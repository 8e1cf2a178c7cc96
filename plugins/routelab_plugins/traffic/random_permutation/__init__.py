"""random-permutation: every terminal sends to one and receives from one, at random.

Called random server permutation by Camarero, Martinez and Beivide, *Polarized Routing for Large
Interconnection Networks*, 2022, doi 10.1109/MM.2021.3139392. Here no terminal is its own target, so
that all of them send.
"""

from __future__ import annotations

import numpy as np

from routelab.api import Citation, Demand, Topology, TrafficPlugin
from routelab.toolkit import SeededParameters, random_order, too_few_terminals


class RandomPermutation(TrafficPlugin):
    """Drawn from all permutations without a fixed point, each as likely as the others."""

    name = "random-permutation"
    summary = "Every terminal sends to one other and receives from one, at random"
    citations = (Citation("camarero2022", "random server permutation"),)
    Parameters = SeededParameters

    def supports(self, topology: Topology) -> str | None:
        """One terminal has nobody to send to."""
        return too_few_terminals(topology)

    def demand(self, topology: Topology, seed: int) -> Demand:
        """Permutations are drawn until one has no fixed point; the third one has, on average."""
        bits = self.parameters.bits(seed)
        ranks = np.arange(topology.num_terminals)
        targets = random_order(len(ranks), bits)
        while (targets == ranks).any():
            targets = random_order(len(ranks), bits)
        return Demand.permutation(targets, "each terminal to one other, no two to the same")
