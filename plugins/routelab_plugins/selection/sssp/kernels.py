"""Algorithm 3 of the Angara paper, on trees and on listed routes; both choose the same routes."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from routelab.kernels.graph import grow_tree, settle_switches, tree_scratch, write_route
from routelab.kernels.jit import helper, jit
from routelab.kernels.symmetry import source_images
from routelab.kernels.translations import fill_preimages
from routelab.kernels.trees import add_route, route_offsets

CROSSED = 1 << 40
"""Mark added to a channel's load; above any sum of loads, and it can be added for each hop."""


class GroupedRoutes(NamedTuple):
    """Listed routes of pairs in groups of equal turns, length and source (M pairs, G groups).

    Pairs ``start[g]:start[g + 1]`` are from endpoint ``source[g]`` to endpoints `target`, and have
    routes of ``length[g]`` hops, ``routes[m]`` of them. The routes of pair after pair follow one
    another in `hops`, so that loops over groups read memory in order. (Channels are unsigned, so
    that compiled code need not check for negative indices.)
    """

    source: NDArray[np.int32]
    length: NDArray[np.int32]
    start: NDArray[np.int64]
    target: NDArray[np.int32]
    routes: NDArray[np.int32]
    hops: NDArray[np.uint32]


@jit
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
    arrival = np.empty(len(graph.begin), np.int32)

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
        settle_switches(graph, tree, grow_tree(graph, root, weight, False, farthest, tree), arrival)
        for j in range(count):
            if unique[i, j]:
                route = hops[start[i * count + j] : start[i * count + j + 1]]
                write_route(graph, tree, arrival[endpoints[j]], route)
    # applied afterwards: a unique route does not depend on the weights
    for i in range(count):
        for j in range(count):
            if unique[i, j]:
                route = hops[start[i * count + j] : start[i * count + j + 1]]
                add_route(weight, route, search.demand[i] * search.demand[j])

    group_trees = 0
    crossed = np.full(graph.num_channels, -1, np.int64)
    for g in range(len(group_start) - 1):
        remaining = pairs[group_start[g] : group_start[g + 1]].copy()
        num_waiting = len(remaining)
        i = remaining[0] // count
        length = lengths[i, remaining[0] % count]
        root = graph.begin[endpoints[i]]
        while num_waiting:
            visited = grow_tree(graph, root, weight, search.backwards[i], length, tree)
            settle_switches(graph, tree, visited, arrival)
            group_trees += 1
            num_postponed = 0
            for k in range(num_waiting):
                p = remaining[k]
                route = hops[start[p] : start[p + 1]]
                write_route(graph, tree, arrival[endpoints[p % count]], route)
                crosses = False
                for c in route:
                    crosses |= crossed[c] == group_trees
                if crosses:
                    remaining[num_postponed] = p
                    num_postponed += 1
                    continue
                for c in route:
                    crossed[c] = group_trees
                add_route(weight, route, search.demand[i] * search.demand[p % count])
            num_waiting = num_postponed
    return hops, unique_trees, group_trees


@helper()
def _rank_rows(choices, unique_first, channel_direction):
    """Return the rank of each row's turns and length among all; −1 for rows that are left out.

    The turns are the fewest of the row's routes.

    Returns
    -------
    rank : int32 array, shape (Q * P,)
    ranks : int
    """
    length, routes, first_hop = choices.length, choices.routes, choices.first_hop
    hops = choices.hops
    longest = np.int64(0)
    for p in range(len(length)):
        longest = max(longest, length[p])
    rank = np.full(len(length), -1, np.int32)
    rank_of = np.full((longest + 1) * (longest + 1), -1, np.int32)
    for p in range(len(length)):
        n = np.int64(length[p])
        if n <= 0 or (unique_first and routes[p] == 1):
            continue
        fewest = n
        for r in range(routes[p]):
            first = first_hop[p] + r * n
            turns = 0
            for h in range(first + 1, first + n):
                turns += channel_direction[hops[h]] != channel_direction[hops[h - 1]]
            fewest = min(fewest, turns)
        rank[p] = fewest * (longest + 1) + n
        rank_of[rank[p]] = 0
    ranks = 0
    for key in range(len(rank_of)):
        if rank_of[key] == 0:
            rank_of[key] = ranks
            ranks += 1
    for p in range(len(length)):
        if rank[p] >= 0:
            rank[p] = rank_of[rank[p]]
    return rank, ranks


