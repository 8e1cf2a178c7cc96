"""Cheapest legal routes of any length, and their exchange, pair by pair."""

import numpy as np

from routelab.kernels.jit import inline, jit


@jit
def sweep(edge_source, edge_target, edge_price, begins, distance, last_edge):
    """Find the cheapest walks from some vertices to all vertices of a routing graph.

    One pass over the edges serves all sources at once. If every edge follows those that lead to its
    source, the first pass finds everything; in other graphs passes are repeated until none improves
    a walk.

    Parameters
    ----------
    edge_source, edge_target : int32 array, shape (E,)
        In the order of the passes.
    edge_price : float32 array, shape (E,)
        Positive.
    begins : int32 array, shape (Q,)
        Vertex in which the walks of each source begin.
    distance : float32 array, shape (V, Q)
        Overwritten with the price of the cheapest walk, infinite if there is none.
    last_edge : int32 array, shape (V, Q)
        Overwritten with the last edge of that walk, -1 at its begin.
    """
    sources = len(begins)
    distance[:] = np.inf
    last_edge[:] = -1
    for q in range(sources):
        distance[begins[q], q] = 0
    improves = True
    while improves:
        improves = False
        for e in range(len(edge_source)):
            price = edge_price[e]
            from_distance, to_distance = distance[edge_source[e]], distance[edge_target[e]]
            to_last_edge = last_edge[edge_target[e]]
            improves_any = False
            for q in range(sources):
                better = from_distance[q] + price < to_distance[q]
                improves_any |= better
                to_distance[q] = from_distance[q] + price if better else to_distance[q]
                to_last_edge[q] = e if better else to_last_edge[q]
            improves |= improves_any


@inline
def route_cost(route, num_hops, weight, load, emphasis, cost):
    """Return what the `num_hops` hops of a route cost if it adds `weight` to the present loads."""
    total = 0.0
    for h in range(num_hops):
        c = route[h]
        # `cost` is a table by load; the load here includes the route itself.
        # During an exchange a load may exceed the largest one that `cost` was made for.
        total += emphasis[c] * cost[min(load[c] + weight, len(cost) - 1)]
    return total


@jit
def exchange(
    order, edges, walks, stops, row_source, row_target, weight, cost, emphasis, routes, load
):
    """Offer each row the cheapest route of a sweep, one after the other.

    A row takes it if it costs no more than its present route at the loads of this moment, without
    the row itself. So a sweep at old prices serves many rows that would all move to one channel.

    Parameters
    ----------
    order : int64 array
        All rows, in the order of the offers.
    edges : tuple of (int32 array, int32 array), shape (E,) each
        Source vertex and channel of each edge.
    walks : tuple of (float32 array, int32 array), shape (V, Q) each
        As `sweep` leaves them.
    stops : tuple of (int32 array, int32 array)
        Accepting vertices of target j: ``stops[1][stops[0][j]:stops[0][j + 1]]``.
    row_source, row_target : int32 array, shape (R,)
        Index of the row's source and target.
    weight : int64 array, shape (R,)
        What a row adds to the load of its channels.
    cost : float64 array
        Price of a channel by its load; greater loads cost as much as the last one.
    emphasis : float64 array, shape (C,)
        Factor of each channel's price.
    routes : tuple of (int32 array, shape (R, W), int32 array, shape (R,))
        Channels of the present route of each row, and number of hops, -1 for no route. Updated.
    load : int64 array, shape (C,)
        Updated.
    """
    edge_source, edge_channel = edges
    distance, last_edge = walks
    stop_start, stop_vertex = stops
    hops, length = routes
    offered = np.empty(hops.shape[1], np.int32)
    for r in order:
        q, j, row_weight = row_source[r], row_target[r], weight[r]
        # 1. The cheapest walk to the target, from its end.
        vertex = np.int64(-1)
        for i in range(stop_start[j], stop_start[j + 1]):
            v = np.int64(stop_vertex[i])
            if vertex < 0 or distance[v, q] < distance[vertex, q]:
                vertex = v
        if vertex < 0 or not np.isfinite(distance[vertex, q]):
            continue  # no legal route
        num_hops = 0
        while last_edge[vertex, q] >= 0 and num_hops < len(offered):
            e = last_edge[vertex, q]
            offered[num_hops] = edge_channel[e]
            num_hops += 1
            vertex = np.int64(edge_source[e])
        if last_edge[vertex, q] >= 0:
            continue  # the walk has more hops than `routes` has columns
        # 2. What both routes cost if the row were placed last. A row without a route has length -1,
        #    so these loops do nothing.
        for h in range(length[r]):
            load[hops[r, h]] -= row_weight
        present_cost = route_cost(hops[r], length[r], row_weight, load, emphasis, cost)
        offered_cost = route_cost(offered, num_hops, row_weight, load, emphasis, cost)
        # 3. Ties go to the offered route, so that the search does not stand still.
        if length[r] < 0 or offered_cost <= present_cost:
            length[r] = num_hops
            for h in range(num_hops):
                hops[r, h] = offered[num_hops - 1 - h]  # the walk was followed from its end
        for h in range(length[r]):
            load[hops[r, h]] += row_weight
