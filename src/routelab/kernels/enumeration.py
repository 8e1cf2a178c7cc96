"""Enumeration of the shortest legal routes of all pairs."""

import numpy as np

from routelab.kernels.graph import levels_to
from routelab.kernels.jit import jit


@jit
def enumerate_routes(graph, endpoints, counts, lengths):
    """List the shortest legal routes of every ordered pair of endpoints.

    Parameters
    ----------
    graph : GraphArrays
        Deterministic, so that no physical route is listed twice.
    endpoints : int32 array, shape (P,)
    counts : float64 array, shape (P, P)
        From `routelab.kernels.graph.count_routes`.
    lengths : int32 array, shape (P, P)

    Returns
    -------
    pair_start : int64 array, shape (P * P + 1,)
        Routes ``pair_start[p]:pair_start[p + 1]`` belong to pair p, in the graph's edge order.
    hop_start : int64 array, shape (P * P + 1,)
        Index of the hops of a pair's first route; its other routes follow.
    hops : int32 array
    """
    count = len(endpoints)
    pair_start = np.zeros(count * count + 1, np.int64)
    hop_start = np.zeros(count * count + 1, np.int64)
    deepest = 0
    for i in range(count):
        for j in range(count):
            p = i * count + j
            routes = np.int64(counts[i, j])
            pair_start[p + 1] = pair_start[p] + routes
            hop_start[p + 1] = hop_start[p] + routes * max(lengths[i, j], 0)
            deepest = max(deepest, lengths[i, j])
    hops = np.empty(hop_start[-1], np.int32)
    level = np.empty(len(graph.vertex_switch), np.int32)
    queue = np.empty(len(graph.vertex_switch), np.int32)
    edge = np.empty(deepest + 1, np.int32)
    for j in range(count):
        levels_to(graph, endpoints[j], level, queue)
        for i in range(count):
            length = lengths[i, j]
            if length <= 0:
                continue
            at = hop_start[i * count + j]
            depth = 0
            edge[0] = graph.edge_start[graph.begin[endpoints[i]]]
            # a depth-first walk over the edges towards the target; edge[d] is the next to try
            v = graph.begin[endpoints[i]]
            while depth >= 0:
                if edge[depth] == graph.edge_start[v + 1]:
                    depth -= 1
                    if depth >= 0:
                        v = graph.edge_source[edge[depth]]
                        edge[depth] += 1
                    continue
                w = graph.edge_target[edge[depth]]
                if level[w] != level[v] - 1:
                    edge[depth] += 1
                    continue
                if level[w] == 0:
                    for d in range(length):
                        hops[at] = graph.edge_channel[edge[d]]
                        at += 1
                    edge[depth] += 1
                    continue
                depth += 1
                v = w
                edge[depth] = graph.edge_start[v]
    return pair_start, hop_start, hops
