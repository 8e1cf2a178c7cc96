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

from .matching import match_all


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
        # whether a permutation exists does not depend on the random order
        partners, order = _random_partners(topology, distance, np.random.PCG64(0))
        _, competing = match_all(partners, order)
        if not competing:
            return None
        names = [topology.switch_names[topology.endpoints[end]] for end in competing[:3]]
        more = ", ..." if len(competing) > 3 else ""
        partner = "a neighbour" if distance == 1 else f"one at distance {distance}"
        targets = "neighbours" if distance == 1 else "such switches"
        # a failed search has found one partner less than competing switches
        return (
            f"no permutation sends every switch to {partner}: {len(competing)} switches "
            f"({', '.join(names)}{more}) have only {len(competing) - 1} {targets} with terminals"
        )

    def demand(self, topology: Topology, seed: int) -> Demand:
        """Send from the i-th terminal to the i-th, or to all if switches differ in terminals."""
        random, distance = self.parameters.random(seed), self.parameters.distance
        partners, order = _random_partners(topology, distance, random)
        # by index among the endpoints, the switches with terminals
        target_endpoint, _ = match_all(partners, order)
        target = "a neighbouring switch" if distance == 1 else f"a switch {distance} hops away"
        terminals = np.argsort(topology.terminal_switch, kind="stable")  # switch after switch
        count = topology.demand  # terminals of each endpoint
        if (count == count[0]).all():
            by_endpoint = terminals.reshape(len(target_endpoint), -1)
            targets = np.empty_like(terminals)
            targets[by_endpoint] = by_endpoint[target_endpoint]
            return Demand.permutation(
                targets, f"the i-th terminal of a switch to the i-th of {target}"
            )
        # each terminal has one part; set e has the terminals of endpoint e
        endpoint = np.searchsorted(topology.endpoints, topology.terminal_switch)
        return Demand.create(
            rate=np.ones(len(endpoint)),
            part_start=np.arange(len(endpoint) + 1),
            part_share=np.ones(len(endpoint)),
            part_set=np.array(target_endpoint)[endpoint],
            set_start=np.concatenate(([0], np.cumsum(count))),
            members=terminals,
            to_self=False,
            convention=f"all terminals of a switch to all of {target}, equally",
        )


def _random_partners(
    topology: Topology, distance: int, random: np.random.PCG64
) -> tuple[list[list[int]], list[int]]:
    """Return the endpoints at a distance from each one, and all endpoints, in random orders.

    Endpoints are indices in `Topology.endpoints`.
    """
    ends = topology.endpoints
    start, channel = topology.outgoing
    hops, queue = np.empty((2, topology.num_switches), dtype=np.int32)
    at_distance = []
    for end in ends.tolist():
        hop_distances(start, channel, topology.channel_target, end, hops, queue)
        at_distance.append(np.flatnonzero(hops[ends] == distance))
    # One random order of all pairs gives each endpoint its partners in random order.
    source = np.repeat(np.arange(len(ends)), list(map(len, at_distance)))
    target = np.concatenate(at_distance)
    pair_order = random_order(len(source), random)
    partners: list[list[int]] = [[] for _ in ends]
    for end, partner in zip(source[pair_order].tolist(), target[pair_order].tolist(), strict=True):
        partners[end].append(partner)
    return partners, random_order(len(ends), random).tolist()
