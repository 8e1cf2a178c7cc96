"""Random irregular networks: any number of links between switches with a limited number of ports.

Such networks are the usual test of routings for any topology. Neighbours have one link at most.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from routelab.api import InputError, Parameters, Topology, TopologyPlugin, parameter
from routelab.api.topology import Int64Array
from routelab.toolkit.failures import FailureParameters
from routelab.toolkit.families.linked_network import (
    check_size,
    linked_network,
    ports_by_neighbour,
    random_numbers,
)

TRIES = 8
"""Random pairs that are drawn before all pairs without a link are listed."""
ATTEMPTS = 1000
"""Samples that are drawn before the parameters count as impossible."""


class RandomIrregularSize(Parameters):
    """Size of the network."""

    switches: int = parameter(16, ge=2, description="Number of switches")
    ports: int = parameter(
        8, ge=2, le=254, description="Ports of each switch, for terminals and links"
    )
    links: int = parameter(24, ge=1, description="Number of links between switches")
    terminals: int = parameter(4, ge=1, le=253, description="Terminals at each switch")


class RandomIrregularParameters(FailureParameters, RandomIrregularSize):
    """Size of the network, its seed, and its failures."""

    seed: int = parameter(0, ge=0, description="Seed of the network and of the random failures")


class RandomIrregular(TopologyPlugin):
    """A random connected network; a switch has at most as many links as ports without terminals."""

    name = "random-irregular"
    summary = "Random irregular network of switches with few ports, always connected"
    Parameters = RandomIrregularParameters

    def build(self) -> Topology:
        """Draw a network.

        A random tree joins the switches first: each switch, in random order, is linked to a random
        earlier one with a free port. Then random pairs of switches with free ports and without a
        link are joined. If no such pair is left before there are enough links, the whole network is
        drawn again. Random numbers are the raw output of stream 0 of the seed
        (`routelab.toolkit.families.linked_network.random_numbers`).

        Raises
        ------
        InputError
            If no network has these parameters, the network is too large, or more parts shall fail
            than exist.
        """
        parameters = self.parameters
        count, links = parameters.switches, parameters.links
        link_ports = parameters.ports - parameters.terminals  # at each switch
        self._require_possible(link_ports)
        # A draw fails if the tree uses up all free ports, or the last free ports belong to switches
        # that are linked already. Further draws continue the same stream of random numbers.
        random = random_numbers(parameters.seed, stream=0)
        for _ in range(ATTEMPTS):
            ends = _draw_links(count, links, link_ports=link_ports, random=random)
            if ends is not None:
                break
        else:
            raise InputError(
                f"{self.name}: {ATTEMPTS} draws gave no network of {links} links between {count} "
                f"switches with {link_ports} ports each; use fewer links or more ports"
            )
        return linked_network(
            self.name,
            switch_names=list(map(str, range(count))),
            ends=ends,
            ports=ports_by_neighbour(ends, count),
            terminal_switch=np.repeat(np.arange(count), parameters.terminals),
            parameters={
                "switches": count,
                "ports": parameters.ports,
                "links": links,
                "terminals_per_switch": parameters.terminals,
                "seed": parameters.seed,
            },
            facts={"cables": {"random": links}},
            failures=parameters,
        )

    def _require_possible(self, link_ports: int) -> None:
        """Raise an error if no network has these parameters.

        `link_ports`, the ports of a switch that are left for links, are below 0 if it has more
        terminals than ports.
        """
        parameters = self.parameters
        count = parameters.switches
        max_links = min(count * (count - 1) // 2, count * max(link_ports, 0) // 2)
        # a connected network has a spanning tree, which has count − 1 links
        if link_ports < 1 or max_links < count - 1:
            raise InputError(
                f"{self.name}: {parameters.terminals} terminals leave {max(link_ports, 0)} of "
                f"{parameters.ports} ports for links, too few to connect {count} switches"
            )
        if not count - 1 <= parameters.links <= max_links:
            raise InputError(
                f"{self.name}: links is {parameters.links}; {count} switches with {link_ports} "
                f"ports for links need {count - 1} to be connected and can have {max_links}"
            )
        check_size(self.name, count, parameters.links)


def _draw_links(
    count: int, links: int, *, link_ports: int, random: np.random.PCG64
) -> Int64Array | None:
    """Return the switches at the ends of each link of a random network; int64, shape (L, 2).

    `count` is the number of switches, `link_ports` the ports of each for links. None if this draw
    has no free port left before all switches are joined, or no pair of switches with free ports and
    without a link before there are `links` links.
    """
    order = np.argsort(random.random_raw(count), kind="stable").tolist()
    free_ports = [link_ports] * count
    pairs: set[tuple[int, int]] = set()

    def join(switch: int, neighbour: int) -> None:
        pairs.add((min(switch, neighbour), max(switch, neighbour)))
        free_ports[switch] -= 1
        free_ports[neighbour] -= 1

    # 1. A random tree: each switch is linked to an open one, an earlier switch with a free port.
    open_switches = [order[0]]
    for tree_size, switch in enumerate(order[1:], start=2):
        index = int(random.random_raw()) % len(open_switches)
        join(switch, open_switches[index])
        if not free_ports[open_switches[index]]:
            del open_switches[index]
        if free_ports[switch]:
            open_switches.append(switch)
        # the last switch of the tree may take the last free port
        if not open_switches and tree_size < count:
            return None
    # 2. Random links between switches with free ports.
    while len(pairs) < links:
        open_switches = [switch for switch in range(count) if free_ports[switch]]
        pair = _draw_pair(open_switches, pairs, random)
        if pair is None:
            return None
        join(*pair)
    return np.array(sorted(pairs), dtype=np.int64)


def _draw_pair(
    switches: list[int], pairs: set[tuple[int, int]], random: np.random.PCG64
) -> tuple[int, int] | None:
    """Return a random pair of `switches` that is not in `pairs`; None if all are."""
    # 1. Draw pairs until one has no link. `pairs` has the lower switch first. A pair is drawn in
    #    either order with the same probability, so dropping draws with the higher switch first, and
    #    those of a switch with itself, leaves all pairs equally likely.
    draws = random.random_raw((TRIES, 2)).tolist() if len(switches) > 1 else []
    for first, second in draws:
        pair = switches[first % len(switches)], switches[second % len(switches)]
        if pair[0] < pair[1] and pair not in pairs:
            return pair
    # 2. Few pairs without a link are left, or none: choose from a list of them.
    open_pairs = [pair for pair in combinations(switches, 2) if pair not in pairs]
    return open_pairs[int(random.random_raw()) % len(open_pairs)] if open_pairs else None
