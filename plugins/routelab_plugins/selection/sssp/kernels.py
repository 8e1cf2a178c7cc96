"""Algorithm 3 of the Angara paper, on trees and on listed routes; both choose the same routes.

    stage 1   pairs with one route: it is theirs, and its load counts from the beginning
    stage 2   the other pairs in groups: equal turns, then equal length, then one source
    stage 3   group after group, the lightest routes on the loads so far

In stage 3 a group takes one tree after another. The routes of one tree share no channel: a pair
whose route would cross a channel that a route of this tree has taken waits for the next tree, which
knows the new loads.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from routelab.kernels.graph import find_route_ends, grow_tree, tree_scratch, write_route
from routelab.kernels.jit import helper, jit
from routelab.kernels.symmetry import fill_source_images
from routelab.kernels.translations import fill_preimages
from routelab.kernels.trees import add_route, route_offsets

CROSSED = 1 << 40
"""Mark added to a channel's load; above any sum of loads, and it can be added for each hop."""


class GroupedRoutes(NamedTuple):
    """Listed routes of pairs in groups of equal turns, length and source (M pairs, G groups).

    Attributes
    ----------
    source, length : int32 array, shape (G,)
        Endpoint from which the pairs of a group start, and hops of their routes.
    start : int64 array, shape (G + 1,)
        Group g has the pairs ``start[g]`` to ``start[g + 1] - 1`` of all M.
    target, routes : int32 array, shape (M,)
        Endpoint to which each pair leads, and its number of routes.
    hops : uint32 array
        Channels of all routes of the first pair, then of the next one, so that loops over groups
        read memory in order. Unsigned, so that compiled code need not check for negative indices.
    """

    source: NDArray[np.int32]
    length: NDArray[np.int32]
    start: NDArray[np.int64]
    target: NDArray[np.int32]
    routes: NDArray[np.int32]
    hops: NDArray[np.uint32]


@jit
def build_routes_sssp(search, unique, pairs, group_start):
    """Build the routes of all pairs by growing trees: stages 1 and 3 of Algorithm 3.

    Stage 2, which sorts the pairs into groups, is `group_pairs` of the plugin.

    Parameters
    ----------
    search : SearchArrays
    unique : bool array, shape (P, P)
        Pairs with a single shortest legal route, for stage 1.
    pairs : int64 array, shape (M,)
        The other pairs (source index · P + target index), sorted into groups. The pairs of a group
        have one source and routes of equal length.
    group_start : int64 array, shape (G + 1,)
        Group g has the pairs ``pairs[group_start[g]:group_start[g + 1]]``.

    Returns
    -------
    hops : int32 array
        Channels of all routes, pair after pair.
    unique_trees, group_trees : int
        Trees built in stage 1 and in stages 2 and 3 (Figure 4 of the paper).
    """
    graph, endpoints, lengths = search.graph, search.endpoints, search.lengths
    num_endpoints = len(endpoints)
    route_start = route_offsets(lengths)
    hops = np.empty(route_start[-1], np.int32)
    weight = np.zeros(graph.num_channels, np.int64)
    tree = tree_scratch(len(graph.vertex_switch))
    arrival = np.empty(len(graph.begin), np.int32)

    # Stage 1. A tree from each source that has such pairs. The weights stay 0 meanwhile: a unique
    # route does not depend on them.
    unique_trees = 0
    for source in range(num_endpoints):
        farthest = 0
        for target in range(num_endpoints):
            if unique[source, target]:
                farthest = max(farthest, lengths[source, target])
        if farthest == 0:
            continue
        unique_trees += 1
        root, backwards = graph.begin[endpoints[source]], False
        visited = grow_tree(graph, root, weight, backwards, farthest, tree)
        find_route_ends(graph, tree, visited, arrival)
        for target in range(num_endpoints):
            if unique[source, target]:
                pair = source * num_endpoints + target
                route = hops[route_start[pair] : route_start[pair + 1]]
                write_route(graph, tree, arrival[endpoints[target]], route)
    for source in range(num_endpoints):
        for target in range(num_endpoints):
            if unique[source, target]:
                pair = source * num_endpoints + target
                route = hops[route_start[pair] : route_start[pair + 1]]
                add_route(weight, route, search.demand[source] * search.demand[target])

    # Stage 3. `last_tree` has the number of the last tree with an applied route over each channel.
    group_trees = 0
    last_tree = np.full(graph.num_channels, -1, np.int64)
    for group in range(len(group_start) - 1):
        waiting = pairs[group_start[group] : group_start[group + 1]].copy()
        num_waiting = len(waiting)
        source = waiting[0] // num_endpoints
        length = lengths[source, waiting[0] % num_endpoints]
        root = graph.begin[endpoints[source]]
        while num_waiting:
            visited = grow_tree(graph, root, weight, search.backwards[source], length, tree)
            find_route_ends(graph, tree, visited, arrival)
            group_trees += 1
            num_postponed = 0
            for k in range(num_waiting):
                pair = waiting[k]
                target = pair % num_endpoints
                route = hops[route_start[pair] : route_start[pair + 1]]
                write_route(graph, tree, arrival[endpoints[target]], route)
                is_taken = False
                for channel in route:
                    is_taken |= last_tree[channel] == group_trees
                if is_taken:
                    # the pair waits for the next tree; postponed pairs move to the front
                    waiting[num_postponed] = pair
                    num_postponed += 1
                    continue
                for channel in route:
                    last_tree[channel] = group_trees
                add_route(weight, route, search.demand[source] * search.demand[target])
            num_waiting = num_postponed
    return hops, unique_trees, group_trees


