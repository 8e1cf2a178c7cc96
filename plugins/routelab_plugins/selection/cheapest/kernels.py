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
            price, here, there = edge_price[e], distance[edge_source[e]], distance[edge_target[e]]
            last = last_edge[edge_target[e]]
            any_better = False
            for q in range(sources):
                better = here[q] + price < there[q]
                any_better |= better
                there[q] = here[q] + price if better else there[q]
                last[q] = e if better else last[q]
            improves |= any_better


@inline
def route_cost(route, count, weight, load, emphasis, cost):
    """Return what a route costs if it is placed last, after the loads of all others."""
    total = 0.0
    for h in range(count):
        c = route[h]
        # During an exchange a load may exceed the largest one that `cost` was made for.
        total += emphasis[c] * cost[min(load[c] + weight, len(cost) - 1)]
    return total


@jit
def exchange(
    rows, edges, walks, stops, row_source, row_target, weight, cost, emphasis, routes, load
):
    """Offer each row the cheapest route of a sweep, one after the other.

    A row takes it if it costs no more than its present route at the loads of this moment, without
    the row itself. So a sweep at old prices serves many rows that would all move to one channel.

    Parameters
    ----------
    rows : int64 array
        Order of the offers.
    edges : tuple of (int32 array, int32 array), shape (E,) each
        Source vertex and channel of each edge.
    walks : tuple of (float32 array, int32 array), shape (V, Q) each
        As `sweep` leaves them.
    stops : tuple of (int32 array, int32 array)
        Accepting vertices of target j: ``stops[1][stops[0][j]:stops[0][j + 1]]``.
    row_source, row_target : int32 array, shape (R,)
        Numbers of a source and a target.
    weight : int64 array, shape (R,)
        What a row adds to the load of its channels.
    cost : float64 array
        Price of a channel by its load; greater loads cost as much as the last one.
    emphasis : float64 array, shape (C,)
        Factor of each channel's price.
    routes : tuple of (int32 array, shape (R, W), int32 array, shape (R,))
        Channels of the present routes, and their numbers, -1 for none. Updated.
    load : int64 array, shape (C,)
        Updated.
    """
    edge_source, edge_channel = edges
    distance, last_edge = walks
    hops, length = routes
    offered = np.empty(hops.shape[1], np.int32)
    for r in rows:
        q, j, w = row_source[r], row_target[r], weight[r]
        # 1. The cheapest walk to the target, from its end.
        at = np.int64(-1)
        for i in range(stops[0][j], stops[0][j + 1]):
            v = np.int64(stops[1][i])
            if at < 0 or distance[v, q] < distance[at, q]:
                at = v
        if at < 0 or not np.isfinite(distance[at, q]):
            continue
        count = 0
        while last_edge[at, q] >= 0 and count < len(offered):
            e = last_edge[at, q]
            offered[count] = edge_channel[e]
            count += 1
            at = np.int64(edge_source[e])
        if last_edge[at, q] >= 0:
            continue  # longer than any route may be
        # 2. What both routes cost if the row were placed last.
        for h in range(length[r]):
            load[hops[r, h]] -= w
        present = route_cost(hops[r], length[r], w, load, emphasis, cost)
        new = route_cost(offered, count, w, load, emphasis, cost)
        # 3. Ties go to the new route, so that the search does not stand still.
        if length[r] < 0 or new <= present:
            length[r] = count
            for h in range(count):
                hops[r, h] = offered[count - 1 - h]
        for h in range(length[r]):
            load[hops[r, h]] += w
