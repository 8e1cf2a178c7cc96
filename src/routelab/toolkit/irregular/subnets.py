"""Parts of a network that bridges join: each of their links lies on a cycle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Subnet:
    """Switches that remain connected if any one of their links fails.

    Attributes
    ----------
    start : int
        The root, or the switch with the bridge to a subnet before.
    switches : frozenset of int
    """

    start: int
    switches: frozenset[int]


def subnets_of(neighbours: Sequence[Sequence[int]], roots: Sequence[int]) -> list[Subnet]:
    """Return the subnets of a network, each after the one that its bridge to the root leads to.

    Parameters
    ----------
    neighbours : sequence of sequences of int
        See `routelab.toolkit.irregular.neighbours_of`.
    roots : sequence of int
        All switches; the first of each connected part is its root.
    """
    number, low, parent = _search(neighbours, roots)
    subnets: list[Subnet] = []
    # the first switch of a subnet that a depth-first search meets is where its bridge ends
    place: dict[int, int] = {}
    members: list[list[int]] = []
    starts: list[int] = []
    for switch in sorted(range(len(neighbours)), key=number.__getitem__):
        if parent[switch] < 0 or low[switch] == number[switch]:
            place[switch] = len(members)
            members.append([])
            starts.append(switch)
        else:
            place[switch] = place[parent[switch]]
        members[place[switch]].append(switch)
    for start, switches in zip(starts, members, strict=True):
        subnets.append(Subnet(start, frozenset(switches)))
    return subnets


def _search(
    neighbours: Sequence[Sequence[int]], roots: Sequence[int]
) -> tuple[list[int], list[int], list[int]]:
    """Return preorder number, lowest number reached, and parent (−1: root) of each switch."""
    count = len(neighbours)
    number, low, parent = [-1] * count, [0] * count, [-1] * count
    next_number = 0
    for root in roots:
        if number[root] >= 0:
            continue
        number[root] = low[root] = next_number
        next_number += 1
        path = [(root, iter(neighbours[root]))]
        while path:
            switch, links = path[-1]
            neighbour = next(links, -1)
            if neighbour < 0:
                path.pop()
                if path:
                    above = path[-1][0]
                    low[above] = min(low[above], low[switch])
            elif number[neighbour] < 0:
                number[neighbour] = low[neighbour] = next_number
                next_number += 1
                parent[neighbour] = switch
                path.append((neighbour, iter(neighbours[neighbour])))
            elif neighbour != parent[switch]:
                low[switch] = min(low[switch], number[neighbour])
    return number, low, parent
