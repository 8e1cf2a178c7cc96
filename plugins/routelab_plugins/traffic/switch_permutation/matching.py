"""A perfect matching by augmenting paths."""

from __future__ import annotations

from collections.abc import Sequence


def onto_neighbours(
    neighbours: Sequence[Sequence[int]], order: Sequence[int]
) -> tuple[list[int], list[int]]:
    """Assign different neighbours to all vertices.

    One after the other gets a free neighbour or, along a shortest augmenting path, a neighbour that
    another vertex can exchange (Kuhn's algorithm); O(V E), near O(E) with many neighbours.

    Parameters
    ----------
    neighbours : sequence of sequences of int
        Neighbours of each vertex, tried in this order.
    order : sequence of int
        Order of the vertices.

    Returns
    -------
    target : list of int
        Neighbour of each, all different; −1 for vertices without one.
    short : list of int
        Empty, or vertices with fewer neighbours in total than vertices: the proof that no
        assignment exists.
    """
    target = [-1] * len(neighbours)
    owner = [-1] * len(neighbours)
    for first in order:
        short = _augment(first, neighbours, target, owner)
        if short:
            return target, short
    return target, []


def _augment(
    first: int, neighbours: Sequence[Sequence[int]], target: list[int], owner: list[int]
) -> list[int]:
    """Assign a neighbour to `first`; return the competing vertices if that is impossible."""
    came_from: dict[int, int] = {}
    waiting = [first]
    for mover in waiting:  # grows during the loop
        for place in neighbours[mover]:
            if place in came_from:
                continue
            came_from[place] = mover
            if owner[place] >= 0:
                waiting.append(owner[place])
                continue
            while place >= 0:
                # each displaced vertex takes the new place and frees its old one
                mover = came_from[place]
                freed = target[mover]
                target[mover], owner[place] = place, mover
                place = freed
            return []
    return waiting
