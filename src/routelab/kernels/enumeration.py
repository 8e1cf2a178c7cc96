"""Enumeration of the shortest legal routes of all pairs."""

import numpy as np

from routelab.kernels.graph import levels_to
from routelab.kernels.jit import jit


@jit
def enumerate_routes(graph, endpoints, counts, lengths):
    """List the shortest legal routes of every ordered pair of endpoints.

    The graph is an automaton: a vertex is a switch and a state of the rules, and its edges are the
    channels that may come next. An edge is on a shortest route if it lowers the level, the hops
    that are left to the target, by 1; a depth-first walk follows these edges only.

    Parameters
    ----------
    graph : GraphArrays
        Deterministic, so that no physical route is listed twice.
    endpoints : int32 array, shape (P,)
    counts : float64 array, shape (P, P)
        From `routelab.kernels.graph.count_routes`.
    lengths : int32 array, shape (P, P)
        From `routelab.kernels.graph.route_lengths`.

    Returns
    -------
    pair_start : int64 array, shape (P * P + 1,)
        Routes ``pair_start[pair]:pair_start[pair + 1]`` belong to a pair, in the graph's
        edge order.
    hop_start : int64 array, shape (P * P + 1,)
        Where the first route of a pair begins in `hops`; its other routes follow.
    hops : int32 array
        Channels of all routes. A pair of an endpoint with itself has one route without hops.
    """
    num_endpoints = len(endpoints)
    pair_start = np.zeros(num_endpoints * num_endpoints + 1, np.int64)
    hop_start = np.zeros(num_endpoints * num_endpoints + 1, np.int64)
    longest = 0
    for i in range(num_endpoints):
        for j in range(num_endpoints):
            pair = i * num_endpoints + j
            num_routes = np.int64(counts[i, j])
            pair_start[pair + 1] = pair_start[pair] + num_routes
            hop_start[pair + 1] = hop_start[pair] + num_routes * max(lengths[i, j], 0)
            longest = max(longest, lengths[i, j])
    hops = np.empty(hop_start[-1], np.int32)
    level = np.empty(len(graph.vertex_switch), np.int32)
    queue = np.empty(len(graph.vertex_switch), np.int32)
    # next_edge[d]: the edge that is tried next as hop d; those before it are done
    next_edge = np.empty(longest + 1, np.int32)
    for j in range(num_endpoints):
        levels_to(graph, endpoints[j], level, queue)
        for i in range(num_endpoints):
            length = lengths[i, j]
            if length <= 0:  # no legal route, or the endpoint itself
                continue
            position = hop_start[i * num_endpoints + j]
            depth = 0
            v = graph.begin[endpoints[i]]
            next_edge[0] = graph.edge_start[v]
            while depth >= 0:
                # 1. All edges of v are done: back to the vertex before it.
                if next_edge[depth] == graph.edge_start[v + 1]:
                    depth -= 1
                    if depth >= 0:
                        v = graph.edge_source[next_edge[depth]]
                        next_edge[depth] += 1
                    continue
                w = graph.edge_target[next_edge[depth]]
                # 2. Not a shortest route.
                if level[w] != level[v] - 1:
                    next_edge[depth] += 1
                    continue
                # 3. The target: the edges of all depths are a route.
                if level[w] == 0:
                    for d in range(length):
                        hops[position] = graph.edge_channel[next_edge[d]]
                        position += 1
                    next_edge[depth] += 1
                    continue
                # 4. One hop further.
                depth += 1
                v = w
                next_edge[depth] = graph.edge_start[v]
    return pair_start, hop_start, hops
