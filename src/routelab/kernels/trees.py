"""Lightest shortest trees towards a switch, and updates of loads.

The forward tree is in `routelab.kernels.graph`.
"""

import numpy as np

from routelab.kernels.graph import levels_to
from routelab.kernels.jit import jit


@jit
def grow_tree_to(graph, switch, weight, backwards, tree):
    """Find the lightest shortest route from every vertex to one switch.

    Of the routes with the fewest hops it is the one with the least weight; of equal ones, the one
    whose edge out of the vertex comes first.

    Parameters
    ----------
    graph : GraphArrays
    switch : int
    weight : int64 array, shape (C,)
        Load of each channel.
    backwards : bool
        Choose the last of equal routes instead.
    tree : TreeScratch
        Overwritten, by vertex: ``level`` is the hops to the switch (−1: unreachable), ``cost`` the
        weight of all channels on the route, ``parent_edge`` the edge to take (−1 at the accepting
        vertices of the switch).
    """
    level, cost, next_edge = tree.level, tree.cost, tree.parent_edge
    reached = levels_to(graph, switch, level, tree.queue)
    for k in range(reached):
        v = tree.queue[k]
        next_edge[v] = -1
        cost[v] = 0
        if level[v] == 0:
            continue
        first_edge, edge_end = graph.edge_start[v], graph.edge_start[v + 1]
        for i in range(first_edge, edge_end):
            # backwards: from the last edge of v to its first
            e = first_edge + edge_end - 1 - i if backwards else i
            w = graph.edge_target[e]
            if level[w] != level[v] - 1:
                continue
            new_cost = cost[w] + weight[graph.edge_channel[e]]
            if next_edge[v] < 0 or new_cost < cost[v]:
                next_edge[v] = e
                cost[v] = new_cost


@jit
def follow_route(graph, tree, vertex, hops):
    """Write the channels from `vertex` along the edges of `grow_tree_to` into `hops`."""
    v = vertex
    for k in range(len(hops)):
        e = tree.parent_edge[v]
        hops[k] = graph.edge_channel[e]
        v = graph.edge_target[e]


@jit
def add_route(weight, hops, amount):
    """Add `amount` to the weight of every channel in `hops`."""
    for c in hops:
        weight[c] += amount


@jit
def route_offsets(lengths):
    """Return where the hops of each pair begin in an array of all hops, pair after pair.

    Lengths 2, −1 and 3: 0, 2, 2, 5.

    Parameters
    ----------
    lengths : int32 array, shape (P, D)
        Negative: unreachable.

    Returns
    -------
    start : int64 array, shape (P * D + 1,)
    """
    flat = lengths.reshape(-1)
    start = np.zeros(len(flat) + 1, np.int64)
    for p in range(len(flat)):
        start[p + 1] = start[p] + max(flat[p], 0)
    return start
