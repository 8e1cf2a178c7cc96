"""Algorithms 1 and 2 of Mukosey, Semenov and Tretiakov, arXiv:2110.00851, here "the paper"."""

import numpy as np

from routelab.kernels.graph import tree_scratch, write_route
from routelab.kernels.jit import helper, jit
from routelab.kernels.trees import add_route, route_offsets

SUM, SMALLEST, LARGEST, FIRST, UNSORTED = 0, 1, 2, 3, 4
"""Key by which Algorithm 2 sorts a vertex: the sum of the weights of its outgoing channels, the
smallest, the largest, or the weight of the first one. UNSORTED: levels stay in the order of
discovery. The paper has an "ascending sort by outgoing edge weights", which can mean any of the
first four."""


@helper()
def _outgoing_weight(graph, weight, v, sort_key):
    """Return the key by which a vertex is sorted: see `SUM` for the values of `sort_key`."""
    first, last = graph.edge_start[v], graph.edge_start[v + 1]
    if sort_key == UNSORTED or first == last:
        return 0
    result = weight[graph.edge_channel[first]]
    if sort_key == FIRST:
        return result
    for e in range(first + 1, last):
        w = weight[graph.edge_channel[e]]
        if sort_key == SUM:
            result += w
        elif sort_key == SMALLEST:
            result = min(result, w)
        else:
            result = max(result, w)
    return result


@helper()
def _grow_sorted_tree(graph, root, weight, sort_key, backwards, tree, arrival):
    """Grow a breadth-first tree, each level in ascending order of outgoing weights (Algorithm 2).

    `tree` and `arrival` are overwritten. `arrival` gets the vertex at which routes to each switch
    end (−1: none). This is the accepting one that is discovered first, before its level is sorted.
    The paper has an end vertex behind each switch instead; loads decide nothing there, as no
    channel leads to it.

    `backwards` reverses the order in which the edges of a vertex are followed. The first edge to
    come to a neighbour becomes the edge from its parent.
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
        if sort_key != UNSORTED:
            keys = np.empty(end - head, np.int64)
            for k in range(head, end):
                keys[k - head] = _outgoing_weight(graph, weight, queue[k], sort_key)
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
def build_routes_bfs(search, sort_key):
    """Build breadth-first trees from all endpoints, as sources (Algorithm 1).

    The weight of a channel is its load by the routes of all trees so far. After each tree, the next
    source is the endpoint with the most hops from this one, of those without a tree.

    Parameters
    ----------
    search : SearchArrays
        The first endpoint in its order is the first source.
    sort_key : int
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
        # 1. A tree on the weights so far, and its routes, written to `hops`.
        root, backwards = graph.begin[endpoints[source]], search.backwards[source]
        _grow_sorted_tree(graph, root, weight, sort_key, backwards, tree, arrival)
        for target in range(num_endpoints):
            pair = source * num_endpoints + target
            if lengths[source, target] > 0:
                route = hops[route_start[pair] : route_start[pair + 1]]
                write_route(graph, tree, arrival[endpoints[target]], route)
        # 2. Add its routes to `weight`, only now that all of them are known.
        for target in range(num_endpoints):
            pair = source * num_endpoints + target
            route = hops[route_start[pair] : route_start[pair + 1]]
            add_route(weight, route, search.demand[source] * search.demand[target])
        # 3. The next source: of those that are left, the farthest from this one.
        is_built[source] = True
        farthest = -1
        for end in search.order:
            is_farther = farthest < 0 or lengths[source, end] > lengths[source, farthest]
            if not is_built[end] and is_farther:
                farthest = end
        source = farthest
    return hops
