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
    # 1. Forwards, breadth first. A switch is reached at the level of its nearest accepting vertex;
    #    further ones of that level are stops, too. Edges to the next level are counted, which are
    #    at least those of shortest routes.
    root = graph.begin[source]
    level[root] = 0
    queue[0] = root
    head, tail, num_edges, num_stops = 0, 1, 0, 0
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
                num_stops += 1
        for e in range(graph.edge_start[v], graph.edge_start[v + 1]):
            w = graph.edge_target[e]
            if level[w] < 0:
                level[w] = level[v] + 1
                queue[tail] = w
                tail += 1
            if level[w] == level[v] + 1:
                num_edges += 1
    # 2. Backwards, from the furthest vertices: an edge is part of a shortest route if it leads to
    #    a stop or to a vertex from which one is reached. So the arrays are filled from their ends.
    stops = np.empty(num_stops, np.int32)
    edges = np.empty(num_edges, np.int32)
    for k in range(tail - 1, -1, -1):
        v = queue[k]
        if stopping[v]:
            num_stops -= 1
            stops[num_stops] = v
        for e in range(graph.edge_start[v], graph.edge_start[v + 1]):
            w = graph.edge_target[e]
            if level[w] == level[v] + 1 and useful[w]:
                useful[v] = True
                num_edges -= 1
                edges[num_edges] = e
    return edges[num_edges:].copy(), stops
