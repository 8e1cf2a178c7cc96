"""Distances on the bare network, where every route is legal."""

import numpy as np

from routelab.kernels.jit import jit
from routelab.kernels.routes import count_terminal_pairs


@jit
def hop_distances(out_start, out_channel, channel_target, source, distance, queue):
    """Compute the hops from one switch to all others by breadth-first search.

    Parameters
    ----------
    out_start, out_channel : int32 array, shape (S + 1,) and (C,)
        Channels that leave each switch (`routelab.api.Topology.outgoing`).
    channel_target : int32 array, shape (C,)
    source : int
    distance : int32 array, shape (S,)
        Overwritten: the hops, −1 if unreachable.
    queue : int32 array, shape (S,)
        Scratch; the first n entries are the reached switches in ascending order of distance.

    Returns
    -------
    n : int
    """
    distance[:] = -1
    distance[source] = 0
    queue[0] = source
    head, tail = 0, 1
    while head < tail:
        s = queue[head]
        head += 1
        for i in range(out_start[s], out_start[s + 1]):
            t = channel_target[out_channel[i]]
            if distance[t] < 0:
                distance[t] = distance[s] + 1
                queue[tail] = t
                tail += 1
    return tail


@jit
def demand_distance(out_start, out_channel, channel_target, demand):
    """Sum the hops of all shortest paths, each times the demands of both ends.

    Parameters
    ----------
    out_start, out_channel : int32 array, shape (S + 1,) and (C,)
    channel_target : int32 array, shape (C,)
    demand : int64 array, shape (S,)
        Terminals at each switch.

    Returns
    -------
    total : int
        Unreachable ordered pairs do not count.
    """
    size = len(demand)
    distance = np.empty(size, np.int32)
    queue = np.empty(size, np.int32)
    total = 0
    for s in range(size):
        if demand[s] == 0:
            continue
        reached = hop_distances(out_start, out_channel, channel_target, s, distance, queue)
        for k in range(reached):
            t = queue[k]
            total += demand[s] * demand[t] * distance[t]
    return total


@jit
def eccentricities(out_start, out_channel, channel_target):
    """Return the hops from every switch to the farthest one; int32, shape (S,).

    A switch that does not reach all others gets a value larger than any distance.
    """
    count = len(out_start) - 1
    result = np.empty(count, np.int32)
    distance = np.empty(count, np.int32)
    queue = np.empty(count, np.int32)
    for source in range(count):
        hop_distances(out_start, out_channel, channel_target, source, distance, queue)
        result[source] = count if distance.min() < 0 else distance.max()
    return result


@jit
def connected_demand(out_start, out_channel, channel_target, ends, routes):
    """Count terminal pairs that the network joins, and those with shortest routes only.

    Parameters
    ----------
    out_start, out_channel : int32 array, shape (S + 1,) and (C,)
    channel_target : int32 array, shape (C,)
    ends : TableEnds
    routes : tuple of two int arrays, shape (P * D + 1,) and (K + 1,)
        ``pair_start`` and ``path_start`` of a route table.

    Returns
    -------
    joined : int
        Ordered pairs of different terminals with a path between them.
    shortest : int
        Those that have routes, all as short as the network allows.
    """
    pair_start, path_start = routes
    size, count = len(out_start) - 1, len(ends.destination_switch)
    distance = np.empty(size, np.int32)
    queue = np.empty(size, np.int32)
    joined, shortest = np.int64(0), np.int64(0)
    for i in range(len(ends.source_switch)):
        source = ends.source_switch[i]
        hop_distances(out_start, out_channel, channel_target, source, distance, queue)
        for j in range(count):
            hops = distance[ends.destination_switch[j]]
            if hops < 0:
                continue
            pairs = count_terminal_pairs(ends, i, j)
            joined += pairs
            p = i * count + j
            short = pair_start[p + 1] > pair_start[p]
            for k in range(pair_start[p], pair_start[p + 1]):
                short &= path_start[k + 1] - path_start[k] == hops
            if short:
                shortest += pairs
    return joined, shortest
