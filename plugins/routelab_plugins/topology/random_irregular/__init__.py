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
    """A random connected network; a switch has as many links as its free ports allow."""

    name = "random-irregular"
    summary = "Random irregular network of switches with few ports, always connected"
    Parameters = RandomIrregularParameters

    def build(self) -> Topology:
        """Draw a network.

        A random tree joins the switches first: each switch, in random order, is linked to a random
        earlier one with a free port. Then random pairs of switches with free ports and without a
        link are joined. If none is left too early, all is drawn again. Random numbers are the raw
        output of stream 0 of the seed (`routelab.toolkit.families.linked_network.random_numbers`).

        Raises
        ------
        InputError
            If no network has these parameters, the network is too large, or more parts shall fail
            than exist.
        """
        parameters = self.parameters
        count, links = parameters.switches, parameters.links
        free = parameters.ports - parameters.terminals
        self._check(free)
        # The tree may use up all free ports, or the last open ports may belong to switches that are
        # linked already. Further draws continue the same stream of random numbers.
        source = random_numbers(parameters.seed, 0)
        for _ in range(ATTEMPTS):
            ends = _draw(count, links, free, source)
            if ends is not None:
                break
        else:
            raise InputError(
                f"{self.name}: {ATTEMPTS} draws gave no network of {links} links between {count} "
                f"switches with {free} ports each; use fewer links or more ports"
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

    def _check(self, free: int) -> None:
        """Raise an error if no network has these parameters."""
        parameters = self.parameters
        count = parameters.switches
        most = min(count * (count - 1) // 2, count * max(free, 0) // 2)
        if free < 1 or most < count - 1:
            raise InputError(
                f"{self.name}: {parameters.terminals} terminals leave {max(free, 0)} of "
                f"{parameters.ports} ports for links, too few to connect {count} switches"
            )
        if not count - 1 <= parameters.links <= most:
            raise InputError(
                f"{self.name}: links is {parameters.links}; {count} switches with {free} ports "
                f"for links need {count - 1} to be connected and can have {most}"
            )
        check_size(self.name, count, parameters.links)


def _draw(count: int, links: int, free: int, source: np.random.PCG64) -> Int64Array | None:
    """Return the switches at the ends of each link; int64, shape (L, 2). None for a dead end."""
    order = np.argsort(source.random_raw(count), kind="stable").tolist()
    free_ports = [free] * count
    pairs: set[tuple[int, int]] = set()

    def join(switch: int, neighbour: int) -> None:
        pairs.add((min(switch, neighbour), max(switch, neighbour)))
        free_ports[switch] -= 1
        free_ports[neighbour] -= 1

    open_switches = [order[0]]
    for place, switch in enumerate(order[1:]):
        chosen = int(source.random_raw()) % len(open_switches)
        join(switch, open_switches[chosen])
        if not free_ports[open_switches[chosen]]:
            del open_switches[chosen]
        if free_ports[switch]:
            open_switches.append(switch)
        # the last switch may take the last free port
        if not open_switches and place < count - 2:
            return None
    while len(pairs) < links:
        pair = _open_pair([switch for switch in range(count) if free_ports[switch]], pairs, source)
        if pair is None:
            return None
        join(*pair)
    return np.array(sorted(pairs), dtype=np.int64)


def _open_pair(
    switches: list[int], pairs: set[tuple[int, int]], source: np.random.PCG64
) -> tuple[int, int] | None:
    """Return a random pair of the switches that is not linked yet; None if all are."""
    for first, second in source.random_raw((TRIES, 2)).tolist() if len(switches) > 1 else ():
        pair = switches[first % len(switches)], switches[second % len(switches)]
        if pair[0] < pair[1] and pair not in pairs:
            return pair
    # few are left: choose from a list
    open_pairs = [pair for pair in combinations(switches, 2) if pair not in pairs]
    return open_pairs[int(source.random_raw()) % len(open_pairs)] if open_pairs else None
