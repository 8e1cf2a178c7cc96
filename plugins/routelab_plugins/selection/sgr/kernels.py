"""Shortest-route graphs of all sources, and the paths that make up a flow on them.

A *source graph* holds the edges of a routing graph that lie on shortest legal routes of one source.
Any path in it from the source's begin vertex to a place where packets leave it is such a route, so
the packets of one source may be mixed: a flow on the source graph is enough to know the channels'
loads, and falls apart into routes of single pairs afterwards.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray


class SourceGraphs(NamedTuple):
    """The source graphs of P endpoints, one after another.

    Edges ``edge_start[i]:edge_start[i + 1]`` of ``edge`` (numbers of edges of the routing graph,
    the ones nearest to the source first) belong to endpoint i; ``exit_start``, ``exit_vertex``
    and ``exit_target`` (an endpoint) list the vertices in which packets may leave it, ascending by
    target.
    """

    edge_start: NDArray[np.int64]
    edge: NDArray[np.int32]
    exit_start: NDArray[np.int64]
    exit_vertex: NDArray[np.int32]
    exit_target: NDArray[np.int32]


@njit(cache=True)
def _levels_from(graph, root, level, queue):
    """Hops from a vertex to all others (−1: no way); the number of reached ones in `queue`."""
    level[:] = -1
    level[root] = 0
    queue[0] = root
    head, tail = 0, 1
    while head < tail:
        u = queue[head]
        head += 1
        for e in range(graph.edge_start[u], graph.edge_start[u + 1]):
            v = graph.edge_target[e]
            if level[v] < 0:
                level[v] = level[u] + 1
                queue[tail] = v
                tail += 1
    return tail


@njit(cache=True)
def _mark_useful(graph, queue, reached, level, useful):
    """Add to the marked vertices all that lie on a shortest way to one; count their edges."""
    edges = 0
    for k in range(reached - 1, -1, -1):
        u = queue[k]
        for e in range(graph.edge_start[u], graph.edge_start[u + 1]):
            v = graph.edge_target[e]
            if useful[v] and level[v] == level[u] + 1:
                useful[u] = True
                edges += 1
    return edges


@njit(cache=True)
def source_graphs(graph, endpoints, lengths):
    """The source graphs of all endpoints.

    Parameters
    ----------
    graph : GraphArrays
    endpoints : int32 array, shape (P,)
    lengths : int32 array, shape (P, P)
        From `routelab.kernels.graph.route_lengths`.

    Returns
    -------
    SourceGraphs
    """
    count, size = len(endpoints), len(graph.vertex_switch)
    place = np.full(graph.vertex_switch.max() + 1, -1, np.int64)
    for j in range(count):
        place[endpoints[j]] = j
    level = np.empty(size, np.int32)
    queue = np.empty(size, np.int32)
    useful = np.empty(size, np.bool_)
    edge_start = np.zeros(count + 1, np.int64)
    exit_start = np.zeros(count + 1, np.int64)
    # the first round counts, the second one writes
    edge = np.empty(0, np.int32)
    exit_vertex = np.empty(0, np.int32)
    exit_target = np.empty(0, np.int32)
    for writing in range(2):
        if writing:
            edge = np.empty(edge_start[-1], np.int32)
            exit_vertex = np.empty(exit_start[-1], np.int32)
            exit_target = np.empty(exit_start[-1], np.int32)
        for i in range(count):
            reached = _levels_from(graph, graph.begin[endpoints[i]], level, queue)
            useful[:] = False
            exits = exit_start[i]
            for k in range(reached):
                v = queue[k]
                j = place[graph.vertex_switch[v]]
                if j < 0 or j == i or not graph.accepting[v] or level[v] != lengths[i, j]:
                    continue
                useful[v] = True
                if writing:
                    exit_vertex[exits] = v
                    exit_target[exits] = j
                exits += 1
            edges = _mark_useful(graph, queue, reached, level, useful)
            if not writing:
                edge_start[i + 1] = edge_start[i] + edges
                exit_start[i + 1] = exits
                continue
            first, last = exit_start[i], exit_start[i + 1]
            order = np.argsort(exit_target[first:last], kind="mergesort")
            exit_vertex[first:last] = exit_vertex[first:last][order]
            exit_target[first:last] = exit_target[first:last][order]
            at = edge_start[i]
            for k in range(reached):
                u = queue[k]
                for e in range(graph.edge_start[u], graph.edge_start[u + 1]):
                    v = graph.edge_target[e]
                    if useful[v] and level[v] == level[u] + 1:
                        edge[at] = e
                        at += 1
    return SourceGraphs(edge_start, edge, exit_start, exit_vertex, exit_target)


@njit(cache=True)
def decompose(graph, sources, lengths, flow, leaving, tolerance):
    """Take paths off a flow until nothing is left of it.

    From each exit back to the source, always over the edge with the largest flow left, of equal
    ones the first; a path takes as much as its weakest part has. Every path uses up an edge or an
    exit, so there are no more of them than edges and exits.

    Parameters
    ----------
    graph : GraphArrays
    sources : SourceGraphs
    lengths : int32 array, shape (P, P)
    flow : float64 array
        On each edge of the source graphs; used up in place.
    leaving : float64 array
        Flow that leaves by each exit; used up in place.
    tolerance : float
        What counts as nothing.

    Returns
    -------
    path_pair : int64 array
        Ascending.
    path_flow : float64 array
    hops : int32 array
        Channels of all paths, path after path.
    """
    count = len(lengths)
    last_in = np.full(len(graph.vertex_switch), -1, np.int64)
    before = np.full(len(flow), -1, np.int64)
    room = len(flow) + len(leaving)
    path_pair = np.empty(room, np.int64)
    path_flow = np.empty(room, np.float64)
    hops = np.empty(1024, np.int32)
    walk = np.empty(max(lengths.max(), 1), np.int64)
    paths = used = 0
    for i in range(count):
        first, last = sources.edge_start[i], sources.edge_start[i + 1]
        # edges into each vertex as a list, the last one first
        for f in range(first, last):
            v = graph.edge_target[sources.edge[f]]
            before[f] = last_in[v]
            last_in[v] = f
        for x in range(sources.exit_start[i], sources.exit_start[i + 1]):
            j = sources.exit_target[x]
            length = lengths[i, j]
            while leaving[x] > tolerance:
                amount = leaving[x]
                v = sources.exit_vertex[x]
                for d in range(length - 1, -1, -1):
                    f = best = last_in[v]
                    while f >= 0:
                        if flow[f] >= flow[best]:
                            best = f
                        f = before[f]
                    walk[d] = best
                    amount = min(amount, flow[best])
                    v = graph.edge_source[sources.edge[best]]
                if amount <= tolerance:
                    # what is left is the solver's rounding
                    break
                if used + length > len(hops):
                    hops = np.concatenate((hops, np.empty(len(hops) + length, np.int32)))
                for d in range(length):
                    flow[walk[d]] -= amount
                    hops[used + d] = graph.edge_channel[sources.edge[walk[d]]]
                leaving[x] -= amount
                path_pair[paths] = i * count + j
                path_flow[paths] = amount
                paths += 1
                used += length
        for f in range(first, last):
            last_in[graph.edge_target[sources.edge[f]]] = -1
    return path_pair[:paths], path_flow[:paths], hops[:used]
