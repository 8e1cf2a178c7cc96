"""Random regular graphs, also called Jellyfish.

Singla, Hong, Popa and Godfrey, *Jellyfish: Networking Data Centers Randomly*, NSDI 2012: a
uniform sample of all simple graphs of n switches with the same degree. Here it is one of all
*connected* ones. The switch chain used here converges to the uniform distribution in polynomial
time: Cooper, Dyer and Greenhill, *Sampling Regular Graphs and a Peer-to-Peer Network*,
Combinatorics, Probability and Computing 16(4), 2007.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from routelab.api import InputError, Parameters, Topology, TopologyPlugin, parameter
from routelab.api.topology import Int64Array
from routelab.toolkit.failures import FailureParameters
from routelab.toolkit.families.linked_network import (
    check_size,
    linked_network,
    ports_by_neighbour,
    random_numbers,
)
from routelab_plugins import works
from routelab_plugins.topology.random_regular.kernels import switch_links

STEPS_PER_LINK = 100
"""Steps of the switch chain for each link, before the graph counts as random."""
WORDS_AT_ONCE = 1 << 20
"""Random words that are drawn at once, 8 MB; a step of the chain takes one."""


class RandomRegularSize(Parameters):
    """Size of the graph."""

    n: int = parameter(64, ge=2, description="Number of switches")
    degree: int = parameter(12, ge=1, description="Links at each switch")
    terminals: int = parameter(1, ge=1, le=10_000, description="Terminals at each switch")


class RandomRegularParameters(FailureParameters, RandomRegularSize):
    """Size of the graph, its seed, and its failures."""

    seed: int = parameter(0, ge=0, description="Seed of the graph and of the random failures")


class RandomRegular(TopologyPlugin):
    """A random connected graph whose switches have the same number of links."""

    name = "random-regular"
    summary = "Random regular graph (Jellyfish), always connected"
    citations = (
        works.SINGLA2012("definition of the Jellyfish network"),
        works.COOPER2007("the switch chain, which samples regular graphs uniformly"),
    )
    Parameters = RandomRegularParameters

    def build(self) -> Topology:
        """Sample a graph.

        The switch chain starts from a circulant graph. A step draws two links and a direction of
        each, a → b and c → d, and replaces them by a-d and c-b unless the graph would not stay
        simple. As every step is as likely as its reverse, the chain converges to the uniform
        distribution over simple graphs. It makes `STEPS_PER_LINK` steps for each link, and repeats
        this while the graph is not connected. For degrees of n / 2 and more, the complement of the
        graph is sampled; for degree 2, the graph is a ring of all switches in random order. Both
        are always connected. Random numbers are the raw output of stream 0 of the seed
        (`routelab.toolkit.families.linked_network.random_numbers`). Port numbers follow the
        neighbours' numbers.

        Raises
        ------
        InputError
            If n · degree is odd, the degree is n or more, it is 1 and n is not 2, the network is
            too large, or more parts shall fail than exist.
        """
        parameters = self.parameters
        n, degree = parameters.n, parameters.degree
        self._require_possible()
        ends = _sample_links(n, degree, parameters.seed)
        return linked_network(
            self.name,
            switch_names=list(map(str, range(n))),
            ends=ends,
            ports=ports_by_neighbour(ends, n),
            terminal_switch=np.repeat(np.arange(n), parameters.terminals),
            parameters={
                "n": n,
                "degree": degree,
                "terminals_per_switch": parameters.terminals,
                "seed": parameters.seed,
            },
            facts={"cables": {"random": len(ends)}, "diameter_at_least": least_diameter(n, degree)},
            failures=parameters,
        )

    def _require_possible(self) -> None:
        """Raise an error if no graph has these parameters."""
        n, degree = self.parameters.n, self.parameters.degree
        request = f"random-regular: n={n}, degree={degree}"
        if degree >= n:
            raise InputError(
                f"{request}: a switch has at most n − 1 = {n - 1} neighbours; use degree={n - 1} "
                f"or less, or n={degree + 1} or more"
            )
        if n * degree % 2:
            # both are odd, so that degree + 1 is less than n
            raise InputError(
                f"{request}: n · degree = {n * degree} is odd, and every link has two ends; use "
                f"n={n + 1} or degree={degree + 1}"
            )
        if degree == 1 and n > 2:
            raise InputError(
                f"{request}: links of degree 1 only join pairs of switches, and the network is not "
                "connected; use degree=2 or n=2"
            )
        check_size(self.name, n, n * degree // 2)


def _sample_links(n: int, degree: int, seed: int) -> Int64Array:
    """Return the ends of the links of a random connected regular graph.

    int64, shape (L, 2), in ascending order; each link has the lower switch first.
    """
    random = random_numbers(seed, stream=0)
    if 2 * degree >= n:
        # The complement, in which a switch has the n − 1 − degree other neighbours, has fewer links
        # to sample. The graph is connected: two switches without a link have 2 · degree ≥ n links
        # to the n − 2 other switches, so they share a neighbour.
        complement = _sample_simple(n, n - 1 - degree, random)
        linked = ~np.eye(n, dtype=np.bool_)
        linked[np.arange(n)[:, np.newaxis], complement] = False
        return np.argwhere(np.triu(linked))
    if degree == 2:
        # Regular graphs of degree 2 consist of rings; the connected ones are a single ring.
        ring = np.argsort(random.random_raw(n), kind="stable")
        neighbours: NDArray[np.integer] = np.empty((n, 2), dtype=np.int64)
        neighbours[ring] = np.stack((np.roll(ring, 1), np.roll(ring, -1)), axis=1)
    else:
        neighbours = _sample_simple(n, degree, random)
        while not _is_connected(neighbours):
            _run_switch_chain(neighbours, random)
    # Each link once, from its lower end.
    neighbours.sort(axis=1)
    switch, column = np.nonzero(neighbours > np.arange(n)[:, np.newaxis])
    return np.stack((switch, neighbours[switch, column]), axis=1).astype(np.int64)


def _sample_simple(n: int, degree: int, random: np.random.PCG64) -> NDArray[np.integer]:
    """Return the neighbours in a random simple regular graph; int32, shape (n, degree).

    The chain starts from a ring in which each switch is linked to the nearest ones on both sides
    and, if the degree is odd, to the opposite one; n is even then.
    """
    one_side = np.arange(1, degree // 2 + 1)
    opposite = [n // 2] if degree % 2 else []
    distances = np.concatenate((one_side, -one_side, opposite)).astype(np.int64)
    neighbours = ((np.arange(n)[:, np.newaxis] + distances) % n).astype(np.int32)
    _run_switch_chain(neighbours, random)
    return neighbours


def _run_switch_chain(neighbours: NDArray[np.integer], random: np.random.PCG64) -> None:
    """Make `STEPS_PER_LINK` steps for each link of a graph, in place."""
    steps = STEPS_PER_LINK * neighbours.size // 2  # each link is in two rows
    for step in range(0, steps, WORDS_AT_ONCE):
        switch_links(neighbours, random.random_raw(min(WORDS_AT_ONCE, steps - step)))


def _is_connected(neighbours: NDArray[np.integer]) -> bool:
    """Return whether all switches can be reached from the first."""
    reached = np.zeros(len(neighbours), dtype=np.bool_)
    reached[0] = True
    frontier = np.array([0])
    while frontier.size:
        neighbours_found = np.unique(neighbours[frontier])
        frontier = neighbours_found[~reached[neighbours_found]]
        reached[frontier] = True
    return bool(reached.all())


def least_diameter(n: int, degree: int) -> int:
    """Return the least diameter at which the Moore bound of a degree allows n switches.

    Around a switch there are at most `degree` switches at distance 1 and degree − 1 times as many
    at each further distance as at the one before.
    """
    diameter = 1
    layer = degree  # most switches at this distance
    within_diameter = 1 + degree  # most switches at all distances up to this one
    while within_diameter < n:
        layer *= degree - 1
        within_diameter += layer
        diameter += 1
    return diameter
