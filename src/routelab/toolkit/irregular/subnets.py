"""Subnets: the parts of a network that bridges join. A bridge is a link that lies on no cycle.

The bridge 2-3 joins the subnets {0, 1, 2} and {3, 4, 5} of this network:

    0-1, 1-2, 2-0    2-3    3-4, 4-5, 5-3
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Subnet:
    """Switches that remain connected if any one of their links fails.

    Attributes
    ----------
    start : int
        The root, or the end of the bridge that leads towards the root.
    switches : frozenset of int
    """

    start: int
    switches: frozenset[int]


def subnets_of(neighbours: Sequence[Sequence[int]], roots: Sequence[int]) -> list[Subnet]:
    """Return the subnets of a network; each comes after the one between it and the root.

    Parameters
    ----------
    neighbours : sequence of sequences of int
        Neighbours of each switch, each once; parallel cables are one link here.
    roots : sequence of int
        All switches; the first of each connected part is its root.
    """
    number, low, parent = _depth_first_search(neighbours, roots)
    # A switch begins a new subnet if it is a root, or if the link to its parent is a bridge: no
    # other link leads from the switch, or from below it in the tree, to an earlier switch, so that
    # its low number is its own number. Otherwise it is in the subnet of its parent, which comes
    # before it in preorder.
    subnet_of: dict[int, int] = {}
    members: list[list[int]] = []
    for switch in sorted(range(len(neighbours)), key=number.__getitem__):
        is_root, is_below_bridge = parent[switch] < 0, low[switch] == number[switch]
        if is_root or is_below_bridge:
            subnet_of[switch] = len(members)
            members.append([])
        else:
            subnet_of[switch] = subnet_of[parent[switch]]
        members[subnet_of[switch]].append(switch)
    # the first switch in preorder is the start
    return [Subnet(switches[0], frozenset(switches)) for switches in members]


def _depth_first_search(
    neighbours: Sequence[Sequence[int]], roots: Sequence[int]
) -> tuple[list[int], list[int], list[int]]:
    """Return preorder number, low number and parent (−1: root) of each switch, to find bridges.

    The low number (Tarjan) is the least preorder number that a switch reaches by going down the
    search tree, and then by at most one link that is not in the tree.
    """
    count = len(neighbours)
    number, low, parent = [-1] * count, [0] * count, [-1] * count
    next_number = 0
    for root in roots:
        if number[root] >= 0:
            continue
        number[root] = low[root] = next_number
        next_number += 1
        # the switches from the root to the current one, each with the neighbours not yet examined
        path = [(root, iter(neighbours[root]))]
        while path:
            switch, links = path[-1]
            neighbour = next(links, -1)
            if neighbour < 0:
                # No neighbour is left. The search goes back to the parent, which reaches all that
                # this switch reaches.
                path.pop()
                if path:
                    low[parent[switch]] = min(low[parent[switch]], low[switch])
            elif number[neighbour] < 0:
                number[neighbour] = low[neighbour] = next_number
                next_number += 1
                parent[neighbour] = switch
                path.append((neighbour, iter(neighbours[neighbour])))
            elif neighbour != parent[switch]:  # a link that is not in the tree
                low[switch] = min(low[switch], number[neighbour])
    return number, low, parent
