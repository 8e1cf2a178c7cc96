"""Routes from lightest shortest trees with a common root, by the loads so far.

A tree has, of the routes with the fewest hops, those over the channels with the least load. A pair
``i * P + j`` goes from endpoint i to endpoint j; endpoints are switches with terminals.
"""

import numpy as np

from routelab.kernels.graph import find_route_ends, grow_tree, tree_scratch, write_route
from routelab.kernels.jit import jit
from routelab.kernels.trees import add_route, follow_route, grow_tree_to, route_offsets


@jit
def routes_by_root(search, from_source, each_pair):
    """Route all pairs on lightest shortest trees, endpoint after endpoint as their root.

    Parameters
    ----------
    search : SearchArrays
    from_source : bool
        Roots are sources and trees grow from them; else targets, and trees grow towards them.
    each_pair : bool
        Grow a new tree for each pair, weighted by the loads of all pairs before (P²-SSSP); else one
        tree for each root, weighted by the loads of all roots before (P-SSSP).

    Returns
    -------
    hops : int32 array
        Channels of all routes, pair after pair.
    """
    graph, lengths = search.graph, search.lengths
    num_endpoints = len(search.endpoints)
    route_start = route_offsets(lengths)
    hops = np.empty(route_start[-1], np.int32)
    weight = np.zeros(graph.num_channels, np.int64)
    tree = tree_scratch(len(graph.vertex_switch))
    best_vertex = np.empty(len(graph.begin), np.int32)
    for root in search.order:
        is_grown = False
        for other in search.order:
            i, j = (root, other) if from_source else (other, root)
            if lengths[i, j] <= 0:  # no legal route, or the endpoint itself
                continue
            begin_vertex = graph.begin[search.endpoints[i]]
            # 1. The tree, anew only if loads have changed since: after each pair, or each root.
            if each_pair or not is_grown:
                is_grown = True
                if from_source:
                    # A tree for one pair may end at the level of the target. No tree has as many
                    # levels as vertices, so that number is no limit.
                    last_level = lengths[i, j] if each_pair else np.int32(len(tree.level))
                    visited = grow_tree(
                        graph, begin_vertex, weight, search.backwards[root], last_level, tree
                    )
                    find_route_ends(graph, tree, visited, best_vertex)
                else:
                    grow_tree_to(graph, search.endpoints[j], weight, search.backwards[root], tree)
            # 2. The route on it, and its load.
            route = hops[
                route_start[i * num_endpoints + j] : route_start[i * num_endpoints + j + 1]
            ]
            if from_source:
                write_route(graph, tree, best_vertex[search.endpoints[j]], route)
            else:
                follow_route(graph, tree, begin_vertex, route)
            if each_pair:
                add_route(weight, route, search.demand[i] * search.demand[j])
        if each_pair:
            continue
        # 3. The loads of all routes of the root together.
        for other in range(num_endpoints):
            i, j = (root, other) if from_source else (other, root)
            route = hops[
                route_start[i * num_endpoints + j] : route_start[i * num_endpoints + j + 1]
            ]
            add_route(weight, route, search.demand[i] * search.demand[j])
    return hops


@jit
def routes_to_terminals(search, lengths, destination_endpoint, order):
    """Route all endpoints to terminal after terminal, each on a tree weighted by the loads so far.

    Parameters
    ----------
    search : SearchArrays
        Its `order` and `lengths` are not used: they are about endpoints, not terminals.
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
    num_endpoints, num_terminals = lengths.shape
    route_start = route_offsets(lengths)
    hops = np.empty(route_start[-1], np.int32)
    weight = np.zeros(graph.num_channels, np.int64)
    tree = tree_scratch(len(graph.vertex_switch))
    for terminal in order:
        target = destination_endpoint[terminal]
        grow_tree_to(graph, search.endpoints[target], weight, search.backwards[target], tree)
        for i in range(num_endpoints):
            if lengths[i, terminal] > 0:
                route = hops[
                    route_start[i * num_terminals + terminal] : route_start[
                        i * num_terminals + terminal + 1
                    ]
                ]
                follow_route(graph, tree, graph.begin[search.endpoints[i]], route)
        # Only now the loads: the tree is the same for all its routes.
        for i in range(num_endpoints):
            route = hops[
                route_start[i * num_terminals + terminal] : route_start[
                    i * num_terminals + terminal + 1
                ]
            ]
            # all terminals of endpoint i send to one terminal
            add_route(weight, route, search.demand[i])
    return hops
