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

    Name it first of two base classes, as in ``class DragonflyParameters(ArrangementParameters,
    DragonflySize)``. Then the parameters of the other class, the size, come before these where the
    parameters are listed, as in the name of a network.
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
        Name that the parameter for `switches` has in the error, such as ``a``.

    Raises
    ------
    InputError
        With the nearest values of each parameter that fit.
    """
    limit = switches * h + 1
    if groups > limit:
        # the least number of switches, or of links at each, that suffices: quotients rounded up
        switches_needed, h_needed = -(-(groups - 1) // h), -(-(groups - 1) // switches)
        raise InputError(
            f"{family}: groups={groups} is more than {letter}·h + 1 = {limit}: the "
            f"{letter}={switches} switches of a group have {switches * h} global links; use "
            f"groups={limit}, {letter}={switches_needed} or h={h_needed}"
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
    # The last round reaches groups on both sides, so it uses an even number of ports, and one more
    # for the opposite group. An odd number of groups has none.
    unused = remainder % 2 if groups % 2 else 0
    # 1. Whole rounds. In a palm tree, port q of a round leads from group g to group g − q − 1, and
    #    the port back is G − 2 − q of its round. The rounds of the two groups are opposite, too:
    #    round i of the lower group of a link is round `rounds` − 1 − i of the higher one. So if all
    #    ports are numbered in one row, the two of a link add up to rounds · (G − 1) − 1. With 3
    #    groups and 4 ports, port 0 meets port 3.
    round_links = []
    for i in range(rounds):
        opposite_round = rounds - 1 - i if arrangement == "palmtree" else i
        first_ports = i * (groups - 1), opposite_round * (groups - 1)
        all_others = np.arange(1, groups)
        round_links.append(_link_one_round(groups, all_others, first_ports, arrangement))
    # 2. The last round reaches the nearest groups on both sides and, if their number is odd, the
    #    opposite one: distances from 1 to G − 1, ascending.
    one_side = np.arange(1, (remainder - unused) // 2 + 1)
    opposite_group = [groups // 2] if (remainder - unused) % 2 else []
    nearest = np.concatenate((one_side, opposite_group, groups - one_side[::-1])).astype(np.int64)
    if len(nearest):
        first_ports = rounds * (groups - 1), rounds * (groups - 1)
        round_links.append(_link_one_round(groups, nearest, first_ports, arrangement))
    group = np.concatenate([groups_at_ends for groups_at_ends, _ in round_links])
    port = np.concatenate([ports_at_ends for _, ports_at_ends in round_links])
    if arrangement == "random":
        port = random_orders(seed, 0, groups, ports)[group, port]
    most = rounds + 1 if len(nearest) else rounds
    return GlobalLinks(group=group, port=port, least=rounds, most=most, unused=unused)


def _link_one_round(
    groups: int, distances: Int64Array, first_ports: tuple[int, int], arrangement: Arrangement
) -> tuple[Int64Array, Int64Array]:
    """Link each group to the groups at the `distances` below it, modulo the number of groups.

    The links of three groups, each with its ports:

        palmtree       0:0 – 2:1    0:1 – 1:0    1:1 – 2:0
        consecutive    0:0 – 1:0    0:1 – 2:0    1:1 – 2:1

    Parameters
    ----------
    first_ports : tuple of int
        First port of the round, in the lower and in the higher group of each link.

    Returns
    -------
    group, port : int64 arrays, shape (L, 2)
        Ends of each link: the lower group, then the higher one.
    """
    # 1. Row g has the peers of group g, port after port: by distance in a palm tree, so that the
    #    network looks the same from every group; otherwise by number.
    group = np.arange(groups)[:, np.newaxis]
    peers = (group - distances) % groups
    if arrangement != "palmtree":
        peers.sort(axis=1)
    # 2. Each link is in the rows of both groups; take it from the lower one.
    port_to = np.zeros((groups, groups), dtype=np.int64)
    port_to[group, peers] = np.arange(len(distances))
    low, low_port = np.nonzero(group < peers)
    high = peers[low, low_port]
    ports = first_ports[0] + low_port, first_ports[1] + port_to[high, low]
    return np.stack((low, high), axis=1), np.stack(ports, axis=1)
