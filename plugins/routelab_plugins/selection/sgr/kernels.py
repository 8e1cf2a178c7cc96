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

    Attributes
    ----------
    edge_start : int64 array, shape (P + 1,)
    edge : int32 array
        The graph of endpoint i has the edges ``edge[edge_start[i]:edge_start[i + 1]]`` of the
        routing graph, the ones nearest to the source first.
    exit_start : int64 array, shape (P + 1,)
    exit_vertex, exit_target : int32 array
        Exits ``exit_start[i]`` to ``exit_start[i + 1] - 1`` of endpoint i: a vertex in which
        packets may leave the network, and the endpoint that they have reached. Ascending by target.
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
        On each edge of the source graphs. Updated: used up.
    leaving : float64 array
        Flow that leaves by each exit. Updated: used up.
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
    previous_in = np.full(len(flow), -1, np.int64)
    max_paths = len(flow) + len(leaving)
    path_pair = np.empty(max_paths, np.int64)
    path_flow = np.empty(max_paths, np.float64)
    hops = np.empty(1024, np.int32)
    walk = np.empty(max(lengths.max(), 1), np.int64)
    num_paths = num_hops = 0
    for i in range(count):
        first, last = sources.edge_start[i], sources.edge_start[i + 1]
        # Edges into each vertex as a linked list, the last one first. So the last of equal flows
        # found is the first one, in the order of edges.
        for edge_number in range(first, last):
            v = graph.edge_target[sources.edge[edge_number]]
            previous_in[edge_number] = last_in[v]
            last_in[v] = edge_number
        for exit_number in range(sources.exit_start[i], sources.exit_start[i + 1]):
            j = sources.exit_target[exit_number]
            length = lengths[i, j]
            while leaving[exit_number] > tolerance:
                amount = leaving[exit_number]
                v = sources.exit_vertex[exit_number]
                for h in range(length - 1, -1, -1):
                    edge_number = widest = last_in[v]
                    while edge_number >= 0:
                        if flow[edge_number] >= flow[widest]:
                            widest = edge_number
                        edge_number = previous_in[edge_number]
                    walk[h] = widest
                    amount = min(amount, flow[widest])
                    v = graph.edge_source[sources.edge[widest]]
                if amount <= tolerance:
                    # the rest is the solver's rounding error
                    break
                if num_hops + length > len(hops):
                    hops = np.concatenate((hops, np.empty(len(hops) + length, np.int32)))
                for h in range(length):
                    flow[walk[h]] -= amount
                    hops[num_hops + h] = graph.edge_channel[sources.edge[walk[h]]]
                leaving[exit_number] -= amount
                path_pair[num_paths] = i * count + j
                path_flow[num_paths] = amount
                num_paths += 1
                num_hops += length
        for edge_number in range(first, last):
            last_in[graph.edge_target[sources.edge[edge_number]]] = -1
    return path_pair[:num_paths], path_flow[:num_paths], hops[:num_hops]
