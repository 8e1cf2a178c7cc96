"""A perfect matching by augmenting paths."""

from __future__ import annotations

from collections.abc import Sequence


def onto_neighbours(
    neighbours: Sequence[Sequence[int]], order: Sequence[int]
) -> tuple[list[int], list[int]]:
    """Give everybody a neighbour of their own.

    One after the other gets a free neighbour or, along a shortest augmenting path, one that another
    can do without (Kuhn's algorithm); O(V E), and near to O(E) where neighbours are many.

    Parameters
    ----------
    neighbours : sequence of sequences of int
        Whom each can go to; tried in this order.
    order : sequence of int
        Whose turn comes when.

    Returns
    -------
    target : list of int
        Neighbour of each, no two the same; −1 for those without, if there are any.
    short : list of int
        Empty, or some who have fewer neighbours together than they are: the proof that not all can
        have one of their own.
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
    """Give `first` a neighbour; where that is impossible, all whom it would have to push aside."""
    came_from: dict[int, int] = {}
    waiting = [first]
    for mover in waiting:  # grows while it is read
        for place in neighbours[mover]:
            if place in came_from:
                continue
            came_from[place] = mover
            if owner[place] >= 0:
                waiting.append(owner[place])
                continue
            while place >= 0:
                # who takes the place leaves its own to the one that pushed it aside
                mover = came_from[place]
                left = target[mover]
                target[mover], owner[place] = place, mover
                place = left
            return []
    return waiting
