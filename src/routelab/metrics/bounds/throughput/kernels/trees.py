"""Lightest routes of any length."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from routelab.kernels.jit import helper, jit


class NetworkArrays(NamedTuple):
    """A network as plain arrays (S switches, C channels); read-only.

    The channels ``out_channel[out_start[s]:out_start[s + 1]]`` leave switch s.
    """

    out_start: NDArray[np.int32]
    out_channel: NDArray[np.int32]
    channel_source: NDArray[np.int32]
    channel_target: NDArray[np.int32]


@helper()
def remove_least(keys, nodes, size):
    """Remove the first entry, the one with the least key, from a binary heap of `size` entries.

    The children of entry k are the entries 2 k + 1 and 2 k + 2, with keys that are not smaller.
    The caller reads entry 0 before the call, and lowers its own `size` by 1 after it.
    """
    size -= 1  # of the heap without the first entry
    # The last entry takes the first place, and moves down past all smaller keys.
    last_key, last_node = keys[size], nodes[size]
    k = 0
    while True:
        child = 2 * k + 1
        if child >= size:
            break
        if child + 1 < size and keys[child + 1] < keys[child]:
            child += 1
        if keys[child] >= last_key:
            break
        keys[k], nodes[k] = keys[child], nodes[child]
        k = child
    keys[k], nodes[k] = last_key, last_node


@helper()
def push_entry(keys, nodes, size, key, node):
    """Add an entry to a binary heap of `size` entries."""
    k = size
    while k:
        parent = (k - 1) // 2
        if keys[parent] <= key:
            break
        keys[k], nodes[k] = keys[parent], nodes[parent]
        k = parent
    keys[k], nodes[k] = key, node


@helper()
def grow_lightest(network, weight, source, cost, parent, keys, nodes):
    """Find lightest routes from a switch to all others, by Dijkstra's algorithm.

    Parameters
    ----------
    network : NetworkArrays
    weight : int64 or float64 array, shape (C,) or longer
        Not negative.
    source : int
    cost : array of the weights' type, shape (S,)
        Overwritten: the weight of the route, −1 if there is none.
    parent : int32 array, shape (S,)
        Overwritten: the last channel of the route, −1 at the source; undefined without a route.
    keys, nodes : arrays of the weights' type and of int32, shape (C + 1,)
        Scratch: a heap, which each channel enters at most once, and the source.
    """
    cost[:] = -1
    parent[source] = -1
    cost[source] = 0
    keys[0] = 0
    nodes[0] = source
    size = 1
    while size:
        key, s = keys[0], nodes[0]
        remove_least(keys, nodes, size)
        size -= 1
        if key > cost[s]:  # a lighter route was found after this entry was added
            continue
        for i in range(network.out_start[s], network.out_start[s + 1]):
            c = network.out_channel[i]
            t = network.channel_target[c]
            new_key = key + weight[c]
            if cost[t] < 0 or new_key < cost[t]:
                cost[t] = new_key
                parent[t] = c
                push_entry(keys, nodes, size, new_key, t)
                size += 1


@jit
def lightest_costs(network, weight):
    """Find the weights of lightest routes between all switches.

    Parameters
    ----------
    network : NetworkArrays
    weight : int64 or float64 array, shape (C,)
        Not negative.

    Returns
    -------
    cost : array of the weights' type, shape (S, S)
        From row to column; −1 if there is no route.
    """
    size = len(network.out_start) - 1
    cost = np.empty((size, size), weight.dtype)
    parent = np.empty(size, np.int32)
    keys = np.empty(len(weight) + 1, weight.dtype)
    nodes = np.empty(len(weight) + 1, np.int32)
    for s in range(size):
        grow_lightest(network, weight, s, cost[s], parent, keys, nodes)
    return cost
