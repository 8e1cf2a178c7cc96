"""half-pairs: half of the terminals, drawn at random, send to one each of the other half.

Shastry, Parker, Kapoor and Raicu, *Exploring Randomized Multipath Routing on Multi-Dimensional
Torus Networks*, introduction and section II.
"""

from __future__ import annotations

import numpy as np

from routelab.api import Demand, Topology, TrafficPlugin
from routelab.toolkit import SeededParameters, random_order, too_few_terminals
from routelab_plugins import works


class HalfPairs(TrafficPlugin):
    """Receivers send nothing, and one terminal of an odd number has no partner."""

    name = "half-pairs"
    summary = "Half of the terminals send to the other half, paired at random"
    citations = (
        works.SHASTRY2016(
            "half of the nodes paired with the other half (introduction, section II)"
        ),
    )
    Parameters = SeededParameters

    def supports(self, topology: Topology) -> str | None:
        """Require at least two terminals."""
        return too_few_terminals(topology)

    def demand(self, topology: Topology, seed: int) -> Demand:
        """Return demand in which the first half of a random order sends to the second."""
        count = topology.num_terminals
        order = random_order(count, self.parameters.random(seed))
        half = count // 2
        targets = np.full(count, -1)  # silent
        targets[order[:half]] = order[half : 2 * half]
        return Demand.permutation(
            targets, "half of the terminals, at random, to one each of the others; these are silent"
        )
