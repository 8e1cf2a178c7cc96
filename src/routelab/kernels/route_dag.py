"""The acyclic part of a routing graph with the shortest legal routes from one switch."""

import numpy as np

from routelab.kernels.jit import jit


@jit
def shortest_route_edges(graph, source, terminals):
    """Find the part of a routing graph with the shortest legal routes from one switch.

    Parameters
    ----------
    graph : GraphArrays
    source : int
        A switch.
    terminals : int64 array, shape (S,)

    Returns
    -------
    edges : int32 array
        Edges of the routes, by hop.
    stops : int32 array
        Last vertices of routes to terminals of other switches, ascending by hops.
    """
    size = len(graph.vertex_switch)
    level = np.full(size, -1, np.int32)
    queue = np.empty(size, np.int32)
    nearest = np.full(len(graph.begin), -1, np.int32)
    stopping = np.zeros(size, np.bool_)
    useful = np.zeros(size, np.bool_)
    root = graph.begin[source]
    level[root] = 0
    queue[0] = root
    head, tail, edges, stops = 0, 1, 0, 0
    while head < tail:
        v = queue[head]
        head += 1
        t = graph.vertex_switch[v]
        if graph.accepting[v] and t != source and terminals[t] > 0:
            if nearest[t] < 0:
                nearest[t] = level[v]
            if nearest[t] == level[v]:
                stopping[v] = True
                useful[v] = True
                stops += 1
        for e in range(graph.edge_start[v], graph.edge_start[v + 1]):
            w = graph.edge_target[e]
            if level[w] < 0:
                level[w] = level[v] + 1
                queue[tail] = w
                tail += 1
            if level[w] == level[v] + 1:
                edges += 1
    stop = np.empty(stops, np.int32)
    useful_edges = np.empty(edges, np.int32)
    for k in range(tail - 1, -1, -1):
        v = queue[k]
        if stopping[v]:
            stops -= 1
            stop[stops] = v
        for e in range(graph.edge_start[v], graph.edge_start[v + 1]):
            w = graph.edge_target[e]
            if level[w] == level[v] + 1 and useful[w]:
                useful[v] = True
                edges -= 1
                useful_edges[edges] = e
    return useful_edges[edges:].copy(), stop
