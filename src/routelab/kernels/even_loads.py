"""Channel loads if every pair splits its traffic evenly over its shortest legal routes."""

import numpy as np

from routelab.kernels.jit import jit


@jit
def even_loads(graph, blocked, endpoints, demand):
    """Return the load of each channel, in terminal pairs, and the pairs without a route.

    Paths are counted forwards from each source and dependencies summed backwards, as Brandes (*A
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
    """
    count, switches = len(graph.vertex_switch), len(graph.begin)
    loads = np.zeros(graph.num_channels, np.float64)
    weight = np.zeros(switches, np.float64)
    for j in range(len(endpoints)):
        weight[endpoints[j]] = demand[j]
    level = np.empty(count, np.int32)
    queue = np.empty(count, np.int32)
    ways = np.empty(count, np.float64)
    share = np.empty(count, np.float64)
    distance = np.empty(switches, np.int32)
    routes = np.empty(switches, np.float64)
    unreachable = 0
    for source in endpoints:
        level[:] = -1
        distance[:] = -1
        root = graph.begin[source]
        level[root] = 0
        ways[root] = 1.0
        queue[0] = root
        head, tail = 0, 1
        while head < tail:
            u = queue[head]
            head += 1
            share[u] = 0.0
            s = graph.vertex_switch[u]
            if graph.accepting[u]:
                if distance[s] < 0:
                    distance[s] = level[u]
                    routes[s] = 0.0
                if distance[s] == level[u]:
                    routes[s] += ways[u]
            for e in range(graph.edge_start[u], graph.edge_start[u + 1]):
                if blocked[e]:
                    continue
                v = graph.edge_target[e]
                if level[v] < 0:
                    level[v] = level[u] + 1
                    ways[v] = 0.0
                    queue[tail] = v
                    tail += 1
                if level[v] == level[u] + 1:
                    ways[v] += ways[u]
        for target in endpoints:
            if distance[target] < 0:
                unreachable += np.int64(weight[source] * weight[target])
        # share[u]: traffic that ends at or passes vertex u, per route that leads there
        for i in range(tail - 1, -1, -1):
            u = queue[i]
            for e in range(graph.edge_start[u], graph.edge_start[u + 1]):
                v = graph.edge_target[e]
                if not blocked[e] and level[v] == level[u] + 1:
                    share[u] += share[v]
                    loads[graph.edge_channel[e]] += ways[u] * share[v]
            s = graph.vertex_switch[u]
            if graph.accepting[u] and distance[s] == level[u] and s != source:
                share[u] += weight[source] * weight[s] / routes[s]
    return loads, unreachable
