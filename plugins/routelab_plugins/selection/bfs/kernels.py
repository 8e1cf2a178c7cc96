"""Algorithms 1 and 2 of the Angara paper."""

import numpy as np

from routelab.kernels.graph import tree_scratch, write_route
from routelab.kernels.jit import helper, jit
from routelab.kernels.trees import add_route, route_offsets

SUM, SMALLEST, LARGEST, FIRST, UNSORTED = 0, 1, 2, 3, 4


@helper()
def _outgoing_weight(graph, weight, v, reading):
    """Return the key by which a vertex is sorted, from the weights of its outgoing channels.

    The paper leaves open how several weights make one key: `reading` says it (`SUM`, …).
    """
    first, last = graph.edge_start[v], graph.edge_start[v + 1]
    if reading == UNSORTED or first == last:
        return 0
    result = weight[graph.edge_channel[first]]
    if reading == FIRST:
        return result
    for e in range(first + 1, last):
        w = weight[graph.edge_channel[e]]
        if reading == SUM:
            result += w
        elif reading == SMALLEST:
            result = min(result, w)
        else:
            result = max(result, w)
    return result


@helper()
def _grow_sorted_tree(graph, root, weight, reading, backwards, tree, arrival):
    """Grow a breadth-first tree, each level in ascending order of outgoing weights (Algorithm 2).

    `tree` is updated, and `arrival` gets the vertex at which routes to each switch end (−1: none).
    This is the accepting one that is discovered first, before its level is sorted. The paper has an
    end vertex behind each switch instead; loads decide nothing there, as no channel leads to it.
    """
    # The vertices of one level are ``queue[head:end]``; those of the next are put behind them.
    level, parent_edge, queue = tree.level, tree.parent_edge, tree.queue
    level[:] = -1
    arrival[:] = -1
    level[root] = 0
    arrival[graph.vertex_switch[root]] = root
    queue[0] = root
    head, tail, depth = 0, 1, 0
    while head < tail:
        end = tail
        # 1. Sort the level. The sort is stable: equal weights stay in the order of discovery.
        if reading != UNSORTED:
            keys = np.empty(end - head, np.int64)
            for k in range(head, end):
                keys[k - head] = _outgoing_weight(graph, weight, queue[k], reading)
            queue[head:end] = queue[head:end][np.argsort(keys, kind="mergesort")]
        # 2. Discover the next level.
        depth += 1
        for k in range(head, end):
            vertex = queue[k]
            first, last = graph.edge_start[vertex], graph.edge_start[vertex + 1]
            for i in range(first, last):
                # edges first to last - 1, or from the last one to the first
                edge = first + last - 1 - i if backwards else i
                neighbour = graph.edge_target[edge]
                if level[neighbour] < 0:
                    level[neighbour] = depth
                    parent_edge[neighbour] = edge
                    queue[tail] = neighbour
                    tail += 1
                    if graph.accepting[neighbour] and arrival[graph.vertex_switch[neighbour]] < 0:
                        arrival[graph.vertex_switch[neighbour]] = neighbour
        head = end


@jit
def build_routes_bfs(search, reading):
    """Build breadth-first trees from all sources, each far from the one before (Algorithm 1).

    Parameters
    ----------
    search : SearchArrays
        The first endpoint in its order is the first source.
    reading : int
        `SUM`, `SMALLEST`, `LARGEST`, `FIRST` or `UNSORTED`.

    Returns
    -------
    hops : int32 array
        Channels of all routes, pair after pair.
    """
    graph, endpoints, lengths = search.graph, search.endpoints, search.lengths
    num_endpoints = len(endpoints)
    route_start = route_offsets(lengths)
    hops = np.empty(route_start[-1], np.int32)
    weight = np.zeros(graph.num_channels, np.int64)
    tree = tree_scratch(len(graph.vertex_switch))
    arrival = np.empty(len(graph.begin), np.int32)
    is_built = np.zeros(num_endpoints, np.bool_)
    source = search.order[0]
    for _ in range(num_endpoints):
        # 1. A tree on the weights so far, and the routes that it has.
        root, backwards = graph.begin[endpoints[source]], search.backwards[source]
        _grow_sorted_tree(graph, root, weight, reading, backwards, tree, arrival)
        for target in range(num_endpoints):
            pair = source * num_endpoints + target
            if lengths[source, target] > 0:
                route = hops[route_start[pair] : route_start[pair + 1]]
                write_route(graph, tree, arrival[endpoints[target]], route)
        # 2. Weights change only when all routes of the tree are known.
        for target in range(num_endpoints):
            pair = source * num_endpoints + target
            route = hops[route_start[pair] : route_start[pair + 1]]
            add_route(weight, route, search.demand[source] * search.demand[target])
        # 3. The next source is the farthest of those that are left.
        is_built[source] = True
        farthest = -1
        for end in search.order:
            is_farther = farthest < 0 or lengths[source, end] > lengths[source, farthest]
            if not is_built[end] and is_farther:
                farthest = end
        source = farthest
    return hops
