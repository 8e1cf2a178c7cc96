"""Slim Flies: the graphs of McKay, Miller and Širáň as networks.

Besta and Hoefler, *Slim Fly: A Cost Effective Low-Diameter Network Topology*, SC 2014,
doi 10.1109/SC.2014.34; Hafner, *Geometric Realisation of
the Graphs of McKay-Miller-Širáň*, Journal of Combinatorial Theory B 90(2), 2004,
doi 10.1016/j.jctb.2003.07.002. For a prime power q = 4w + δ with δ in {−1, 0, 1} there are 2q²
switches of degree (3q − δ) / 2, and any two are at most two hops apart. q = 5 is the
Hoffman-Singleton graph.
"""

from __future__ import annotations

import numpy as np

from routelab.api import Parameters, Topology, TopologyPlugin, parameter
from routelab.api.topology import Int64Array
from routelab.toolkit.failures import FailureParameters
from routelab.toolkit.families.finite_field import FiniteField, check_prime_power
from routelab.toolkit.families.groups import COORDINATE_NAMES, GROUP_COORDINATES
from routelab.toolkit.families.linked_network import (
    check_size,
    linked_network,
    ports_by_neighbour,
)
from routelab_plugins import works


class SlimFlySize(Parameters):
    """Size of the network."""

    q: int = parameter(
        5, ge=2, le=1000, description="Prime power, 0, 1 or 3 modulo 4; 2q² switches"
    )
    terminals: int | None = parameter(
        None,
        ge=1,
        le=10_000,
        description="Terminals at each switch; none: half of its links, rounded up",
    )


class SlimFlyParameters(FailureParameters, SlimFlySize):
    """Size of the network, and its failures."""


class SlimFly(TopologyPlugin):
    """Two halves of q² points and q² lines of a plane over the field of q elements."""

    name = "slim-fly"
    summary = "Slim Fly (MMS graph): diameter 2 for every prime power q that is not 2 modulo 4"
    citations = (
        works.BESTA2014("definition, terminals and racks of the Slim Fly"),
        works.HAFNER2004("definition of the graphs for every prime power"),
    )
    Parameters = SlimFlyParameters

    def build(self) -> Topology:
        """Build the network.

        Let ξ be a primitive element of the field (`routelab.toolkit.families.finite_field`). Switch
        ``0.x.y`` is linked to ``0.x.z`` if y − z is in X, ``1.m.c`` to ``1.m.d`` if c − d is in X',
        and ``0.x.y`` to ``1.m.c`` if y = m x + c. X and X' are ξ⁰, ξ², … and ξ¹, ξ³, … with
        ⌈(q − 1) / 2⌉ members each. If δ = −1, X has the first w even powers of ξ and the negatives
        of these, and X' the first w odd powers and their negatives. Coordinates are (half, x, y) by
        the numbers of elements; port numbers follow the neighbours' numbers. A rack holds the
        switches ``0.x.*`` and ``1.x.*`` of one x; cables inside racks are local.

        Raises
        ------
        InputError
            If q is 2 modulo 4 or not a prime power, the network is too large, or more parts shall
            fail than exist.
        """
        parameters = self.parameters
        q = parameters.q
        # q = 4w + δ; below, `check_prime_power` refuses the remainder 2
        delta = -1 if q % 4 == 3 else q % 4
        degree, count = (3 * q - delta) // 2, 2 * q * q
        terminals = (degree + 1) // 2 if parameters.terminals is None else parameters.terminals
        check_size(self.name, count, q * q * degree)
        check_prime_power(self.name, q, least=3, remainders=(0, 1, 3))
        ends = _links(FiniteField.of_order(q), delta)
        # the second coordinate of a switch, in both halves, is the number of its rack
        coordinates = np.stack(np.unravel_index(np.arange(count), (2, q, q)), axis=1)
        rack = coordinates[ends, 1]
        local = int(np.count_nonzero(rack[:, 0] == rack[:, 1]))
        return linked_network(
            self.name,
            switch_names=[".".join(map(str, row)) for row in coordinates.tolist()],
            ends=ends,
            ports=ports_by_neighbour(ends, count),
            terminal_switch=np.repeat(np.arange(count), terminals),
            parameters={
                "q": q,
                "delta": delta,
                "degree": degree,
                "terminals_per_switch": terminals,
                COORDINATE_NAMES: ["half", "x", "y"],
                GROUP_COORDINATES: [1],  # a group is a rack, the switches of one x
            },
            facts={
                "racks": q,
                "cables": {"local": local, "global": len(ends) - local},
                "diameter": 2,
                # two, less the share of ordered pairs with a link
                "mean_distance": 2 - degree / (count - 1),
            },
            coordinates=coordinates,
            failures=parameters,
        )


def _links(field: FiniteField, delta: int) -> Int64Array:
    """Return the switches at the ends of all links; int64, shape (L, 2)."""
    q = len(field.add)
    powers, element = field.powers, np.arange(q)
    # 1. The sets X and X' of the docstring of `build`: even and odd powers of ξ.
    generators = []
    for parity in (0, 1):
        if delta == -1:
            # with q = 4w − 1, the powers below 2w = (q + 1) / 2, and their negatives
            half_set = powers[parity : (q + 1) // 2 : 2]
            generators.append(np.concatenate((half_set, field.negative[half_set])))
        else:
            # X and X' have the exponents 0, 2 and 1, 3 for q = 5 and for q = 4. If q is even, the
            # last of them is q − 1, and ξ^(q − 1) = ξ⁰.
            generators.append(powers[np.arange(parity, q - 1 + parity, 2) % (q - 1)])
    # 2. Links inside a half: those of one row x (or m) are repeated in all rows.
    ends = []
    for half, differences in enumerate(generators):
        neighbour = field.add[:, differences]
        low, column = np.nonzero(element[:, np.newaxis] < neighbour)  # each link once
        pairs = np.stack((low, neighbour[low, column]), axis=1)
        first_switch = half * q * q + element[:, np.newaxis, np.newaxis] * q
        ends.append((first_switch + pairs).reshape(-1, 2))
    # 3. Links between the halves: x, m and c determine y.
    x, m, c = (axis.reshape(-1) for axis in np.indices((q, q, q)))
    y = field.add[field.multiply[m, x], c]
    ends.append(np.stack((x * q + y, q * q + m * q + c), axis=1))
    return np.concatenate(ends)
