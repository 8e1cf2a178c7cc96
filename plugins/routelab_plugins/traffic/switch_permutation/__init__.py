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
        """Return why there are fewer than two terminals or no such permutation exists, or None."""
        reason = too_few_terminals(topology)
        if reason:
            return reason
        distance = self.parameters.distance
        # The search tries switches in random order; whether it succeeds does not depend on that.
        partners, order = _random_partners(topology, distance, np.random.PCG64(0))
        _, competing = match_all(partners, order)
        if not competing:
            return None
        names = [topology.switch_names[s] for s in topology.endpoints[competing[:3]].tolist()]
        more = ", ..." if len(competing) > 3 else ""
        partner = "a neighbour" if distance == 1 else f"one at distance {distance}"
        targets = "neighbours" if distance == 1 else "such switches"
        # `match_all` proves the failure by competing switches that have one partner less in total
        return (
            f"no permutation sends every switch to {partner}: {len(competing)} switches "
            f"({', '.join(names)}{more}) have only {len(competing) - 1} {targets} with terminals"
        )

    def demand(self, topology: Topology, seed: int) -> Demand:
        """Return demand from the i-th terminal of a switch to the i-th of its target switch.

        If switches have different numbers of terminals, each sends to all of the target switch.
        """
        random, distance = self.parameters.random(seed), self.parameters.distance
        partners, order = _random_partners(topology, distance, random)
        # Endpoints are the switches with terminals, numbered from 0 in `Topology.endpoints`.
        target_endpoint, _ = match_all(partners, order)
        target = "a neighbouring switch" if distance == 1 else f"a switch {distance} hops away"
        terminals = np.argsort(topology.terminal_switch, kind="stable")  # switch after switch
        num_terminals = topology.demand  # of each endpoint
        if (num_terminals == num_terminals[0]).all():
            # row e has the terminals of endpoint e
            terminals_of_endpoint = terminals.reshape(len(target_endpoint), -1)
            targets = np.empty_like(terminals)
            targets[terminals_of_endpoint] = terminals_of_endpoint[target_endpoint]
            return Demand.permutation(
                targets, f"the i-th terminal of a switch to the i-th of {target}"
            )
        # Each terminal has one part, the set of its target endpoint. Set e has the terminals of
        # endpoint e.
        endpoint = np.searchsorted(topology.endpoints, topology.terminal_switch)
        return Demand.create(
            rate=np.ones(len(endpoint)),
            part_start=np.arange(len(endpoint) + 1),
            part_share=np.ones(len(endpoint)),
            part_set=np.array(target_endpoint)[endpoint],
            set_start=np.concatenate(([0], np.cumsum(num_terminals))),
            members=terminals,
            to_self=False,
            convention=f"all terminals of a switch to all of {target}, equally",
        )


def _random_partners(
    topology: Topology, distance: int, random: np.random.PCG64
) -> tuple[list[list[int]], list[int]]:
    """Return the endpoints at a distance from each endpoint, and the order of the search.

    Both are in random order, for `match_all`. Endpoints are indices in `Topology.endpoints`.
    """
    endpoints = topology.endpoints
    start, channel = topology.outgoing
    hops, queue = np.empty((2, topology.num_switches), dtype=np.int32)
    at_distance = []
    for switch in endpoints.tolist():
        # fills `hops` with the distance of each switch; `queue` is its work space
        hop_distances(start, channel, topology.channel_target, switch, hops, queue)
        at_distance.append(np.flatnonzero(hops[endpoints] == distance))
    # One random order of all pairs gives each endpoint its partners in random order.
    source = np.repeat(np.arange(len(endpoints)), list(map(len, at_distance)))
    target = np.concatenate(at_distance)
    pair_order = random_order(len(source), random)
    partners: list[list[int]] = [[] for _ in endpoints]
    for endpoint, partner in zip(
        source[pair_order].tolist(), target[pair_order].tolist(), strict=True
    ):
        partners[endpoint].append(partner)
    return partners, random_order(len(endpoints), random).tolist()