@jit
def cut_groups(choices, source_class, unique_first, channel_direction, order):
    """Sort pairs by turns, length and source: stage 2 of Algorithm 3 on listed routes.

    Parameters
    ----------
    choices : ChoiceArrays
        All routes of the classes' representatives, in tie order.
    source_class : int32 array, shape (P,)
        Class of each endpoint.
    unique_first : bool
        Leave out the pairs with one route.
    channel_direction : int16 array, shape (C,)
    order : int64 array, shape (P,)
        Endpoints in tie order; it decides among sources and among targets.

    Returns
    -------
    source, length, start
        As in `GroupedRoutes`.
    rank : int32 array, shape (Q * P,)
        Rank of each row's turns and length; −1 for rows that are left out.
    pair_at, hop_at : int64 array, shape (ranks, P)
        First pair and first hop of a rank's group from each endpoint.
    hops : int
        Of all groups.
    """
    rank, ranks = _rank_rows(choices, unique_first, channel_direction)
    ends = len(order)
    classes = len(rank) // max(ends, 1)
    size = np.zeros((ranks, classes), np.int64)
    volume = np.zeros((ranks, classes), np.int64)
    length_of = np.zeros(ranks, np.int32)
    for p in range(len(rank)):
        if rank[p] >= 0:
            length_of[rank[p]] = choices.length[p]
            size[rank[p], p // ends] += 1
            volume[rank[p], p // ends] += np.int64(choices.routes[p]) * choices.length[p]
    source, length = np.empty(ranks * ends, np.int32), np.empty(ranks * ends, np.int32)
    start = np.zeros(ranks * ends + 1, np.int64)
    pair_at, hop_at = np.empty((ranks, ends), np.int64), np.empty((ranks, ends), np.int64)
    groups, pairs, hops = 0, np.int64(0), np.int64(0)
    for k in range(ranks):
        for i in order:
            q = source_class[i]
            if size[k, q] == 0:
                continue
            source[groups], length[groups] = i, length_of[k]
            pair_at[k, i], hop_at[k, i] = pairs, hops
            pairs += size[k, q]
            hops += volume[k, q]
            groups += 1
            start[groups] = pairs
    cut = source[:groups].copy(), length[:groups].copy(), start[: groups + 1].copy()
    return *cut, rank, pair_at, hop_at, hops


@jit
def fill_groups(choices, symmetry, endpoints, order, rank, places, sources, groups):
    """Write the routes from some endpoints into their groups.

    Parameters
    ----------
    choices : ChoiceArrays
        All routes of the classes' representatives, in tie order.
    symmetry : SymmetryArrays
    endpoints : int32 array, shape (P,)
    order : int64 array, shape (P,)
        Endpoints in tie order.
    rank
        From `cut_groups`.
    places : tuple of two int64 arrays
        ``pair_at`` and ``hop_at`` from `cut_groups`; the sources' columns are changed.
    sources : tuple of two ints
        The first one and the one behind the last.
    groups : GroupedRoutes
        The sources' parts of `target`, `routes` and `hops` are overwritten.
    """
    ends = len(endpoints)
    pair_at, hop_at = places
    target, routes, hops = groups.target, groups.routes, groups.hops
    known_length, known_routes = choices.length, choices.routes
    first_hop, known_hops = choices.first_hop, choices.hops
    switch_image = np.empty(len(symmetry.source_class), np.int32)
    channel_image = np.empty(len(symmetry.channel_source), np.int32)
    preimage = np.empty(ends, np.int32)
    for i in range(sources[0], sources[1]):
        source_images(symmetry, endpoints[i], switch_image, channel_image)
        fill_preimages(endpoints, switch_image, preimage)
        q = symmetry.source_class[endpoints[i]]
        for j in order:
            p = q * ends + preimage[j]
            k = rank[p]
            if k < 0:
                continue
            target[pair_at[k, i]], routes[pair_at[k, i]] = j, known_routes[p]
            pair_at[k, i] += 1
            first, to = first_hop[p], hop_at[k, i]
            volume = np.int64(known_routes[p]) * known_length[p]
            for h in range(volume):
                hops[to + h] = channel_image[known_hops[first + h]]
            hop_at[k, i] += volume


@jit
def choose_routes_sssp(groups, load, demand, backwards, chosen):
    """Choose routes group by group on the loads so far: stage 3 of Algorithm 3.

    Gives the results of the trees in `build_routes_sssp`, by comparing the few listed routes.
    A round takes the loads as they are at its beginning: a channel that a route of this round
    crosses is marked by `CROSSED`, and gets its load at the round's end. So the sum over a route's
    channels gives its weight and whether it has to wait for the next round.

    Parameters
    ----------
    groups : GroupedRoutes
    load : int64 array, shape (C,)
        Weights so far; changed.
    demand : int64 array, shape (P,)
    backwards : bool array, shape (P,)
        Of equally light routes the last in tie order is taken, from this endpoint.
    chosen : int32 array, shape (P * P,)
        The grouped pairs' entries are overwritten: number of the route.

    Returns
    -------
    trees : int
        Trees that Algorithm 3 builds for it.
    """
    count = len(demand)
    target, hops = groups.target, groups.hops
    first = np.empty(count, np.int64)
    waiting, applied = np.empty(count, np.int32), np.empty(count, np.int32)
    trees, next_hop = 0, np.int64(0)
    for g in range(len(groups.source)):
        i, n = np.int64(groups.source[g]), np.int64(groups.length[g])
        begin, num_waiting = groups.start[g], groups.start[g + 1] - groups.start[g]
        routes = groups.routes[begin : begin + num_waiting]
        for k in range(num_waiting):
            waiting[k], first[k] = k, next_hop
            next_hop += n * routes[k]
        while num_waiting:
            trees += 1
            num_postponed, num_applied = 0, 0
            for w in range(num_waiting):
                k = waiting[w]
                pick = _free_lightest(hops, first[k], n, np.int64(routes[k]), load, backwards[i])
                if pick < 0:
                    waiting[num_postponed] = k
                    num_postponed += 1
                    continue
                chosen[i * count + target[begin + k]] = pick
                first[k] += pick * n
                for h in range(first[k], first[k] + n):
                    load[hops[h]] += CROSSED
                applied[num_applied] = k
                num_applied += 1
            for d in range(num_applied):
                k = applied[d]
                amount = demand[i] * demand[target[begin + k]]
                for h in range(first[k], first[k] + n):
                    load[hops[h]] += amount - CROSSED
            num_waiting = num_postponed
    return trees


@helper()
def _free_lightest(hops, first, n, routes, load, backwards):
    """Return the lightest of a pair's routes if none of its channels is marked, else −1.

    Parameters
    ----------
    hops : uint32 array
        With the pair's routes of `n` hops from `first` on.
    """
    # usually the pair has to wait because all its routes begin with marked channels
    marked = CROSSED
    h = np.uint64(first)
    for _ in range(routes):
        marked &= load[hops[h]]
        h += np.uint64(n)
    if marked:
        return np.int64(-1)
    pick, least = np.int64(-1), np.int64(0)
    h = np.uint64(first)
    for r in range(routes):
        cost = np.int64(0)
        for _ in range(n):
            cost += load[hops[h]]
            h += np.uint64(1)
        weight, least_weight = cost & (CROSSED - 1), least & (CROSSED - 1)
        if r == 0 or weight < least_weight or (backwards and weight == least_weight):
            pick, least = r, cost
    return pick if least < CROSSED else np.int64(-1)
