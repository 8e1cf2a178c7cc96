"""Links between the groups of hierarchical networks: Dragonfly and Megafly.

Every group has the same number of global ports, numbered from 0: port q belongs to switch q // h of
the group if each switch has h of them. With G groups, each round of G − 1 ports of a group leads to
every other group once. The ports left over may be too few for a whole round. Then a last round
leads to the nearest groups on both sides (and the opposite one), at the same distances from every
group.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from routelab.api.errors import InputError
from routelab.api.parameters import Parameters, parameter
from routelab.api.topology import Int64Array
from routelab.toolkit.failures import FailureParameters
from routelab.toolkit.families.linked_network import random_orders

Arrangement = Literal["palmtree", "consecutive", "random"]


class _Arrangement(Parameters):
    arrangement: Arrangement = parameter(
        "palmtree",
        description="Order of global links: the same from every group (palmtree), by the number of "
        "the other group (consecutive), or random",
    )


class ArrangementParameters(FailureParameters, _Arrangement):
    """Arrangement of global links, and failures.

    As the first of two base classes it adds its parameters after those of the other one.
    """

    seed: int = parameter(
        0, ge=0, description="Seed of a random arrangement and of the random failures"
    )


def check_groups(family: str, groups: int, switches: int, h: int, *, letter: str) -> None:
    """Raise an error if the global links of a group do not reach all other groups.

    Parameters
    ----------
    family : str
    groups : int
    switches : int
        Switches of a group that have global links.
    h : int
        Global links at each of them.
    letter : str
        Parameter that has the number of `switches`.

    Raises
    ------
    InputError
        With the nearest values of each parameter that fit.
    """
    limit = switches * h + 1
    if groups > limit:
        raise InputError(
            f"{family}: groups={groups} is more than {letter}·h + 1 = {limit}: the "
            f"{letter}={switches} switches of a group have {switches * h} global links; use "
            f"groups={limit}, {letter}={-(-(groups - 1) // h)} or h={-(-(groups - 1) // switches)}"
        )


@dataclass(frozen=True, eq=False)
class GlobalLinks:
    """Global links of a network of groups.

    Attributes
    ----------
    group, port : int64 arrays, shape (L, 2)
        Groups at the ends of each link, and their global ports.
    least, most : int
        Smallest and largest number of links between two groups.
    unused : int
        Global ports of each group without a link: 0, or 1 if a link cannot have two ends.
    """

    group: Int64Array
    port: Int64Array
    least: int
    most: int
    unused: int

    def facts(self, local_links: int) -> dict[str, Any]:
        """Return facts of the network with so many links inside groups."""
        return {
            "cables": {"local": local_links, "global": len(self.group)},
            "links_between_groups": sorted({self.least, self.most}),
            **({"unused_ports_of_a_group": self.unused} if self.unused else {}),
        }


def global_links(groups: int, ports: int, arrangement: Arrangement, seed: int) -> GlobalLinks:
    """Join the groups of a network.

    ``palmtree`` joins port q of group g, in the first round, to group g − q − 1 (modulo G), so that
    the network looks the same from every group. ``consecutive`` joins the ports of a round to the
    other groups in ascending order of their numbers. ``random`` has the links of ``consecutive``
    at a random order of each group's ports, from stream 0 of the seed. Camarero, Vallejo and
    Beivide, *Topological Characterization of Hamming and Dragonfly Networks and Its Implications
    on Routing*, 2014, doi 10.1145/2677038, define the first two.

    Parameters
    ----------
    groups : int
        G, at least 2.
    ports : int
        Global ports of each group, at least G − 1.
    arrangement : {"palmtree", "consecutive", "random"}
    seed : int
        Of a random arrangement.
    """
    rounds, remainder = divmod(ports, groups - 1)
    unused = remainder % 2 if groups % 2 else 0
    # The last round reaches the nearest groups on both sides and, if their number is odd, the
    # opposite one: distances from 1 to G − 1, ascending.
    beside = np.arange(1, (remainder - unused) // 2 + 1)
    opposite_group = [groups // 2] if (remainder - unused) % 2 else []
    nearest = np.concatenate((beside, opposite_group, groups - beside[::-1])).astype(np.int64)
    parts = []
    for i in range(rounds):
        opposite = rounds - 1 - i if arrangement == "palmtree" else i
        starts = np.array([i, opposite]) * (groups - 1)
        parts.append(_round(groups, np.arange(1, groups), starts, arrangement))
    if len(nearest):
        starts = np.full(2, rounds * (groups - 1))
        parts.append(_round(groups, nearest, starts, arrangement))
    group = np.concatenate([part[0] for part in parts])
    port = np.concatenate([part[1] for part in parts])
    if arrangement == "random":
        port = random_orders(seed, 0, groups, ports)[group, port]
    return GlobalLinks(group, port, rounds, rounds + (len(nearest) > 0), unused)


def _round(
    groups: int, distances: Int64Array, starts: Int64Array, arrangement: Arrangement
) -> tuple[Int64Array, Int64Array]:
    """Join every group to those at the `distances`, by ports behind `starts` at the two ends."""
    number = np.arange(groups)[:, np.newaxis]
    peers = (number - distances) % groups
    if arrangement != "palmtree":
        peers.sort(axis=1)
    place = np.zeros((groups, groups), dtype=np.int64)
    place[number, peers] = np.arange(len(distances))
    low, x = np.nonzero(number < peers)
    high = peers[low, x]
    port = np.stack((starts[0] + x, starts[1] + place[high, low]), axis=1)
    return np.stack((low, high), axis=1), port
