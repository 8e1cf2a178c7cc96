"""A directed graph that stays acyclic while edges are added, one by one.

The vertices are kept in a topological order, as in Pearce and Kelly, *A Dynamic Topological Sort
Algorithm for Directed Acyclic Graphs*, ACM Journal of Experimental Algorithmics 11, 2006, doi
10.1145/1187436.1210590. An edge against the order starts two searches, one forwards from its head
and one backwards from its tail. Both stay inside the part of the order between them and take turns,
one vertex at a time. If they meet, the edge would close a cycle. If one of them ends, the vertices
that it found move behind (or before) the other end of the edge.

The edges come from a fixed graph, so that they have numbers and a state each. Callers mark an edge
that closes a cycle as forbidden, and do not try it again as long as the graph only grows.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from routelab.kernels.jit import helper

UNKNOWN, PRESENT, FORBIDDEN = 0, 1, 2
"""States of an edge: not in the graph, and perhaps possible; in the graph; closes a cycle."""


class Edges(NamedTuple):
    """All edges that may be added (R vertices, D edges); read-only.

    Attributes
    ----------
    start : int64 array, shape (R + 1,)
    target : int32 array, shape (D,)
        Vertex r has the edges ``start[r]`` to ``start[r + 1] - 1``.
    back_start : int64 array, shape (R + 1,)
    back_source, back_edge : int32 array, shape (D,)
        Source and number of the edges that enter each vertex.
    """

    start: NDArray[np.int64]
    target: NDArray[np.int32]
    back_start: NDArray[np.int64]
    back_source: NDArray[np.int32]
    back_edge: NDArray[np.int32]


class Acyclic(NamedTuple):
    """An acyclic graph; all of it changes.

    Attributes
    ----------
    state : uint8 array, shape (D,)
        Whether each edge is unknown, present or forbidden.
    position : int32 array, shape (R,)
        Position of each vertex in the topological order.
    vertex : int32 array, shape (R,)
        Vertex at each position.
    mark : int64 array, shape (R,)
        Search that last found the vertex: 2 n for the forward search of the nth pair of searches,
        2 n + 1 for the backward one; −1 for none. So marks need not be cleared.
    descendants, ancestors : int32 array, shape (R,)
        Scratch: vertices found by the forward and by the backward search.
    searches : int64 array, shape (1,)
        Number of pairs of searches so far.
    """

    state: NDArray[np.uint8]
    position: NDArray[np.int32]
    vertex: NDArray[np.int32]
    mark: NDArray[np.int64]
    descendants: NDArray[np.int32]
    ancestors: NDArray[np.int32]
    searches: NDArray[np.int64]


@helper()
def list_edges(start, target):
    """Return the `Edges` of a graph in CSR form, with lists of the edges that enter each vertex."""
    num_vertices = len(start) - 1
    back_start = np.zeros(num_vertices + 1, np.int64)
    for w in target:
        back_start[w + 1] += 1
    for v in range(num_vertices):
        back_start[v + 1] += back_start[v]
    next_free = back_start.copy()
    back_source = np.empty(len(target), np.int32)
    back_edge = np.empty(len(target), np.int32)
    for v in range(num_vertices):
        for e in range(start[v], start[v + 1]):
            w = target[e]
            back_source[next_free[w]] = v
            back_edge[next_free[w]] = e
            next_free[w] += 1
    return Edges(start, target, back_start, back_source, back_edge)


@helper()
def empty_graph(num_vertices, num_edges):
    """Return a graph without edges; each of `num_edges` may be added."""
    return Acyclic(
        state=np.zeros(num_edges, np.uint8),
        position=np.arange(num_vertices).astype(np.int32),
        vertex=np.arange(num_vertices).astype(np.int32),
        mark=np.full(num_vertices, -1, np.int64),
        descendants=np.empty(num_vertices, np.int32),
        ancestors=np.empty(num_vertices, np.int32),
        searches=np.zeros(1, np.int64),
    )


@helper()
def add_edge(edges, graph, tail, edge):
    """Add an edge and return True; return False, with the graph as it was, if it closes a cycle.

    Parameters
    ----------
    edges : Edges
    graph : Acyclic
        Updated: the state of the edge, and the topological order.
    tail : int
        Vertex that the edge leaves.
    edge : int
        Number of the edge.
    """
    head = edges.target[edge]
    if tail == head:
        return False
    head_position, tail_position = graph.position[head], graph.position[tail]
    # an edge that follows the order closes no cycle
    if head_position < tail_position and not _reorder(
        edges, graph, tail, head, head_position, tail_position
    ):
        return False
    graph.state[edge] = PRESENT
    return True


@helper()
def _reorder(edges, graph, tail, head, head_position, tail_position):
    """Change the order so that `tail` comes before `head`; False if a path leads from head to tail.

    `head` is at `head_position`, before `tail` at `tail_position`.
    """
    graph.searches[0] += 1
    forwards, backwards = 2 * graph.searches[0], 2 * graph.searches[0] + 1
    graph.descendants[0], graph.ancestors[0] = head, tail
    graph.mark[head], graph.mark[tail] = forwards, backwards
    num_descendants, num_ancestors, next_descendant, next_ancestor = 1, 1, 0, 0
    # The searches take turns, so that both together visit at most twice as many vertices as the
    # shorter one. Neither leaves the positions between head and tail, as the order is right outside
    # them.
    while True:
        # 1. One vertex forwards. If none is left, no path leads from the head to the tail.
        v = graph.descendants[next_descendant]
        next_descendant += 1
        for e in range(edges.start[v], edges.start[v + 1]):
            w = edges.target[e]
            if graph.state[e] != PRESENT or graph.position[w] > tail_position:
                continue
            if graph.mark[w] == backwards:
                return False
            if graph.mark[w] != forwards:
                graph.mark[w] = forwards
                graph.descendants[num_descendants] = w
                num_descendants += 1
        if next_descendant == num_descendants:
            _move_behind(graph, forwards, num_descendants, head_position, tail_position)
            return True
        # 2. One vertex backwards.
        v = graph.ancestors[next_ancestor]
        next_ancestor += 1
        for i in range(edges.back_start[v], edges.back_start[v + 1]):
            w = edges.back_source[i]
            if graph.state[edges.back_edge[i]] != PRESENT or graph.position[w] < head_position:
                continue
            if graph.mark[w] == forwards:
                return False
            if graph.mark[w] != backwards:
                graph.mark[w] = backwards
                graph.ancestors[num_ancestors] = w
                num_ancestors += 1
        if next_ancestor == num_ancestors:
            _move_before(graph, backwards, num_ancestors, head_position, tail_position)
            return True


@helper()
def _move_behind(graph, mark, num_marked, begin, end):
    """Move the marked vertices, all at positions from `begin` on, behind position `end`.

    Order head, a, x, b, tail with head and x marked: a, b, tail, head, x.
    """
    position, num_moved = begin, 0
    for old_position in range(begin, end + 1):
        v = graph.vertex[old_position]
        if graph.mark[v] == mark:
            # overwrites the search's list: now in the order of their positions
            graph.descendants[num_moved] = v
            num_moved += 1
        else:
            graph.vertex[position] = v
            graph.position[v] = position
            position += 1
    for i in range(num_marked):
        graph.vertex[position + i] = graph.descendants[i]
        graph.position[graph.descendants[i]] = position + i


@helper()
def _move_before(graph, mark, num_marked, begin, end):
    """Move the marked vertices, all at positions up to `end`, before position `begin`.

    Order head, a, x, b, tail with x and tail marked: x, tail, head, a, b.
    """
    position, num_moved = end, 0
    for old_position in range(end, begin - 1, -1):
        v = graph.vertex[old_position]
        if graph.mark[v] == mark:
            # overwrites the search's list: now in descending order of their positions
            graph.ancestors[num_moved] = v
            num_moved += 1
        else:
            graph.vertex[position] = v
            graph.position[v] = position
            position -= 1
    for i in range(num_marked):
        graph.vertex[position - i] = graph.ancestors[i]
        graph.position[graph.ancestors[i]] = position - i
