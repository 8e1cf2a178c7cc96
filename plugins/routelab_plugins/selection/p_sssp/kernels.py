"""One lightest shortest tree for each source or for each target."""

import numpy as np
from numba import njit

from routelab.kernels.graph import grow_tree, settle_switches, tree_scratch, write_route
from routelab.kernels.trees import add_route, follow_route, grow_tree_to, route_offsets


@njit(cache=True)
def routes_by_tree(graph, endpoints, lengths, demand, order, backwards, from_source):
    """Grow a tree for each endpoint, apply all its routes, and go on with the new loads.

    Parameters
    ----------
    graph : GraphArrays
    endpoints : int32 array, shape (P,)
    lengths : int32 array, shape (P, P)
    demand : int64 array, shape (P,)
        Terminals at each endpoint; a route counts their product.
    order : int64 array, shape (P,)
        Order in which endpoints are roots.
    backwards : bool array, shape (P,)
    from_source : bool
        Trees from sources; else trees towards targets.

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
        if from_source:
            root = graph.begin[endpoints[r]]
            visited = grow_tree(graph, root, weight, backwards[r], len(tree.level), tree)
            settle_switches(graph, tree, visited, best)
        else:
            grow_tree_to(graph, endpoints[r], weight, backwards[r], tree)
        for x in range(count):
            i, j = (r, x) if from_source else (x, r)
            if lengths[i, j] <= 0:
                continue
            route = hops[start[i * count + j] : start[i * count + j + 1]]
            if from_source:
                write_route(graph, tree, best[endpoints[j]], route)
            else:
                follow_route(graph, tree, graph.begin[endpoints[i]], route)
        for x in range(count):
            i, j = (r, x) if from_source else (x, r)
            route = hops[start[i * count + j] : start[i * count + j + 1]]
            add_route(weight, route, demand[i] * demand[j])
    return hops
