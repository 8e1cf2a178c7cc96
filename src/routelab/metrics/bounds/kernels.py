"""Searches for lower bounds of the channel load.

As in `routelab.kernels.graph`, they consider *shortest legal* routes: hops first, the weights of
the channels second.
"""

import numpy as np

from routelab.kernels.graph import find_route_ends, grow_tree, tree_scratch
from routelab.kernels.jit import jit


@jit
def least_weights(graph, sources, terminals, weight):
    """Sum the least weights of shortest legal routes from some switches to all terminals.

    Parameters
    ----------
    graph : GraphArrays
    sources : int32 array, shape (Q,)
        Switches.
    terminals : int64 array, shape (S,)
        Terminals at each switch.
    weight : int64 array, shape (C,)
        Not negative; a route's weight is the sum over its channels.

    Returns
    -------
    least : int64 array, shape (Q,)
        For one terminal at each source, the sum of its least weights to all terminals at other
        switches. Switches without a legal route do not count.
    """
    num_sources = len(sources)
    least = np.zeros(num_sources, np.int64)
    tree = tree_scratch(len(graph.vertex_switch))
    best_vertex = np.empty(len(graph.begin), np.int32)
    no_limit = np.int32(len(tree.level))  # no shortest route has more hops than vertices
    backwards = False  # ties by the order of the edges
    for q in range(num_sources):
        visited = grow_tree(graph, graph.begin[sources[q]], weight, backwards, no_limit, tree)
        find_route_ends(graph, tree, visited, best_vertex)  # −1 for an unreachable switch
        for t in range(len(best_vertex)):
            if t != sources[q] and best_vertex[t] >= 0:
                least[q] += terminals[t] * tree.cost[best_vertex[t]]
    return least


@jit
def tree_loads(graph, sources, terminals, weight, channel_class, loads):
    """Load channels by the lightest shortest legal routes from some switches to all terminals.

    Parameters
    ----------
    graph, sources, terminals, weight
        As in `least_weights`.
    channel_class : int32 array, shape (C,)
    loads : int64 array, shape (classes,)
        Updated: increased by the terminal pairs whose route crosses a channel of each class.

    Returns
    -------
    least : int64
        Total weight of the routes of all terminal pairs.
    """
    size = len(graph.vertex_switch)
    tree = tree_scratch(size)
    best_vertex = np.empty(len(graph.begin), np.int32)
    flow = np.zeros(size, np.int64)  # pairs of terminals whose routes pass each vertex
    no_limit = np.int32(size)  # no shortest route has more hops than vertices
    backwards = False  # ties by the order of the edges
    least = np.int64(0)
    for s in sources:
        visited = grow_tree(graph, graph.begin[s], weight, backwards, no_limit, tree)
        find_route_ends(graph, tree, visited, best_vertex)  # −1 for an unreachable switch
        for t in range(len(best_vertex)):
            if t != s and best_vertex[t] >= 0:
                flow[best_vertex[t]] = terminals[s] * terminals[t]
        # Backwards from the leaves to the root: the flow over an edge is that of all routes through
        # its target. In the queue a vertex follows the previous one on its route.
        for k in range(visited - 1, 0, -1):
            v = tree.queue[k]
            e = tree.parent_edge[v]
            loads[channel_class[graph.edge_channel[e]]] += flow[v]
            least += flow[v] * weight[graph.edge_channel[e]]
            flow[graph.edge_source[e]] += flow[v]
            flow[v] = 0
        flow[tree.queue[0]] = 0  # the root has collected the flow of all routes
    return least
