"""random-permutation: every terminal sends to one and receives from one, at random.

Camarero, Martinez and Beivide call it random server permutation: *Polarized Routing for Large
Interconnection Networks*, 2022, doi 10.1109/MM.2021.3139392. Here no terminal is its own target, so
all of them send.
"""

from __future__ import annotations

import numpy as np

from routelab.api import Demand, Topology, TrafficPlugin
from routelab.toolkit import SeededParameters, random_order, too_few_terminals
from routelab_plugins import works


class RandomPermutation(TrafficPlugin):
    """A permutation without fixed points, drawn uniformly."""

    name = "random-permutation"
    summary = "Every terminal sends to one other and receives from one, at random"
    citations = (works.CAMARERO2022("random server permutation"),)
    Parameters = SeededParameters

    def supports(self, topology: Topology) -> str | None:
        """Require at least two terminals."""
        return too_few_terminals(topology)

    def demand(self, topology: Topology, seed: int) -> Demand:
        """Draw permutations until one has no fixed point; on average, this takes three draws."""
        random = self.parameters.random(seed)
        ranks = np.arange(topology.num_terminals)
        targets = random_order(len(ranks), random)
        while (targets == ranks).any():
            targets = random_order(len(ranks), random)
        return Demand.permutation(targets, "each terminal to one other, no two to the same")
