"""Lightest shortest trees towards a switch, and updates of loads.

The forward tree is in `routelab.kernels.graph`.
"""

import numpy as np

from routelab.kernels.graph import levels_to
from routelab.kernels.jit import jit


@jit
def grow_tree_to(graph, switch, weight, backwards, tree):
    """Find the lightest shortest routes from every vertex to one switch.

    As in `routelab.kernels.graph.grow_tree`, hops count first and weight second. Of equal routes,
    the one whose edge out of the vertex comes first is chosen.

    Parameters
    ----------
    graph : GraphArrays
    switch : int
    weight : int64 array, shape (C,)
    backwards : bool
    tree : TreeScratch
        Overwritten: ``level`` hops to the switch (−1: unreachable), ``cost``, and in
        ``parent_edge`` the edge to take (−1 at the switch's accepting vertices).
    """
    level, cost, edge = tree.level, tree.cost, tree.parent_edge
    reached = levels_to(graph, switch, level, tree.queue)
    for k in range(reached):
        v = tree.queue[k]
        edge[v] = -1
        cost[v] = 0
        if level[v] == 0:
            continue
        first_edge, end = graph.edge_start[v], graph.edge_start[v + 1]
        for i in range(first_edge, end):
            e = first_edge + end - 1 - i if backwards else i
            w = graph.edge_target[e]
            if level[w] != level[v] - 1:
                continue
            price = cost[w] + weight[graph.edge_channel[e]]
            if edge[v] < 0 or price < cost[v]:
                edge[v] = e
                cost[v] = price


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
    """Return the index of each pair's first hop, pair after pair.

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
