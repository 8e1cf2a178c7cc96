"""Routes from lightest shortest trees with a common root, by the loads so far."""

import numpy as np

from routelab.kernels.graph import grow_tree, settle_switches, tree_scratch, write_route
from routelab.kernels.jit import jit
from routelab.kernels.trees import add_route, follow_route, grow_tree_to, route_offsets


@jit
def routes_by_root(search, from_source, each_pair):
    """Route endpoint after endpoint: all pairs of a root on one tree, or each on a new tree.

    Parameters
    ----------
    search : SearchArrays
    from_source : bool
        Roots are sources and trees grow from them; else targets, and trees grow towards them.
    each_pair : bool
        Grow a new tree for each pair, by the loads of all pairs before (P²-SSSP); else one per
        root, by the loads of all roots before (P-SSSP).

    Returns
    -------
    hops : int32 array
        Channels of all routes, pair after pair.
    """
    graph, lengths = search.graph, search.lengths
    count = len(search.endpoints)
    start = route_offsets(lengths)
    hops = np.empty(start[-1], np.int32)
    weight = np.zeros(graph.num_channels, np.int64)
    tree = tree_scratch(len(graph.vertex_switch))
    best_vertex = np.empty(len(graph.begin), np.int32)
    for r in search.order:
        is_grown = False
        for x in search.order:
            i, j = (r, x) if from_source else (x, r)
            if lengths[i, j] <= 0:
                continue
            begin = graph.begin[search.endpoints[i]]
            # 1. The tree, anew only if loads have changed since: after each pair, or each root.
            if each_pair or not is_grown:
                is_grown = True
                if from_source:
                    # of a tree for one pair, no level beyond the target is needed
                    last_level = lengths[i, j] if each_pair else np.int32(len(tree.level))
                    visited = grow_tree(graph, begin, weight, search.backwards[r], last_level, tree)
                    settle_switches(graph, tree, visited, best_vertex)
                else:
                    grow_tree_to(graph, search.endpoints[j], weight, search.backwards[r], tree)
            # 2. The route on it, and its load.
            route = hops[start[i * count + j] : start[i * count + j + 1]]
            if from_source:
                write_route(graph, tree, best_vertex[search.endpoints[j]], route)
            else:
                follow_route(graph, tree, begin, route)
            if each_pair:
                add_route(weight, route, search.demand[i] * search.demand[j])
        if each_pair:
            continue
        # 3. The loads of all routes of the root together.
        for x in range(count):
            i, j = (r, x) if from_source else (x, r)
            route = hops[start[i * count + j] : start[i * count + j + 1]]
            add_route(weight, route, search.demand[i] * search.demand[j])
    return hops


@jit
def routes_to_terminals(search, lengths, destination_endpoint, order):
    """Route terminal after terminal: all endpoints on one tree towards each, by the loads so far.

    Parameters
    ----------
    search : SearchArrays
        Without use of its `order` and `lengths`.
    lengths : int32 array, shape (P, T)
        Hops of the shortest legal route to each terminal's switch, −1 for none.
    destination_endpoint : int64 array, shape (T,)
        Index of each terminal's switch among the endpoints.
    order : int64 array, shape (T,)
        Terminals in the order of routing.

    Returns
    -------
    hops : int32 array
        Channels of all routes, pair after pair.
    """
    graph = search.graph
    sources, count = lengths.shape
    start = route_offsets(lengths)
    hops = np.empty(start[-1], np.int32)
    weight = np.zeros(graph.num_channels, np.int64)
    tree = tree_scratch(len(graph.vertex_switch))
    for t in order:
        end = destination_endpoint[t]
        grow_tree_to(graph, search.endpoints[end], weight, search.backwards[end], tree)
        for i in range(sources):
            if lengths[i, t] > 0:
                route = hops[start[i * count + t] : start[i * count + t + 1]]
                follow_route(graph, tree, graph.begin[search.endpoints[i]], route)
        for i in range(sources):
            route = hops[start[i * count + t] : start[i * count + t + 1]]
            add_route(weight, route, search.demand[i])
    return hops
