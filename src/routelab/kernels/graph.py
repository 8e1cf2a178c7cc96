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

    A vertex is a switch with what the rules remember of a route, an edge a hop that they allow::

        vertex_switch[v]                           switch of vertex v
        accepting[v]                               whether a route may end at v
        begin[s]                                   vertex where the routes from switch s begin
        edge_*[edge_start[v] : edge_start[v + 1]]  edges that leave v: their vertices, channel
        in_edge[in_start[v] : in_start[v + 1]]     numbers of the edges that enter v

    Built by `routelab.api.RoutingGraph.ordered`.
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

    Built by `routelab.toolkit.search_arrays`::

        endpoints[i]    switch with terminals
        lengths[i, j]   hops of the shortest legal routes from endpoint i to endpoint j; −1: none
        demand[i]       terminals at endpoint i; a route from i to j adds demand[i] * demand[j] to
                        the loads of its channels
        order           indices of the endpoints in the order in which their trees are grown
        backwards[i]    whether the tree of endpoint i takes the last of equal routes in the graph's
                        edge order, else the first
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
    next_position = in_start[:-1].copy()
    in_edge = np.empty(len(edge_target), np.int32)
    for e in range(len(edge_target)):
        v = edge_target[e]
        in_edge[next_position[v]] = e
        next_position[v] += 1
    return in_start, in_edge


@jit
def levels_to(graph, switch, level, queue):
    """Compute the hops from every vertex to the nearest accepting vertex of `switch`.

    Parameters
    ----------
    graph : GraphArrays
    switch : int
    level : int32 array, shape (V,)
        Overwritten: the hops from each vertex, −1 if none of its routes ends at the switch.
    queue : int32 array, shape (V,)
        Overwritten: its first `reached` entries are the reached vertices, ascending by level.

    Returns
    -------
    reached : int
        Number of vertices from which the switch can be reached.
    """
    level[:] = -1
    reached = 0
    for v in range(len(level)):
        if graph.vertex_switch[v] == switch and graph.accepting[v]:
            level[v] = 0
            queue[reached] = v
            reached += 1
    next_in_queue = 0
    while next_in_queue < reached:
        v = queue[next_in_queue]
        next_in_queue += 1
        for i in range(graph.in_start[v], graph.in_start[v + 1]):
            u = graph.edge_source[graph.in_edge[i]]
            if level[u] < 0:
                level[u] = level[v] + 1
                queue[reached] = u
                reached += 1
    return reached


@jit
def route_lengths(graph, endpoints):
    """Compute the hops of the shortest legal route of every ordered pair of endpoints.

    Returns
    -------
    lengths : int32 array, shape (P, P)
        Row: source, column: target; −1 for no legal route.
    """
    num_endpoints = len(endpoints)
    lengths = np.empty((num_endpoints, num_endpoints), np.int32)
    level = np.empty(len(graph.vertex_switch), np.int32)
    queue = np.empty(len(graph.vertex_switch), np.int32)
    for j in range(num_endpoints):
        levels_to(graph, endpoints[j], level, queue)
        for i in range(num_endpoints):
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
    num_endpoints = len(endpoints)
    counts = np.zeros((num_endpoints, num_endpoints), np.float64)
    level = np.empty(len(graph.vertex_switch), np.int32)
    queue = np.empty(len(graph.vertex_switch), np.int32)
    num_routes = np.zeros(len(graph.vertex_switch), np.float64)
    for j in range(num_endpoints):
        reached = levels_to(graph, endpoints[j], level, queue)
        for k in range(reached):
            v = queue[k]
            if level[v] == 0:
                num_routes[v] = 1.0
                continue
            total = 0.0
            for e in range(graph.edge_start[v], graph.edge_start[v + 1]):
                if level[graph.edge_target[e]] == level[v] - 1:
                    total += num_routes[graph.edge_target[e]]
            num_routes[v] = total
        for i in range(num_endpoints):
            v = graph.begin[endpoints[i]]
            if level[v] >= 0:
                counts[i, j] = num_routes[v]
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
    num_endpoints = len(endpoints)
    num_vertices = len(graph.vertex_switch)
    # More turns than any route has, and small enough that one turn more fits into int32.
    no_route = 1 << 30
    turns = np.full((num_endpoints, num_endpoints), -1, np.int32)
    level = np.empty(num_vertices, np.int32)
    queue = np.empty(num_vertices, np.int32)
    # fewest_by_direction[v, d + 1]: fewest turns from v on, if the first hop goes in direction d.
    # Column 0 is for channels without a label, −1.
    fewest_by_direction = np.empty((num_vertices, num_directions + 1), np.int32)
    fewest = np.empty(num_vertices, np.int32)
    for j in range(num_endpoints):
        reached = levels_to(graph, endpoints[j], level, queue)
        for k in range(reached):
            v = queue[k]
            fewest_by_direction[v, :] = no_route
            fewest[v] = 0 if level[v] == 0 else no_route
            if level[v] == 0:
                continue
            for e in range(graph.edge_start[v], graph.edge_start[v + 1]):
                w = graph.edge_target[e]
                if level[w] != level[v] - 1:
                    continue
                d = channel_direction[graph.edge_channel[e]] + 1
                # The last hop has no turn behind it. Before others, either the route goes straight
                # on in direction d, or it takes the best direction and counts a turn.
                least_turns = 0
                if level[w] > 0:
                    least_turns = min(fewest_by_direction[w, d], fewest[w] + 1)
                if least_turns < fewest_by_direction[v, d]:
                    fewest_by_direction[v, d] = least_turns
                    fewest[v] = min(fewest[v], least_turns)
        for i in range(num_endpoints):
            v = graph.begin[endpoints[i]]
            if level[v] >= 0:
                turns[i, j] = fewest[v]
    return turns


