"""One lightest shortest route after the other."""

import numpy as np
from numba import njit

from routelab.kernels.graph import grow_tree, settle_switches, tree_scratch, write_route
from routelab.kernels.trees import add_route, follow_route, grow_tree_to, route_offsets


@njit(cache=True)
def routes_by_pair(graph, endpoints, lengths, demand, order, backwards, from_source):
    """Route pair after pair, each on the loads of all before; arguments as in P-SSSP.

    Parameters
    ----------
    graph : GraphArrays
    endpoints : int32 array, shape (P,)
    lengths : int32 array, shape (P, P)
    demand : int64 array, shape (P,)
        Terminals at each endpoint; a route counts their product.
    order : int64 array, shape (P,)
        Order of the outer loop, and of the inner one.
    backwards : bool array, shape (P,)
    from_source : bool
        Source in the outer loop and trees from it; else target, and trees towards it.

    Returns
    -------
    hops : int32 array
        Channels of all routes, pair after pair.
    """
    count = len(endpoints)
    start = route_offsets(lengths)
    hops = np.empty(start[-1], np.int32)
    weight = np.zeros(graph.num_channels, np.int64)
    tree = tree_scratch(len(graph.vertex_switch))
    best = np.empty(len(graph.begin), np.int32)
    for r in order:
        for x in order:
            i, j = (r, x) if from_source else (x, r)
            if lengths[i, j] <= 0:
                continue
            route = hops[start[i * count + j] : start[i * count + j + 1]]
            begin = graph.begin[endpoints[i]]
            if from_source:
                visited = grow_tree(graph, begin, weight, backwards[r], lengths[i, j], tree)
                settle_switches(graph, tree, visited, best)
                write_route(graph, tree, best[endpoints[j]], route)
            else:
                grow_tree_to(graph, endpoints[j], weight, backwards[r], tree)
                follow_route(graph, tree, begin, route)
            add_route(weight, route, demand[i] * demand[j])
    return hops
