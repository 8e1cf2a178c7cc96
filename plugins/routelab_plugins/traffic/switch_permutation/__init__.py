"""switch-permutation: all terminals of a switch send to those of one neighbouring switch.

Camarero, Martinez and Beivide, *Polarized Routing for Large Interconnection Networks*, 2022, doi
10.1109/MM.2021.3139392: "switch permutation to neighbor". Minimal routes have one channel for all
terminals of a switch.
"""

from __future__ import annotations

import numpy as np

from routelab.api import Citation, Demand, Topology, TrafficPlugin
from routelab.toolkit import SeededParameters, random_order

from .matching import onto_neighbours


class SwitchPermutation(TrafficPlugin):
    """A permutation of the switches with terminals that maps each to a neighbour.

    It is a perfect matching of switches with neighbours, grown in random order: any such
    permutation may result, but not with equal probabilities.
    """

    name = "switch-permutation"
    summary = "All terminals of a switch send to those of a neighbouring switch, at random"
    citations = (Citation("camarero2022", "switch permutation to neighbor"),)
    Parameters = SeededParameters

    def supports(self, topology: Topology) -> str | None:
        """Require that such a permutation exists."""
        _, short = onto_neighbours(*_neighbours(topology, np.random.PCG64(0)))
        if not short:
            return None
        names = [topology.switch_names[topology.endpoints[end]] for end in short[:3]]
        more = ", ..." if len(short) > 3 else ""
        return (
            f"no permutation sends every switch to a neighbour: {len(short)} switches "
            f"({', '.join(names)}{more}) have only {len(short) - 1} neighbours with terminals"
        )

    def demand(self, topology: Topology, seed: int) -> Demand:
        """Send from the i-th terminal to the i-th, or to all if switches differ in terminals."""
        bits = self.parameters.bits(seed)
        to, _ = onto_neighbours(*_neighbours(topology, bits))
        terminals = np.argsort(topology.terminal_switch, kind="stable")
        count = topology.demand
        if (count == count[0]).all():
            by_switch = terminals.reshape(len(to), -1)
            targets = np.empty_like(terminals)
            targets[by_switch] = by_switch[to]
            return Demand.permutation(
                targets, "the i-th terminal of a switch to the i-th of a neighbouring switch"
            )
        own = np.searchsorted(topology.endpoints, topology.terminal_switch)
        return Demand.create(
            rate=np.ones(len(own)),
            part_start=np.arange(len(own) + 1),
            part_share=np.ones(len(own)),
            part_set=np.array(to)[own],
            set_start=np.concatenate(([0], np.cumsum(count))),
            members=terminals,
            to_self=False,
            convention="all terminals of a switch to all of a neighbouring switch, alike",
        )


def _neighbours(topology: Topology, bits: np.random.PCG64) -> tuple[list[list[int]], list[int]]:
    """Return each endpoint's adjacent endpoints, and the endpoints, in random orders."""
    ends = topology.endpoints
    number = np.full(topology.num_switches, -1)
    number[ends] = np.arange(len(ends))
    pairs = np.stack((number[topology.channel_source], number[topology.channel_target]), axis=1)
    pairs = np.unique(pairs[(pairs >= 0).all(axis=1)], axis=0)
    neighbours: list[list[int]] = [[] for _ in ends]
    for source, target in pairs[random_order(len(pairs), bits)].tolist():
        neighbours[source].append(target)
    return neighbours, random_order(len(ends), bits).tolist()
