"""A perfect matching by augmenting paths."""

from __future__ import annotations

from collections.abc import Sequence


def match_all(
    neighbours: Sequence[Sequence[int]], order: Sequence[int]
) -> tuple[list[int], list[int]]:
    """Assign a neighbour to each vertex, no two the same: a matching in a bipartite graph.

    One vertex after the other gets a free neighbour. If it has none, it takes one from another
    vertex, which takes another one, and so on until a free one is found, along a shortest
    augmenting path (Kuhn's algorithm). O(V E), near O(E) with many neighbours.

    Parameters
    ----------
    neighbours : sequence of sequences of int
        Neighbours of each vertex, tried in this order. Vertices and neighbours are two sides of the
        graph, each numbered from 0, and equally many.
    order : sequence of int
        Order of the vertices.

    Returns
    -------
    target : list of int
        Neighbour of each vertex, all different; −1 for vertices without one.
    competing : list of int
        Empty, or a set of vertices with one neighbour less in total than vertices: the proof that
        no assignment exists (Hall's theorem).
    """
    target = [-1] * len(neighbours)
    owner = [-1] * len(neighbours)
    for vertex in order:
        competing = _augment(vertex, neighbours, target=target, owner=owner)
        if competing:
            return target, competing
    return target, []


def _augment(
    first: int, neighbours: Sequence[Sequence[int]], *, target: list[int], owner: list[int]
) -> list[int]:
    """Assign a neighbour to vertex `first`; return the competing vertices if that is impossible.

    `target`, the neighbour of each vertex, and its inverse `owner`, the vertex of each neighbour,
    are updated; −1: none.
    """
    # Breadth-first search for a free neighbour: `first` may take a neighbour from its owner, which
    # takes one of its other neighbours from that one's owner, and so on.
    reached_from: dict[int, int] = {}
    vertices = [first]
    for vertex in vertices:  # grows during the loop
        for neighbour in neighbours[vertex]:
            if neighbour in reached_from:
                continue
            reached_from[neighbour] = vertex
            if owner[neighbour] >= 0:
                vertices.append(owner[neighbour])
                continue
            # Back along the path: each vertex takes the free neighbour, and frees its former one
            # for the vertex before. `first` had none.
            free = neighbour
            while free >= 0:
                taker = reached_from[free]
                former = target[taker]
                target[taker], owner[free] = free, taker
                free = former
            return []
    # All neighbours of these vertices are owned by one of them, and `first` owns none: so there is
    # one neighbour less than vertices.
    return vertices
