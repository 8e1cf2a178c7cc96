"""Shortest-route graphs of all sources, and the paths that make up a flow on them.

A *source graph* holds the edges of a routing graph that lie on shortest legal routes of one source.
Any path in it from the source's begin vertex to a place where packets leave it is such a route, so
the packets of one source may be mixed: a flow on the source graph is enough to know the channels'
loads, and falls apart into routes of single pairs afterwards.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from routelab.kernels.jit import jit


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


@jit
def decompose(graph, sources, lengths, flow, leaving, tolerance):
    """Decompose a flow into paths.

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
        Largest flow that counts as zero.

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
                    f = widest = last_in[v]
                    while f >= 0:
                        if flow[f] >= flow[widest]:
                            widest = f
                        f = before[f]
                    walk[d] = widest
                    amount = min(amount, flow[widest])
                    v = graph.edge_source[sources.edge[widest]]
                if amount <= tolerance:
                    # the rest is the solver's rounding error
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
