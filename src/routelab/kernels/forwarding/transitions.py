"""Layers of routes that may change to a higher layer on their way.

A layer is a set of virtual channels, one of each channel, whose dependencies stay acyclic. Layers
never fall along a path, so dependencies between layers close no cycle.
"""

import numpy as np

from routelab.kernels.forwarding.acyclic import (
    FORBIDDEN,
    PRESENT,
    add_edge,
    empty_graph,
    list_edges,
)
from routelab.kernels.forwarding.first_fit import add_paths, longest_path, number_dependencies
from routelab.kernels.jit import helper, jit


@jit
def layers_with_transitions(path_start, hop_channel, start, target, order, limit, whole_first):
    """Assign a layer to every hop, in ascending order on each path.

    Parameters
    ----------
    path_start, hop_channel, start, target, order
        As for `routelab.kernels.forwarding.first_fit.first_fit`.
    limit : int
        Layers that exist.
    whole_first : bool
        Whether a path stays in one layer if one fits. Otherwise every path begins in the first
        layer, and follows each layer as far as it goes.

    Returns
    -------
    layer : int16 array, shape (H,)
    num_unplaced : int
        Paths that would need more layers; the layers of their hops are not valid.
    """
    edges = list_edges(start, target)
    graphs = [empty_graph(len(start) - 1, len(target)) for _ in range(limit)]
    dependencies = number_dependencies(path_start, hop_channel, start, target)
    layer = np.zeros(len(hop_channel), np.int16)
    added = np.empty(longest_path(path_start), np.int32)
    num_unplaced = 0
    for k in order:
        first_hop, end = path_start[k], path_start[k + 1]
        # 1. One layer that takes all dependencies of the path, if the caller prefers that.
        common_layer = -1
        for i in range(limit if whole_first else 0):
            if add_paths(edges, graphs[i], hop_channel, dependencies, first_hop, end, added):
                common_layer = i
                break
        # 2. Else hop by hop, from the first layer up.
        if common_layer >= 0:
            layer[first_hop:end] = common_layer
        elif not _rise_through_layers(
            edges, graphs, hop_channel, dependencies, first_hop, end, layer
        ):
            num_unplaced += 1
    return layer, num_unplaced


@helper()
def _rise_through_layers(edges, graphs, hop_channel, dependencies, first_hop, end, layer):
    """Follow a path in one layer as far as it goes, then in the next.

    Return False if no layer is left. `layer` is updated for the path's hops.
    """
    current = 0
    for h in range(first_hop, end):
        layer[h] = current
        if h == end - 1:
            return True
        graph, edge = graphs[current], dependencies[h]
        if graph.state[edge] == PRESENT:
            continue
        if graph.state[edge] == FORBIDDEN or not add_edge(edges, graph, hop_channel[h], edge):
            # The graph only grows, so the dependency closes a cycle from now on. This hop is the
            # last one in the layer; a dependency on a higher layer closes no cycle.
            graph.state[edge] = FORBIDDEN
            current += 1
            if current == len(graphs):
                return False
    return True