class TreeScratch(NamedTuple):
    """Work arrays of `grow_tree`; `tree_scratch` allocates them.

    After a call that visited n vertices, ``queue[:n]`` holds these level by level. Within a level
    they are in the order of their best routes, which the other arrays describe: ``level`` has the
    hops from the root (−1: not visited), ``cost`` the weight of all channels, ``parent_edge`` the
    last edge (−1 at the root).
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
        Hops from the root to the last level to search.
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
    level_begin, visited, next_level = 0, 1, 0
    while level_begin < visited and next_level < last_level:
        level_end = visited
        next_level += 1
        # 1. The cheapest edge into each vertex of the next level; of equal ones the first.
        for k in range(level_begin, level_end):
            u = queue[k]
            first_edge, edge_end = graph.edge_start[u], graph.edge_start[u + 1]
            for i in range(first_edge, edge_end):
                # backwards: from the last edge of u to its first
                e = first_edge + edge_end - 1 - i if backwards else i
                v = graph.edge_target[e]
                new_cost = cost[u] + weight[graph.edge_channel[e]]
                if level[v] < 0 or (level[v] == next_level and new_cost < cost[v]):
                    level[v] = next_level
                    cost[v] = new_cost
                    parent_edge[v] = e
        # 2. Queue these vertices in the order of their best edges, not of their first ones. So
        #    the queue is in the order of the routes, and ties do not depend on how many vertices
        #    the graph has for one physical route.
        for k in range(level_begin, level_end):
            u = queue[k]
            first_edge, edge_end = graph.edge_start[u], graph.edge_start[u + 1]
            for i in range(first_edge, edge_end):
                e = first_edge + edge_end - 1 - i if backwards else i
                v = graph.edge_target[e]
                if level[v] == next_level and parent_edge[v] == e:
                    queue[visited] = v
                    visited += 1
        level_begin = level_end
    return visited


@jit
def find_route_ends(graph, tree, visited, best_vertex):
    """Find where the best route of a tree to each switch ends.

    A switch may have several vertices, one for each state of the rules.

    Parameters
    ----------
    graph : GraphArrays
    tree : TreeScratch
    visited : int
        Result of `grow_tree`.
    best_vertex : int32 array, shape (S,)
        Overwritten: the last vertex of the best route to each switch, −1 for none.
    """
    # The vertices are visited by ascending level, and those of a level in the order of their
    # routes. So the first accepting vertex of a switch has the fewest hops. A later one of the same
    # level replaces it only if its route weighs less: of equal routes the first one is best.
    best_vertex[:] = -1
    for k in range(visited):
        v = tree.queue[k]
        if not graph.accepting[v]:
            continue
        s = graph.vertex_switch[v]
        best = best_vertex[s]
        if best < 0 or (tree.level[v] == tree.level[best] and tree.cost[v] < tree.cost[best]):
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
