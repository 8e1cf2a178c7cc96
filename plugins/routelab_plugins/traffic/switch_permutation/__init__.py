"""switch-permutation: all terminals of a switch send to those of one switch at some distance.

Camarero, Martinez and Beivide, *Polarized Routing for Large Interconnection Networks*, 2022, doi
10.1109/MM.2021.3139392: "switch permutation to neighbor". Minimal routes have one channel for all
terminals of a switch. At distance 2 the targets are random neighbours of neighbours.
"""

from __future__ import annotations

import numpy as np

from routelab.api import Demand, Topology, TrafficPlugin, parameter
from routelab.kernels.distances import hop_distances
from routelab.toolkit import SeededParameters, random_order, too_few_terminals
from routelab_plugins import works

from .matching import onto_neighbours


class SwitchPermutationParameters(SeededParameters):
    """Seed and distance of the targets."""

    distance: int = parameter(
        1,
        ge=1,
        description="Hops to the target switch: 1 is a neighbour, 2 a neighbour of a neighbour "
        "that is not a neighbour itself",
    )


class SwitchPermutation(TrafficPlugin):
    """A permutation of the switches with terminals that maps each to one at the given distance.

    It is a perfect matching of sources with targets, grown in random order: any such permutation
    may result, but not with equal probabilities.
    """

    name = "switch-permutation"
    summary = (
        "All terminals of a switch send to those of a neighbouring switch, or a more distant one"
    )
    citations = (works.CAMARERO2022("switch permutation to neighbor"),)
    Parameters = SwitchPermutationParameters

    def supports(self, topology: Topology) -> str | None:
        """Require two terminals, and that such a permutation exists."""
        reason = too_few_terminals(topology)
        if reason:
            return reason
        distance = self.parameters.distance
        _, short = onto_neighbours(*_neighbours(topology, distance, np.random.PCG64(0)))
        if not short:
            return None
        names = [topology.switch_names[topology.endpoints[end]] for end in short[:3]]
        more = ", ..." if len(short) > 3 else ""
        partner = "a neighbour" if distance == 1 else f"one at distance {distance}"
        targets = "neighbours" if distance == 1 else "such switches"
        return (
            f"no permutation sends every switch to {partner}: {len(short)} switches "
            f"({', '.join(names)}{more}) have only {len(short) - 1} {targets} with terminals"
        )

    def demand(self, topology: Topology, seed: int) -> Demand:
        """Send from the i-th terminal to the i-th, or to all if switches differ in terminals."""
        bits, distance = self.parameters.bits(seed), self.parameters.distance
        to, _ = onto_neighbours(*_neighbours(topology, distance, bits))
        target = "a neighbouring switch" if distance == 1 else f"a switch {distance} hops away"
        terminals = np.argsort(topology.terminal_switch, kind="stable")
        count = topology.demand
        if (count == count[0]).all():
            by_switch = terminals.reshape(len(to), -1)
            targets = np.empty_like(terminals)
            targets[by_switch] = by_switch[to]
            return Demand.permutation(
                targets, f"the i-th terminal of a switch to the i-th of {target}"
            )
        row = np.searchsorted(topology.endpoints, topology.terminal_switch)
        return Demand.create(
            rate=np.ones(len(row)),
            part_start=np.arange(len(row) + 1),
            part_share=np.ones(len(row)),
            part_set=np.array(to)[row],
            set_start=np.concatenate(([0], np.cumsum(count))),
            members=terminals,
            to_self=False,
            convention=f"all terminals of a switch to all of {target}, equally",
        )


def _neighbours(
    topology: Topology, distance: int, bits: np.random.PCG64
) -> tuple[list[list[int]], list[int]]:
    """Return the endpoints at a distance from each one, and all endpoints, in random orders."""
    ends = topology.endpoints
    start, channel = topology.outgoing
    hops, queue = np.empty((2, topology.num_switches), dtype=np.int32)
    partners = []
    for end in ends.tolist():
        hop_distances(start, channel, topology.channel_target, end, hops, queue)
        partners.append(np.flatnonzero(hops[ends] == distance))
    source = np.repeat(np.arange(len(ends)), list(map(len, partners)))
    target = np.concatenate(partners)
    order = random_order(len(source), bits)
    neighbours: list[list[int]] = [[] for _ in ends]
    for row, neighbour in zip(source[order].tolist(), target[order].tolist(), strict=True):
        neighbours[row].append(neighbour)
    return neighbours, random_order(len(ends), bits).tolist()