@helper()
def _rank_rows(choices, unique_first, channel_direction):
    """Rank rows by turns, then by length: groups are formed in the order of these ranks.

    A row has as many turns as that of its routes which has fewest. For example, rows with (turns,
    length) of (0, 2), (1, 2), (0, 3) and (0, 2) have the ranks 0, 2, 1 and 0.

    Returns
    -------
    rank : int32 array, shape (Q * P,)
        −1 for rows that are left out: without hops, or with one route if `unique_first`.
    num_ranks : int
        Number of different ranks.
    """
    length, routes, first_hop = choices.length, choices.routes, choices.first_hop
    hops = choices.hops
    longest = np.int64(0)
    for row in range(len(length)):
        longest = max(longest, length[row])
    rank = np.full(len(length), -1, np.int32)
    rank_of_key = np.full((longest + 1) * (longest + 1), -1, np.int32)

    # 1. Turns and length of each row as one number, the key, which sorts by turns first.
    for row in range(len(length)):
        num_hops = np.int64(length[row])
        if num_hops <= 0 or (unique_first and routes[row] == 1):
            continue
        fewest_turns = num_hops
        for r in range(routes[row]):
            first = first_hop[row] + r * num_hops
            turns = 0
            for h in range(first + 1, first + num_hops):
                turns += channel_direction[hops[h]] != channel_direction[hops[h - 1]]
            fewest_turns = min(fewest_turns, turns)
        # the key for now; a key that occurs has 0 in `rank_of_key`, others −1
        rank[row] = fewest_turns * (longest + 1) + num_hops
        rank_of_key[rank[row]] = 0

    # 2. Number the keys that occur from 0, without gaps, and replace the keys by these ranks.
    num_ranks = 0
    for key in range(len(rank_of_key)):
        if rank_of_key[key] == 0:
            rank_of_key[key] = num_ranks
            num_ranks += 1
    for row in range(len(length)):
        if rank[row] >= 0:
            rank[row] = rank_of_key[rank[row]]
    return rank, num_ranks


