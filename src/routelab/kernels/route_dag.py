"""The acyclic part of a routing graph with the shortest legal routes from one switch."""

import numpy as np

from routelab.kernels.jit import jit


@jit
def shortest_route_edges(graph, source, terminals):
    """Find the edges of all shortest legal routes from one switch to others with terminals.

    Parameters
    ----------
    graph : GraphArrays
    source : int
        A switch.
    terminals : int64 array, shape (S,)
        Number of terminals at each switch.

    Returns
    -------
    edges : int32 array
        Edges of the routes, first hops first.
    stops : int32 array
        Last vertices of the routes, ascending by hops. A switch has several if its shortest routes
        end in different states of the rules.
    """
    num_vertices = len(graph.vertex_switch)
    level = np.full(num_vertices, -1, np.int32)
    queue = np.empty(num_vertices, np.int32)
    nearest_level = np.full(len(graph.begin), -1, np.int32)
    is_stop = np.zeros(num_vertices, np.bool_)
    leads_to_stop = np.zeros(num_vertices, np.bool_)
    # 1. Forwards, breadth first. A switch is reached at the level of its nearest accepting vertex;
    #    further ones of that level are stops, too. All edges to the next level are counted, because
    #    only these can be on shortest routes: the array for the result is as long.
    root = graph.begin[source]
    level[root] = 0
    queue[0] = root
    next_in_queue, num_reached, num_edges, num_stops = 0, 1, 0, 0
    while next_in_queue < num_reached:
        v = queue[next_in_queue]
        next_in_queue += 1
        t = graph.vertex_switch[v]
        if graph.accepting[v] and t != source and terminals[t] > 0:
            if nearest_level[t] < 0:
                nearest_level[t] = level[v]
            if nearest_level[t] == level[v]:
                is_stop[v] = True
                leads_to_stop[v] = True
                num_stops += 1
        for e in range(graph.edge_start[v], graph.edge_start[v + 1]):
            w = graph.edge_target[e]
            if level[w] < 0:
                level[w] = level[v] + 1
                queue[num_reached] = w
                num_reached += 1
            if level[w] == level[v] + 1:
                num_edges += 1
    # 2. Backwards, from the furthest vertices: an edge is part of a shortest route if it leads to
    #    a stop or to a vertex from which one is reached. So the arrays are filled from their ends.
    stops = np.empty(num_stops, np.int32)
    edges = np.empty(num_edges, np.int32)
    for k in range(num_reached - 1, -1, -1):
        v = queue[k]
        if is_stop[v]:
            num_stops -= 1
            stops[num_stops] = v
        for e in range(graph.edge_start[v], graph.edge_start[v + 1]):
            w = graph.edge_target[e]
            if level[w] == level[v] + 1 and leads_to_stop[w]:
                leads_to_stop[v] = True
                num_edges -= 1
                edges[num_edges] = e
    return edges[num_edges:].copy(), stops
