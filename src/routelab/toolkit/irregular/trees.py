"""Orders of switches along spanning trees, one tree for each connected part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from routelab.api.topology import Int32Array, Topology
from routelab.kernels.distances import hop_distances

Parents = Literal["even", "first"]
"""Choice among the neighbours one level above; see `coordinated_tree`."""

PARENTS = "that with the fewest children so far (even), or the first that the search reached"
"""Choices of a parent, for descriptions of parameters."""


def levels_from(topology: Topology, root: int) -> Int32Array:
    """Return the hops to each switch from the root of its connected part; int32, shape (S,).

    `root` is the root of its part, the first switch of each other part is the root of that one.
    """
    num_switches = topology.num_switches
    level = np.full(num_switches, -1, dtype=np.int32)
    hops, queue = np.empty(num_switches, dtype=np.int32), np.empty(num_switches, dtype=np.int32)
    # A candidate that has no level yet is the root of another part.
    for candidate in [root, *range(num_switches)]:
        if level[candidate] < 0:
            # overwrites `hops`: −1 for the switches of other parts
            hop_distances(*topology.outgoing, topology.channel_target, candidate, hops, queue)
            level = np.where((level < 0) & (hops >= 0), hops, level)
    return level


def preorder_from(neighbours: Sequence[Sequence[int]], root: int) -> tuple[list[int], list[int]]:
    """Return the preorder numbers of a depth-first search, and the parent of each switch.

    The search tries neighbours in the given order. `root` is the root of its connected part, the
    first switch of each other part is the root of that one.

    Returns
    -------
    number : list of int
        From 0; parts follow each other.
    parent : list of int
        −1 for a root.
    """
    num_switches = len(neighbours)
    number, parent = [-1] * num_switches, [-1] * num_switches
    next_number = 0
    # A candidate that has no number yet is the root of another part.
    for candidate in [root, *range(num_switches)]:
        if number[candidate] >= 0:
            continue
        number[candidate] = next_number
        next_number += 1
        # the switches from the root to the current one, each with the neighbours not yet tried
        path = [(candidate, iter(neighbours[candidate]))]
        while path:
            switch, links = path[-1]
            child = next((child for child in links if number[child] < 0), -1)
            if child < 0:
                path.pop()
                continue
            number[child], parent[child] = next_number, switch
            next_number += 1
            path.append((child, iter(neighbours[child])))
    return number, parent


@dataclass(frozen=True)
class CoordinatedTree:
    """A breadth-first spanning tree, one for each part, and two coordinates of each switch.

    Attributes
    ----------
    x : list of int
        Preorder number, from left to right: a switch comes before its children.
    y : list of int
        Level: hops from the root; greater is lower.
    parent : list of int
        −1 for a root.
    """

    x: list[int]
    y: list[int]
    parent: list[int]

    def has_link(self, a: int, b: int) -> bool:
        """Whether the link between two switches is in the tree."""
        return self.parent[a] == b or self.parent[b] == a


def coordinated_tree(
    neighbours: Sequence[Sequence[int]], root: int, parents: Parents
) -> CoordinatedTree:
    """Return a breadth-first spanning tree of each connected part of a network.

    Parameters
    ----------
    neighbours : sequence of sequences of int
    root : int
        Root of its part; the first switch of each other part is the root of that one.
    parents : {"even", "first"}
        Which of the neighbours one level above becomes the parent of a switch. ``even``: the one
        with the fewest children so far, of equal ones the leftmost; switches with few such
        neighbours choose first. ``first``: the leftmost one.
    """
    num_switches = len(neighbours)
    level, parent = [-1] * num_switches, [-1] * num_switches
    children: list[list[int]] = [[] for _ in range(num_switches)]
    x, next_x = [-1] * num_switches, 0
    # A candidate that has no level yet is the root of another part.
    for candidate in [root, *range(num_switches)]:
        if level[candidate] >= 0:
            continue
        level[candidate] = 0
        # 1. Parents and children, level by level.
        layer = [candidate]
        while layer:
            layer = _next_layer(
                neighbours, layer, parents, level=level, parent=parent, children=children
            )
        # 2. Preorder numbers. The leftmost child is on top of the stack.
        stack = [candidate]
        while stack:
            switch = stack.pop()
            x[switch] = next_x
            next_x += 1
            stack += reversed(children[switch])
    return CoordinatedTree(x, level, parent)


def _next_layer(
    neighbours: Sequence[Sequence[int]],
    layer: Sequence[int],
    choice: Parents,
    *,
    level: list[int],
    parent: list[int],
    children: list[list[int]],
) -> list[int]:
    """Give each switch of the next level a parent; return these switches from left to right.

    `layer` has the switches of one level of the tree, from left to right. `choice` says which of
    several possible parents a switch gets: see `parents` of `coordinated_tree`.

    Updated: `level` and `parent` of the switches of the next level (−1 before), and `children` of
    the layer.
    """
    # 1. The switches of the next level, and for each its neighbours in `layer` from left to right.
    position = {switch: number for number, switch in enumerate(layer)}
    next_level = sorted({new for switch in layer for new in neighbours[switch] if level[new] < 0})
    possible_parents = {
        switch: sorted(set(neighbours[switch]) & set(layer), key=position.__getitem__)
        for switch in next_level
    }
    # 2. A parent for each. With "even", the switches with the fewest possible parents choose
    #    first, and each chooses the one with the fewest children so far.
    if choice == "even":
        next_level.sort(key=lambda switch: len(possible_parents[switch]))
    for switch in next_level:
        candidates = possible_parents[switch]
        if choice == "even":
            parent[switch] = min(candidates, key=lambda candidate: len(children[candidate]))
        else:
            parent[switch] = candidates[0]
        children[parent[switch]].append(switch)
        level[switch] = level[parent[switch]] + 1
    # 3. The new layer. Children of a switch are ordered by number, the lowest leftmost.
    for switch in layer:
        children[switch].sort()
    return [child for switch in layer for child in children[switch]]
