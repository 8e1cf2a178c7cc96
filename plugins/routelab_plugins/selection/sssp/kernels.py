"""Algorithm 3 of the Angara paper, on trees and on listed routes; both choose the same routes."""

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


@njit(cache=True)
def group_pairs(choices, unique_first, channel_direction, order):
    """Stage 2 of Algorithm 3 on listed routes: sort pairs by turns, length and source.

    Parameters
    ----------
    choices : ChoiceArrays
        All routes of all pairs: row ``i * P + j`` is pair (i, j).
    unique_first : bool
        Leave out the pairs with one route.
    channel_direction : int16 array, shape (C,)
    order : int64 array, shape (P,)
        Endpoints in tie order; it decides among sources and among targets.

    Returns
    -------
    pairs : int64 array, shape (M,)
    group_start : int64 array, shape (G + 1,)
        Groups of equal turns, length and source.
    """
    count = len(order)
    length, routes, first_hop = choices.length, choices.routes, choices.first_hop
    hops = choices.hops
    # a pair's turns are the least of its routes; the sort is one by counting
    longest = 0
    wanted = 0
    for p in range(len(length)):
        if length[p] > 0 and not (unique_first and routes[p] == 1):
            longest = max(longest, length[p])
            wanted += 1
    key = np.full(len(length), -1, np.int32)
    size = np.zeros((longest + 1) * (longest + 1) + 1, np.int64)
    for p in range(len(length)):
        n = length[p]
        if n <= 0 or (unique_first and routes[p] == 1):
            continue
        fewest = n
        for r in range(routes[p]):
            first = first_hop[p] + np.int64(r) * n
            turns = 0
            for h in range(first + 1, first + n):
                turns += channel_direction[hops[h]] != channel_direction[hops[h - 1]]
            fewest = min(fewest, turns)
        key[p] = fewest * (longest + 1) + n
        size[key[p] + 1] += 1
    for k in range(len(size) - 1):
        size[k + 1] += size[k]
    pairs = np.empty(wanted, np.int64)
    for i in order:
        for j in order:
            p = i * count + j
            if key[p] >= 0:
                pairs[size[key[p]]] = p
                size[key[p]] += 1
    group_start = np.empty(wanted + 1, np.int64)
    groups = 0
    for m in range(wanted):
        p, before = pairs[m], pairs[m - 1]
        if m == 0 or key[p] != key[before] or p // count != before // count:
            group_start[groups] = m
            groups += 1
    group_start[groups] = wanted
    return pairs, group_start[: groups + 1].copy()


@njit(cache=True)
def choose_routes_sssp(choices, weight, groups, demand, backwards):
    """Choose routes group by group on the loads so far: stage 3 of Algorithm 3.

    What the trees of `build_routes_sssp` find, found by comparing the few routes that there are.
    Weights only grow, so what a route weighed when it was last looked at is a lower bound, and
    most routes need not be looked at again.

    Parameters
    ----------
    choices : ChoiceArrays
        All routes of the pairs in `groups`, in tie order: row ``i * P + j`` is pair (i, j).
    weight : int array, shape (C,)
        Load so far; changed.
    groups : tuple of arrays
        From `group_pairs`.
    demand : int64 array, shape (P,)
    backwards : bool array, shape (P,)

    Returns
    -------
    chosen : int32 array, shape (P * P,)
        Number of each pair's route.
    trees : int
        Trees that Algorithm 3 builds for it.
    """
    pairs, group_start = groups
    count = len(demand)
    length, routes, first_hop = choices.length, choices.routes, choices.first_hop
    hops = choices.hops
    chosen = np.zeros(len(length), np.int32)
    trees = 0
    crossed = np.full(len(weight), -1, np.int64)
    remaining = np.empty(count, np.int64)
    most = 1
    for p in pairs:
        most = max(most, routes[p])
    # what each route of each remaining pair weighed, and in which round
    weighed = np.empty((count, most), np.int64)
    fresh = np.empty((count, most), np.int64)
    for g in range(len(group_start) - 1):
        left = group_start[g + 1] - group_start[g]
        i = pairs[group_start[g]] // count
        n = np.int64(length[pairs[group_start[g]]])
        for k in range(left):
            p = pairs[group_start[g] + k]
            remaining[k] = p
            for r in range(routes[p]):
                weighed[k, r] = -1
                fresh[k, r] = -1
        while left:
            trees += 1
            # all routes of a round are chosen on the weights at its beginning
            for k in range(left):
                p = remaining[k]
                while True:
                    # of equally light routes the first in tie order, or the last one
                    pick = routes[p] - 1 if backwards[i] else 0
                    for r in range(1, routes[p]):
                        nth = routes[p] - 1 - r if backwards[i] else r
                        if weighed[k, nth] < weighed[k, pick]:
                            pick = nth
                    if fresh[k, pick] == trees:
                        break
                    cost = np.int64(0)
                    first = first_hop[p] + pick * n
                    for h in range(first, first + n):
                        cost += weight[hops[h]]
                    weighed[k, pick] = cost
                    fresh[k, pick] = trees
                chosen[p] = pick
            kept = 0
            for k in range(left):
                p = remaining[k]
                first = first_hop[p] + chosen[p] * n
                crosses = False
                for h in range(first, first + n):
                    if crossed[hops[h]] == trees:
                        crosses = True
                        break
                if crosses:
                    remaining[kept] = p
                    for r in range(routes[p]):
                        weighed[kept, r] = weighed[k, r]
                        fresh[kept, r] = fresh[k, r]
                    kept += 1
                    continue
                amount = demand[i] * demand[p % count]
                for h in range(first, first + n):
                    crossed[hops[h]] = trees
                    weight[hops[h]] += amount
            left = kept
    return chosen, trees