@jit
def cut_groups(choices, source_class, unique_first, channel_direction, order):
    """Sort pairs into groups of equal turns, length and source: stage 2 on listed routes.

    Only counts what each group holds; `fill_groups` then writes the pairs and routes.

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
        Source and length of each group, and its first pair, as in `GroupedRoutes`.
    row_rank : int32 array, shape (Q * P,)
        Rank of each row's turns and length; −1 for rows that are left out.
    next_pair, next_hop : int64 array, shape (ranks, P)
        First pair and first hop of the group of a rank and a source; undefined without a group.
    num_hops : int
        Number of hops of the routes in all groups.
    """
    row_rank, num_ranks = _rank_rows(choices, unique_first, channel_direction)
    num_endpoints = len(order)
    num_classes = len(row_rank) // max(num_endpoints, 1)

    # 1. A group has a rank and a source. All sources of a class have equally many pairs of a rank,
    #    and hops of their routes; so they are counted by (rank, class).
    pairs_of_group = np.zeros((num_ranks, num_classes), np.int64)
    hops_of_group = np.zeros((num_ranks, num_classes), np.int64)
    length_of_rank = np.zeros(num_ranks, np.int32)
    for row in range(len(row_rank)):
        if row_rank[row] >= 0:
            length_of_rank[row_rank[row]] = choices.length[row]
            pairs_of_group[row_rank[row], row // num_endpoints] += 1
            hops_of_row = np.int64(choices.routes[row]) * choices.length[row]
            hops_of_group[row_rank[row], row // num_endpoints] += hops_of_row

    # 2. Where each group begins: rank after rank, and in each the sources in tie order.
    max_groups = num_ranks * num_endpoints
    source, length = np.empty(max_groups, np.int32), np.empty(max_groups, np.int32)
    start = np.zeros(max_groups + 1, np.int64)
    next_pair = np.empty((num_ranks, num_endpoints), np.int64)
    next_hop = np.empty((num_ranks, num_endpoints), np.int64)
    num_groups, num_pairs, num_hops = 0, np.int64(0), np.int64(0)
    for rank in range(num_ranks):
        for i in order:
            own_class = source_class[i]
            if pairs_of_group[rank, own_class] == 0:
                continue  # no group
            source[num_groups], length[num_groups] = i, length_of_rank[rank]
            next_pair[rank, i], next_hop[rank, i] = num_pairs, num_hops
            num_pairs += pairs_of_group[rank, own_class]
            num_hops += hops_of_group[rank, own_class]
            num_groups += 1
            start[num_groups] = num_pairs
    # the arrays had room for a group of every rank and source
    cut = source[:num_groups].copy(), length[:num_groups].copy(), start[: num_groups + 1].copy()
    return *cut, row_rank, next_pair, next_hop, num_hops


@jit
def fill_groups(choices, symmetry, endpoints, order, row_rank, next_entry, source_range, groups):
    """Write the pairs of some sources, and their routes, into their groups.

    Listed are only the routes of one source per class; a translation gives those of the others.

    Parameters
    ----------
    choices : ChoiceArrays
        All routes of the classes' representatives, in tie order.
    symmetry : SymmetryArrays
    endpoints : int32 array, shape (P,)
    order : int64 array, shape (P,)
        Endpoints in tie order.
    row_rank
        From `cut_groups`.
    next_entry : tuple of two int64 arrays, shape (ranks, P)
        ``next_pair`` and ``next_hop`` from `cut_groups`: where a group's next pair and its hops
        are written. Updated in the columns of the sources.
    source_range : tuple of two ints
        The first source and the one behind the last.
    groups : GroupedRoutes
        Updated: `target`, `routes` and `hops` of the sources' groups.
    """
    num_endpoints = len(endpoints)
    next_pair, next_hop = next_entry
    target, routes, hops = groups.target, groups.routes, groups.hops
    known_length, known_routes = choices.length, choices.routes
    first_hop, known_hops = choices.first_hop, choices.hops
    switch_image = np.empty(len(symmetry.source_class), np.int32)
    channel_image = np.empty(len(symmetry.channel_source), np.int32)
    preimage = np.empty(num_endpoints, np.int32)
    first_source, end_source = source_range
    for i in range(first_source, end_source):
        # The translation that moves the representative of the class to this source. Endpoint j is
        # the image of endpoint preimage[j], so its routes are the images of routes to that one.
        fill_source_images(symmetry, endpoints[i], switch_image, channel_image)
        fill_preimages(endpoints, switch_image, preimage)
        source_class = symmetry.source_class[endpoints[i]]
        for j in order:
            row = source_class * num_endpoints + preimage[j]
            rank = row_rank[row]
            if rank < 0:
                continue  # in no group
            target[next_pair[rank, i]], routes[next_pair[rank, i]] = j, known_routes[row]
            next_pair[rank, i] += 1
            first, begin = first_hop[row], next_hop[rank, i]
            num_hops = np.int64(known_routes[row]) * known_length[row]
            for h in range(num_hops):
                hops[begin + h] = channel_image[known_hops[first + h]]
            next_hop[rank, i] += num_hops


@jit
def choose_routes_sssp(groups, load, demand, backwards, chosen):
    """Choose routes group by group on the loads so far: stage 3 of Algorithm 3.

    Gives the results of the trees in `build_routes_sssp`, by comparing the few listed routes. What
    is a tree there is a round here. It takes the loads as they are at its beginning: a channel that
    a route of this round crosses is marked (`CROSSED` is added to its load), and gets the route's
    load at the end of the round. So one sum over a route's channels gives its weight and whether it
    has to wait for the next round.

    Parameters
    ----------
    groups : GroupedRoutes
    load : int64 array, shape (C,)
        Weights so far. Updated.
    demand : int64 array, shape (P,)
    backwards : bool array, shape (P,)
        Whether the last of equally light routes in tie order is taken, instead of the first, for
        pairs from this endpoint.
    chosen : int32 array, shape (P * P,)
        Number of each pair's route. Updated: the entries of the grouped pairs.

    Returns
    -------
    trees : int
        Number of rounds: trees that Algorithm 3 would build for the groups.
    """
    num_endpoints = len(demand)
    target, hops = groups.target, groups.hops
    # first hop of the first route of each pair of a group; once a route is chosen, of that route
    first_hop = np.empty(num_endpoints, np.int64)
    waiting, applied = np.empty(num_endpoints, np.int32), np.empty(num_endpoints, np.int32)
    trees, next_hop = 0, np.int64(0)
    for group in range(len(groups.source)):
        source, num_hops = np.int64(groups.source[group]), np.int64(groups.length[group])
        first_pair, num_waiting = groups.start[group], groups.start[group + 1] - groups.start[group]
        routes = groups.routes[first_pair : first_pair + num_waiting]
        for k in range(num_waiting):
            waiting[k], first_hop[k] = k, next_hop
            next_hop += num_hops * routes[k]
        while num_waiting:
            trees += 1
            # 1. The lightest route of each waiting pair, if none of its channels is taken.
            num_postponed, num_applied = 0, 0
            for w in range(num_waiting):
                k = waiting[w]
                pick = _lightest_unmarked_route(
                    hops, first_hop[k], num_hops, np.int64(routes[k]), load, backwards[source]
                )
                if pick < 0:
                    waiting[num_postponed] = k
                    num_postponed += 1
                    continue
                chosen[source * num_endpoints + target[first_pair + k]] = pick
                first_hop[k] += pick * num_hops
                for h in range(first_hop[k], first_hop[k] + num_hops):
                    load[hops[h]] += CROSSED
                applied[num_applied] = k
                num_applied += 1
            # 2. The loads of the chosen routes in place of the marks.
            for a in range(num_applied):
                k = applied[a]
                pair_demand = demand[source] * demand[target[first_pair + k]]
                for h in range(first_hop[k], first_hop[k] + num_hops):
                    load[hops[h]] += pair_demand - CROSSED
            num_waiting = num_postponed
    return trees


@helper()
def _lightest_unmarked_route(hops, first_hop, num_hops, routes, load, backwards):
    """Return the number of a pair's lightest route if none of its channels is marked, else −1.

    Parameters
    ----------
    hops : uint32 array
        ``hops[first_hop:first_hop + routes * num_hops]`` are the channels of the pair's routes of
        `num_hops` hops.
    """
    # 1. Usually the pair has to wait because the first channels of all its routes are marked. A
    #    marked load is CROSSED + the load, and CROSSED is one bit, above those of any load. So the
    #    bit remains in the AND of all these loads only if each of them is marked.
    marked = CROSSED
    hop = np.uint64(first_hop)
    for _ in range(routes):
        marked &= load[hops[hop]]
        hop += np.uint64(num_hops)
    if marked:
        return np.int64(-1)
    # 2. The lightest route, by weights without marks. If it is marked, the pair waits, even if a
    #    heavier one is unmarked. The sum of a route with m marked channels is m · CROSSED + its
    #    weight, and the weight is below CROSSED.
    lightest, least_cost = np.int64(-1), np.int64(0)
    hop = np.uint64(first_hop)
    for r in range(routes):
        cost = np.int64(0)
        for _ in range(num_hops):
            cost += load[hops[hop]]
            hop += np.uint64(1)
        # the lowest 40 bits of the sums
        weight, least_weight = cost & (CROSSED - 1), least_cost & (CROSSED - 1)
        if r == 0 or weight < least_weight or (backwards and weight == least_weight):
            lightest, least_cost = r, cost
    return lightest if least_cost < CROSSED else np.int64(-1)
