"""First fit: each group of routes goes to the first layer whose dependencies stay acyclic.

The layers are filled one after another: what the first refuses is offered to the second, in the
same order. So one graph is in memory at a time, and a dependency that a layer cannot take is found
once and refused from then on.
"""

import numpy as np

from routelab.kernels.forwarding.acyclic import (
    FORBIDDEN,
    PRESENT,
    UNKNOWN,
    add_edge,
    empty_graph,
    list_edges,
)
from routelab.kernels.jit import helper, jit


@jit
def first_fit(group_start, path_start, hop_channel, start, target, order, limit):
    """Assign a layer to every group of paths; the paths of a group stay together.

    Parameters
    ----------
    group_start : int64 array, shape (G + 1,)
        Group g has the paths ``group_start[g]`` to ``group_start[g + 1] - 1``.
    path_start : int64 array, shape (K + 1,)
    hop_channel : int32 array, shape (H,)
        No path crosses a channel twice.
    start : int64 array, shape (C + 1,)
    target : int32 array, shape (D,)
        Dependencies of all paths, see `routelab.kernels.dependency.dependency_graph`.
    order : int64 array, shape (G,)
        Groups in the order of their assignment.
    limit : int
        Largest number of layers to fill.

    Returns
    -------
    layer : int32 array, shape (G,)
        Ascending from 0 without a gap; −1 for groups that fit in none of `limit` layers.
    rank : int32 array, shape (layers, C)
        An order of the channels for each layer that all its dependencies follow.
    """
    edges = list_edges(start, target)
    layer = np.full(len(group_start) - 1, -1, np.int32)
    # room for 4 layers at first; it is doubled when more come
    ranks = np.empty((min(limit, 4), len(start) - 1), np.int32)
    dependencies = number_dependencies(path_start, hop_channel, start, target)
    first_hop = path_start[group_start]
    added = np.empty(longest_path(first_hop), np.int32)
    groups = order.copy()
    num_waiting, current = len(groups), 0
    while num_waiting and current < limit:
        graph = empty_graph(len(start) - 1, len(target))
        # The refused groups move to the front of the list, in their order.
        num_refused = 0
        for i in range(num_waiting):
            g = groups[i]
            if add_paths(
                edges, graph, hop_channel, dependencies, first_hop[g], first_hop[g + 1], added
            ):
                layer[g] = current
            else:
                groups[num_refused] = g
                num_refused += 1
        if current == len(ranks):
            ranks = np.concatenate((ranks, np.empty_like(ranks)))
        ranks[current] = graph.position
        num_waiting = num_refused
        current += 1
    return layer, ranks[:current]


@helper()
def longest_path(path_start):
    """Return the number of hops of the longest path, at least 1."""
    longest = 1
    for k in range(len(path_start) - 1):
        longest = max(longest, path_start[k + 1] - path_start[k])
    return longest


@helper()
def number_dependencies(path_start, hop_channel, start, target):
    """Return the number of every hop's dependency on the next one; int32, shape (H,).

    −1 for the last hop of a path.
    """
    dependency_of_hop = np.full(len(hop_channel), -1, np.int32)
    for k in range(len(path_start) - 1):
        for h in range(path_start[k], path_start[k + 1] - 1):
            e = start[hop_channel[h]]
            while target[e] != hop_channel[h + 1]:
                e += 1
            dependency_of_hop[h] = e
    return dependency_of_hop


@helper()
def add_paths(edges, graph, hop_channel, dependencies, first_hop, end, added):
    """Add the dependencies of the paths over hops `first_hop` to `end` - 1, and return True.

    If one of them closes a cycle, none is added and the result is False.

    Parameters
    ----------
    edges : Edges
        Dependencies of all paths.
    graph : Acyclic
        Dependencies of the layer. Updated.
    hop_channel : int32 array, shape (H,)
    dependencies : int32 array, shape (H,)
        From `number_dependencies`.
    added : int32 array
        Scratch, at least as long as the paths together.
    """
    # A dependency that once closed a cycle closes it again: refuse the group without a search.
    for h in range(first_hop, end - 1):
        if dependencies[h] >= 0 and graph.state[dependencies[h]] == FORBIDDEN:
            return False
    num_added = 0
    for h in range(first_hop, end - 1):
        dependency = dependencies[h]
        if dependency < 0 or graph.state[dependency] == PRESENT:
            continue
        if add_edge(edges, graph, hop_channel[h], dependency):
            added[num_added] = dependency
            num_added += 1
            continue
        # This dependency closes a cycle, perhaps only with others of the same paths. Take those
        # back.
        for i in range(num_added):
            graph.state[added[i]] = UNKNOWN
        # Try it without them, only to learn whether it closes a cycle with earlier groups. If so,
        # it always will, because later calls only add to the graph: it is forbidden. Else take it
        # back.
        if num_added == 0 or not add_edge(edges, graph, hop_channel[h], dependency):
            graph.state[dependency] = FORBIDDEN
        else:
            graph.state[dependency] = UNKNOWN
        return False
    return True


@jit
def even_layers(path_start, hop_channel, ranks, layer, order):
    """Even out the hops of the layers: move each path to the emptiest layer that fits.

    A layer fits if the positions of the path's channels rise in its order. Dependencies that all
    follow one order close no cycle.

    Parameters
    ----------
    path_start, hop_channel
        As for `first_fit`.
    ranks : int32 array, shape (layers, C)
        Position of each channel in the order of each layer.
    layer : int32 array, shape (K,)
        Layer of each path. Updated.
    order : int64 array
        Paths in the order in which they move.
    """
    num_hops = np.zeros(len(ranks), np.int64)
    for k in range(len(layer)):
        num_hops[layer[k]] += path_start[k + 1] - path_start[k]
    for k in order:
        first_hop, end = path_start[k], path_start[k + 1]
        emptiest = layer[k]
        num_hops[emptiest] -= end - first_hop
        # Hops are compared without those of this path, also in its present layer.
        for candidate in range(len(ranks)):
            if num_hops[candidate] >= num_hops[emptiest]:
                continue
            fits = True
            for h in range(first_hop, end - 1):
                if ranks[candidate, hop_channel[h]] >= ranks[candidate, hop_channel[h + 1]]:
                    fits = False
                    break
            if fits:
                emptiest = candidate
        layer[k] = emptiest
        num_hops[emptiest] += end - first_hop


@jit
def first_repeating_path(path_start, hop_channel, num_channels):
    """Return the first path that crosses a channel twice, and the channel; (−1, −1) if none.

    No layer can hold such a path, because its dependencies alone form a cycle.
    """
    last_path = np.full(num_channels, -1, np.int64)  # that crossed the channel
    for k in range(len(path_start) - 1):
        for h in range(path_start[k], path_start[k + 1]):
            c = hop_channel[h]
            if last_path[c] == k:
                return k, c
            last_path[c] = k
    return -1, -1
