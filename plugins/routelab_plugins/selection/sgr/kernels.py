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
        packets may leave the network, and the index of the endpoint that they have reached.
        Ascending by target.
    """

    edge_start: NDArray[np.int64]
    edge: NDArray[np.int32]
    exit_start: NDArray[np.int64]
    exit_vertex: NDArray[np.int32]
    exit_target: NDArray[np.int32]


@jit
def decompose(graph, sources, lengths, edge_flow, exit_flow, tolerance):
    """Decompose the flow of each source into weighted paths of single pairs.

    A path is followed from an exit back to the source, always over the edge with the largest flow
    left; of equal ones over the first. Its flow is the least flow left on its edges and at its
    exit, and is subtracted from them. So every path uses up an edge or an exit, and there are no
    more paths than edges and exits together.

    Parameters
    ----------
    graph : GraphArrays
    sources : SourceGraphs
    lengths : int32 array, shape (P, P)
        Hops of the shortest legal route of each pair.
    edge_flow : float64 array
        Flow on each edge of the source graphs, in terminal pairs. Updated: used up.
    exit_flow : float64 array
        Flow that leaves by each exit. Updated: used up.
    tolerance : float
        Largest flow that counts as zero.

    Returns
    -------
    path_pair : int64 array
        Pair i · P + j of each path, ascending.
    path_flow : float64 array
        Terminal pairs that take the path; a fraction is possible.
    hops : int32 array
        Channels of all paths, path after path.
    """
    num_endpoints = len(lengths)
    last_in = np.full(len(graph.vertex_switch), -1, np.int64)
    previous_in = np.full(len(edge_flow), -1, np.int64)
    max_paths = len(edge_flow) + len(exit_flow)
    path_pair = np.empty(max_paths, np.int64)
    path_flow = np.empty(max_paths, np.float64)
    hops = np.empty(1024, np.int32)
    walk = np.empty(max(lengths.max(), 1), np.int64)
    num_paths = num_hops = 0
    for i in range(num_endpoints):
        first, last = sources.edge_start[i], sources.edge_start[i + 1]
        # 1. The edges into each vertex v as a linked list, the last one first: last_in[v], then
        #    previous_in of that edge, and so on to -1. So of equal flows the one that comes last in
        #    the list is the first one in the order of edges.
        for edge_number in range(first, last):
            v = graph.edge_target[sources.edge[edge_number]]
            previous_in[edge_number] = last_in[v]
            last_in[v] = edge_number
        for exit_number in range(sources.exit_start[i], sources.exit_start[i + 1]):
            # 2. Paths that end at this exit, until its flow is used up.
            j = sources.exit_target[exit_number]
            length = lengths[i, j]
            while exit_flow[exit_number] > tolerance:
                # 3. Follow a path from its last hop to its first one.
                path_amount = exit_flow[exit_number]
                v = sources.exit_vertex[exit_number]
                for h in range(length - 1, -1, -1):
                    edge_number = widest = last_in[v]
                    while edge_number >= 0:
                        if edge_flow[edge_number] >= edge_flow[widest]:
                            widest = edge_number
                        edge_number = previous_in[edge_number]
                    walk[h] = widest
                    path_amount = min(path_amount, edge_flow[widest])
                    v = graph.edge_source[sources.edge[widest]]
                if path_amount <= tolerance:
                    break  # the flow that is left at the exit is the solver's rounding error
                # 4. Subtract the path's flow, and append the path.
                if num_hops + length > len(hops):
                    hops = np.concatenate((hops, np.empty(len(hops) + length, np.int32)))
                for h in range(length):
                    edge_flow[walk[h]] -= path_amount
                    hops[num_hops + h] = graph.edge_channel[sources.edge[walk[h]]]
                exit_flow[exit_number] -= path_amount
                path_pair[num_paths] = i * num_endpoints + j
                path_flow[num_paths] = path_amount
                num_paths += 1
                num_hops += length
        # 5. Empty the lists for the next source.
        for edge_number in range(first, last):
            last_in[graph.edge_target[sources.edge[edge_number]]] = -1
    return path_pair[:num_paths], path_flow[:num_paths], hops[:num_hops]
