"""Searches on a routing graph: levels, route counts, turns, and lightest shortest trees.

All functions consider *shortest legal* routes. A route's hops come first and its weight (the
load of its channels) second, so the |N|² offset that the Angara paper gives to every edge is not
needed. Of several routes that are equal in both, the one whose channels come first in the graph's
edge order, compared hop by hop from the source, is chosen; the choice does not depend on the number
of states that the graph has for the same physical route.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from routelab.kernels.jit import jit


class GraphArrays(NamedTuple):
    """A routing graph as plain arrays (V vertices, E edges, S switches); all read-only.

    `edge_*` are in CSR order by the vertex they leave, `in_edge` lists the edges that enter each
    vertex. Built by `routelab.api.RoutingGraph.ordered`.
    """

    num_channels: int
    vertex_switch: NDArray[np.int32]
    accepting: NDArray[np.bool_]
    begin: NDArray[np.int32]
    edge_start: NDArray[np.int32]
    edge_source: NDArray[np.int32]
    edge_target: NDArray[np.int32]
    edge_channel: NDArray[np.int32]
    in_start: NDArray[np.int32]
    in_edge: NDArray[np.int32]


class SearchArrays(NamedTuple):
    """Input of selections that grow trees (P endpoints); all arrays are read-only.

    ``lengths``: hops of the shortest legal route of every ordered pair, −1 for none; ``demand``:
    terminals at each endpoint (a route counts as the product of both ends'); ``order``: endpoints
    in tie order; ``backwards``: endpoints whose searches use the reverse tie order. Built by
    `routelab.toolkit.search_arrays`.
    """

    graph: GraphArrays
    endpoints: NDArray[np.int32]
    lengths: NDArray[np.int32]
    demand: NDArray[np.int64]
    order: NDArray[np.int64]
    backwards: NDArray[np.bool_]


@jit
def reverse_adjacency(edge_target, num_vertices):
    """List the edges that enter each vertex, ascending.

    Parameters
    ----------
    edge_target : int32 array, shape (E,)
    num_vertices : int

    Returns
    -------
    in_start : int32 array, shape (V + 1,)
    in_edge : int32 array, shape (E,)
    """
    in_start = np.zeros(num_vertices + 1, np.int32)
    for v in edge_target:
        in_start[v + 1] += 1
    for v in range(num_vertices):
        in_start[v + 1] += in_start[v]
    fill = in_start[:-1].copy()
    in_edge = np.empty(len(edge_target), np.int32)
    for e in range(len(edge_target)):
        v = edge_target[e]
        in_edge[fill[v]] = e
        fill[v] += 1
    return in_start, in_edge


@jit
def levels_to(graph, switch, level, queue):
    """Compute the hops from every vertex to the nearest accepting vertex of `switch`.

    Parameters
    ----------
    graph : GraphArrays
    switch : int
    level : int32 array, shape (V,)
        Overwritten: the hops, −1 if the switch is unreachable.
    queue : int32 array, shape (V,)
        Scratch; the first n entries are the reached vertices in ascending order of level.

    Returns
    -------
    n : int
    """
    level[:] = -1
    tail = 0
    for v in range(len(level)):
        if graph.vertex_switch[v] == switch and graph.accepting[v]:
            level[v] = 0
            queue[tail] = v
            tail += 1
    head = 0
    while head < tail:
        v = queue[head]
        head += 1
        for i in range(graph.in_start[v], graph.in_start[v + 1]):
            u = graph.edge_source[graph.in_edge[i]]
            if level[u] < 0:
                level[u] = level[v] + 1
                queue[tail] = u
                tail += 1
    return tail


@jit
def route_lengths(graph, endpoints):
    """Compute the hops of the shortest legal route of every ordered pair of endpoints.

    Returns
    -------
    lengths : int32 array, shape (P, P)
        Row: source, column: target; −1 for no legal route.
    """
    count = len(endpoints)
    lengths = np.empty((count, count), np.int32)
    level = np.empty(len(graph.vertex_switch), np.int32)
    queue = np.empty(len(graph.vertex_switch), np.int32)
    for j in range(count):
        levels_to(graph, endpoints[j], level, queue)
        for i in range(count):
            lengths[i, j] = level[graph.begin[endpoints[i]]]
    return lengths


@jit
def count_routes(graph, endpoints):
    """Count the shortest legal routes of every ordered pair of endpoints.

    The graph must be deterministic: then paths are physical routes and nothing is counted twice.

    Returns
    -------
    counts : float64 array, shape (P, P)
        Exact up to 2^53; 1 for a pair of an endpoint with itself, 0 if unreachable.
    """
    count = len(endpoints)
    counts = np.zeros((count, count), np.float64)
    level = np.empty(len(graph.vertex_switch), np.int32)
    queue = np.empty(len(graph.vertex_switch), np.int32)
    ways = np.zeros(len(graph.vertex_switch), np.float64)
    for j in range(count):
        reached = levels_to(graph, endpoints[j], level, queue)
        for k in range(reached):
            v = queue[k]
            if level[v] == 0:
                ways[v] = 1.0
                continue
            total = 0.0
            for e in range(graph.edge_start[v], graph.edge_start[v + 1]):
                if level[graph.edge_target[e]] == level[v] - 1:
                    total += ways[graph.edge_target[e]]
            ways[v] = total
        for i in range(count):
            v = graph.begin[endpoints[i]]
            if level[v] >= 0:
                counts[i, j] = ways[v]
    return counts


@jit
def fewest_turns(graph, endpoints, channel_direction, num_directions):
    """Find the fewest changes of direction on a shortest legal route of every ordered pair.

    Parameters
    ----------
    channel_direction : int16 array, shape (C,)
        −1 (no label) counts as a separate direction.
    num_directions : int

    Returns
    -------
    turns : int32 array, shape (P, P)
        0 for a pair of an endpoint with itself, −1 if unreachable.
    """
    count = len(endpoints)
    size = len(graph.vertex_switch)
    far = 1 << 30
    turns = np.full((count, count), -1, np.int32)
    level = np.empty(size, np.int32)
    queue = np.empty(size, np.int32)
    # fewest_by_direction[v, d]: fewest turns from v on, if the first hop goes in direction d
    fewest_by_direction = np.empty((size, num_directions + 1), np.int32)
    fewest = np.empty(size, np.int32)
    for j in range(count):
        reached = levels_to(graph, endpoints[j], level, queue)
        for k in range(reached):
            v = queue[k]
            fewest_by_direction[v, :] = far
            fewest[v] = 0 if level[v] == 0 else far
            if level[v] == 0:
                continue
            for e in range(graph.edge_start[v], graph.edge_start[v + 1]):
                w = graph.edge_target[e]
                if level[w] != level[v] - 1:
                    continue
                d = channel_direction[graph.edge_channel[e]] + 1
                least_turns = 0
                if level[w] > 0:
                    least_turns = min(fewest_by_direction[w, d], fewest[w] + 1)
                if least_turns < fewest_by_direction[v, d]:
                    fewest_by_direction[v, d] = least_turns
                    fewest[v] = min(fewest[v], least_turns)
        for i in range(count):
            v = graph.begin[endpoints[i]]
            if level[v] >= 0:
                turns[i, j] = fewest[v]
    return turns


class TreeScratch(NamedTuple):
    """Work arrays of `grow_tree`; `tree_scratch` allocates them.

    After a call, ``queue[:n]`` holds the visited vertices level by level, sorted by their best
    routes; ``level``, ``cost`` and ``parent_edge`` describe those routes.
    """

    level: NDArray[np.int32]
    cost: NDArray[np.int64]
    parent_edge: NDArray[np.int32]
    queue: NDArray[np.int32]


@jit
def tree_scratch(num_vertices):
    """Allocate work arrays for `grow_tree` on a graph with `num_vertices` vertices."""
    return TreeScratch(
        np.empty(num_vertices, np.int32),
        np.empty(num_vertices, np.int64),
        np.empty(num_vertices, np.int32),
        np.empty(num_vertices, np.int32),
    )


@jit
def grow_tree(graph, root, weight, backwards, last_level, tree):
    """Find the lightest shortest routes from one vertex: Algorithm 4 of the Angara paper.

    A breadth-first search with relaxation inside each level. Every edge costs one hop first and
    its channel's weight second, so a level is final after one visit.

    Parameters
    ----------
    graph : GraphArrays
    root : int
        Vertex to start from.
    weight : int64 array, shape (C,)
        Load of each channel.
    backwards : bool
        Break ties by the reversed edge order.
    last_level : int
        Largest number of hops to search.
    tree : TreeScratch
        Overwritten.

    Returns
    -------
    n : int
        Number of visited vertices.
    """
    level, cost, parent_edge, queue = tree.level, tree.cost, tree.parent_edge, tree.queue
    level[:] = -1
    level[root] = 0
    cost[root] = 0
    parent_edge[root] = -1
    queue[0] = root
    head, tail, depth = 0, 1, 0
    while head < tail and depth < last_level:
        end = tail
        depth += 1
        for k in range(head, end):
            u = queue[k]
            first_edge, stop = graph.edge_start[u], graph.edge_start[u + 1]
            for i in range(first_edge, stop):
                e = first_edge + stop - 1 - i if backwards else i
                v = graph.edge_target[e]
                price = cost[u] + weight[graph.edge_channel[e]]
                if level[v] < 0 or (level[v] == depth and price < cost[v]):
                    level[v] = depth
                    cost[v] = price
                    parent_edge[v] = e
        # a second pass sorts the level by its routes: this makes ties independent of the
        # number of states of a physical route
        for k in range(head, end):
            u = queue[k]
            first_edge, stop = graph.edge_start[u], graph.edge_start[u + 1]
            for i in range(first_edge, stop):
                e = first_edge + stop - 1 - i if backwards else i
                v = graph.edge_target[e]
                if level[v] == depth and parent_edge[v] == e:
                    queue[tail] = v
                    tail += 1
        head = end
    return tail


@jit
def settle_switches(graph, tree, visited, best_vertex):
    """Find each switch's best accepting vertex in a tree.

    Parameters
    ----------
    graph : GraphArrays
    tree : TreeScratch
    visited : int
        Result of `grow_tree`.
    best_vertex : int32 array, shape (S,)
        Overwritten: the last vertex of the best route to each switch, −1 for none.
    """
    best_vertex[:] = -1
    for k in range(visited):
        v = tree.queue[k]
        if not graph.accepting[v]:
            continue
        s = graph.vertex_switch[v]
        b = best_vertex[s]
        if b < 0 or (tree.level[v] == tree.level[b] and tree.cost[v] < tree.cost[b]):
            best_vertex[s] = v


@jit
def write_route(graph, tree, vertex, hops):
    """Write the channels of the tree's route to `vertex` into `hops`.

    Parameters
    ----------
    hops : int32 array, shape (level of the vertex,)
        Overwritten.
    """
    v = vertex
    for k in range(len(hops) - 1, -1, -1):
        e = tree.parent_edge[v]
        hops[k] = graph.edge_channel[e]
        v = graph.edge_source[e]
