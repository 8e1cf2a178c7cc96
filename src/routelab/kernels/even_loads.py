"""Channel loads if every pair splits its traffic evenly over its shortest legal routes."""

import numpy as np

from routelab.kernels.jit import jit


@jit
def even_loads(graph, blocked, endpoints, demand):
    """Return the load of each channel, in terminal pairs, and the pairs without a route.

    Routes are counted forwards from each source and their loads summed backwards, as Brandes (*A
    Faster Algorithm for Betweenness Centrality*, 2001, doi 10.1080/0022250X.2001.9990249) does
    for the switches of a network; O(P E) for P endpoints.

    Parameters
    ----------
    graph : GraphArrays
        A deterministic routing graph: one path is one route.
    blocked : bool array, shape (E,)
        Edges that no route may use.
    endpoints : int32 array, shape (P,)
        Switches with terminals.
    demand : int64 array, shape (P,)
        Terminals at each endpoint.

    Returns
    -------
    loads : float64 array, shape (C,)
    unreachable : int
        Ordered pairs of terminals.
    """
    num_vertices, num_switches = len(graph.vertex_switch), len(graph.begin)
    loads = np.zeros(graph.num_channels, np.float64)
    switch_demand = np.zeros(num_switches, np.float64)
    for j in range(len(endpoints)):
        switch_demand[endpoints[j]] = demand[j]
    level = np.empty(num_vertices, np.int32)
    queue = np.empty(num_vertices, np.int32)
    num_routes = np.empty(num_vertices, np.float64)
    share = np.empty(num_vertices, np.float64)
    distance = np.empty(num_switches, np.int32)
    routes_to_switch = np.empty(num_switches, np.float64)
    unreachable = 0
    for source in endpoints:
        # 1. Forwards, breadth first: the shortest routes to each vertex, and to each switch.
        level[:] = -1
        distance[:] = -1
        root = graph.begin[source]
        level[root] = 0
        num_routes[root] = 1.0
        queue[0] = root
        next_in_queue, num_reached = 0, 1
        while next_in_queue < num_reached:
            u = queue[next_in_queue]
            next_in_queue += 1
            share[u] = 0.0
            s = graph.vertex_switch[u]
            if graph.accepting[u]:
                if distance[s] < 0:
                    distance[s] = level[u]
                    routes_to_switch[s] = 0.0
                if distance[s] == level[u]:
                    routes_to_switch[s] += num_routes[u]
            for e in range(graph.edge_start[u], graph.edge_start[u + 1]):
                if blocked[e]:
                    continue
                v = graph.edge_target[e]
                if level[v] < 0:
                    level[v] = level[u] + 1
                    num_routes[v] = 0.0
                    queue[num_reached] = v
                    num_reached += 1
                if level[v] == level[u] + 1:
                    num_routes[v] += num_routes[u]
        # 2. Terminal pairs whose target has no route.
        for target in endpoints:
            if distance[target] < 0:
                unreachable += np.int64(switch_demand[source] * switch_demand[target])
        # 3. Backwards: share[u] is the traffic that ends at or passes vertex u, per route that
        #    leads there. The routes to u all go on over an edge to v with the share of v.
        for i in range(num_reached - 1, -1, -1):
            u = queue[i]
            for e in range(graph.edge_start[u], graph.edge_start[u + 1]):
                v = graph.edge_target[e]
                if not blocked[e] and level[v] == level[u] + 1:
                    share[u] += share[v]
                    loads[graph.edge_channel[e]] += num_routes[u] * share[v]
            # Routes that end here. Each route to s, by whichever vertex, gets the same share.
            s = graph.vertex_switch[u]
            if graph.accepting[u] and distance[s] == level[u] and s != source:
                share[u] += switch_demand[source] * switch_demand[s] / routes_to_switch[s]
    return loads, unreachable
