"""The first shortest legal route of every pair."""

import numpy as np

from routelab.kernels.graph import levels_to
from routelab.kernels.jit import jit
from routelab.kernels.trees import route_offsets


@jit
def first_routes(search, parity, balanced):
    """Walk from every source, taking one of the edges that come nearer to the target.

    Parameters
    ----------
    search : SearchArrays
    parity : int8 array, shape (S,)
        Parity of each switch's coordinates.
    balanced : bool
        Where several edges come nearer, take number 1 instead of number 0 if the sum of the
        parities of source, target and current switch is odd. On even rings under dimension order
        this sends half of the pairs that are half a ring apart each way; from every single switch,
        too, if a dimension later in the order has even rings.

    Returns
    -------
    hops : int32 array
        Channels of all routes, pair after pair.
    """
    graph, endpoints, lengths = search.graph, search.endpoints, search.lengths
    num_endpoints = len(endpoints)
    start = route_offsets(lengths)
    hops = np.empty(start[-1], np.int32)
    level = np.empty(len(graph.vertex_switch), np.int32)
    queue = np.empty(len(graph.vertex_switch), np.int32)
    nearer = np.empty(graph.num_channels, np.int32)
    for j in range(num_endpoints):
        levels_to(graph, endpoints[j], level, queue)
        for i in range(num_endpoints):
            v = graph.begin[endpoints[i]]
            for h in range(start[i * num_endpoints + j], start[i * num_endpoints + j + 1]):
                num_nearer = 0
                for e in range(graph.edge_start[v], graph.edge_start[v + 1]):
                    if level[graph.edge_target[e]] == level[v] - 1:
                        nearer[num_nearer] = e
                        num_nearer += 1
                pick = 0
                if balanced:
                    sum_of_ends = parity[endpoints[i]] + parity[endpoints[j]]
                    # 0 or 1; with a single edge, "modulo 1" makes it 0
                    pick = (sum_of_ends + parity[graph.vertex_switch[v]]) % 2 % num_nearer
                hops[h] = graph.edge_channel[nearer[pick]]
                v = graph.edge_target[nearer[pick]]
    return hops
