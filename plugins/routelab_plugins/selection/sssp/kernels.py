"""Algorithm 3 of the Angara paper."""

import numpy as np
from numba import njit

from routelab.kernels.graph import grow_tree, settle_switches, tree_scratch, write_route
from routelab.kernels.trees import add_route, route_offsets


@njit(cache=True)
def build_routes_sssp(search, unique, pairs, group_start):
    """Apply unique routes, then build the others group by group on the loads so far.

    Parameters
    ----------
    search : SearchArrays
    unique : bool array, shape (P, P)
        Pairs with a single shortest legal route, for stage 1.
    pairs : int64 array, shape (M,)
        The other pairs (source index · P + target index), sorted into groups of one source.
    group_start : int64 array, shape (G + 1,)

    Returns
    -------
    hops : int32 array
        Channels of all routes, pair after pair.
    unique_trees, group_trees : int
        Trees built in stage 1 and in stages 2 and 3 (Figure 4 of the paper).
    """
    graph, endpoints, lengths = search.graph, search.endpoints, search.lengths
    count = len(endpoints)
    start = route_offsets(lengths)
    hops = np.empty(start[-1], np.int32)
    weight = np.zeros(graph.num_channels, np.int64)
    tree = tree_scratch(len(graph.vertex_switch))
    best = np.empty(len(graph.begin), np.int32)

    unique_trees = 0
    for i in range(count):
        farthest = 0
        for j in range(count):
            if unique[i, j]:
                farthest = max(farthest, lengths[i, j])
        if farthest == 0:
            continue
        unique_trees += 1
        root = graph.begin[endpoints[i]]
        settle_switches(graph, tree, grow_tree(graph, root, weight, False, farthest, tree), best)
        for j in range(count):
            if unique[i, j]:
                route = hops[start[i * count + j] : start[i * count + j + 1]]
                write_route(graph, tree, best[endpoints[j]], route)
    # applied afterwards: a unique route is the same whatever the weights are
    for i in range(count):
        for j in range(count):
            if unique[i, j]:
                route = hops[start[i * count + j] : start[i * count + j + 1]]
                add_route(weight, route, search.demand[i] * search.demand[j])

    group_trees = 0
    crossed = np.full(graph.num_channels, -1, np.int64)
    for g in range(len(group_start) - 1):
        remaining = pairs[group_start[g] : group_start[g + 1]].copy()
        left = len(remaining)
        i = remaining[0] // count
        length = lengths[i, remaining[0] % count]
        root = graph.begin[endpoints[i]]
        while left:
            visited = grow_tree(graph, root, weight, search.backwards[i], length, tree)
            settle_switches(graph, tree, visited, best)
            group_trees += 1
            kept = 0
            for k in range(left):
                p = remaining[k]
                route = hops[start[p] : start[p + 1]]
                write_route(graph, tree, best[endpoints[p % count]], route)
                crosses = False
                for c in route:
                    crosses |= crossed[c] == group_trees
                if crosses:
                    remaining[kept] = p
                    kept += 1
                    continue
                for c in route:
                    crossed[c] = group_trees
                add_route(weight, route, search.demand[i] * search.demand[p % count])
            left = kept
    return hops, unique_trees, group_trees
