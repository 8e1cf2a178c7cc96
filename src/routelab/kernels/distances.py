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
        Overwritten: its first `reached` entries are the reached switches, ascending by distance.

    Returns
    -------
    reached : int
        Number of switches that the source reaches, itself included.
    """
    distance[:] = -1
    distance[source] = 0
    queue[0] = source
    next_in_queue, reached = 0, 1
    while next_in_queue < reached:
        s = queue[next_in_queue]
        next_in_queue += 1
        for i in range(out_start[s], out_start[s + 1]):
            t = channel_target[out_channel[i]]
            if distance[t] < 0:
                distance[t] = distance[s] + 1
                queue[reached] = t
                reached += 1
    return reached


@jit
def terminal_pair_hops(out_start, out_channel, channel_target, terminals):
    """Sum the hops of all ordered pairs of terminals: how many channels their packets must cross.

    Each ordered pair of switches counts as often as it has pairs of terminals.

    Parameters
    ----------
    out_start, out_channel : int32 array, shape (S + 1,) and (C,)
    channel_target : int32 array, shape (C,)
    terminals : int64 array, shape (S,)
        Terminals at each switch.

    Returns
    -------
    total : int
        Unreachable ordered pairs do not count.
    """
    num_switches = len(terminals)
    distance = np.empty(num_switches, np.int32)
    queue = np.empty(num_switches, np.int32)
    total = 0
    for s in range(num_switches):
        if terminals[s] == 0:
            continue
        reached = hop_distances(out_start, out_channel, channel_target, s, distance, queue)
        for k in range(reached):
            t = queue[k]
            total += terminals[s] * terminals[t] * distance[t]
    return total


@jit
def eccentricities(out_start, out_channel, channel_target):
    """Return the hops from every switch to the farthest one; int32, shape (S,).

    A switch that does not reach all others gets S, which is larger than any distance. The switch
    with the least eccentricity is a root for trees with short routes.
    """
    num_switches = len(out_start) - 1
    eccentricity = np.empty(num_switches, np.int32)
    distance = np.empty(num_switches, np.int32)
    queue = np.empty(num_switches, np.int32)
    for source in range(num_switches):
        hop_distances(out_start, out_channel, channel_target, source, distance, queue)
        eccentricity[source] = num_switches if distance.min() < 0 else distance.max()
    return eccentricity


@jit
def count_connected_pairs(out_start, out_channel, channel_target, ends, routes):
    """Count the terminal pairs that the network connects, and those with shortest routes only.

    Parameters
    ----------
    out_start, out_channel : int32 array, shape (S + 1,) and (C,)
    channel_target : int32 array, shape (C,)
    ends : TableEnds
    routes : tuple of two int arrays, shape (P * D + 1,) and (K + 1,)
        ``pair_start`` and ``path_start`` of a route table.

    Returns
    -------
    connected : int
        Ordered pairs of different terminals with a path in the network.
    shortest : int
        Those that have routes in the table, all with as few hops as that path can have.
    """
    pair_start, path_start = routes
    num_switches, num_destinations = len(out_start) - 1, len(ends.destination_switch)
    distance = np.empty(num_switches, np.int32)
    queue = np.empty(num_switches, np.int32)
    connected, shortest = np.int64(0), np.int64(0)
    for i in range(len(ends.source_switch)):
        source = ends.source_switch[i]
        hop_distances(out_start, out_channel, channel_target, source, distance, queue)
        for j in range(num_destinations):
            shortest_hops = distance[ends.destination_switch[j]]
            if shortest_hops < 0:
                continue
            terminal_pairs = count_terminal_pairs(ends, i, j)
            connected += terminal_pairs
            # A pair that the network connects may still have no routes in the table.
            pair = i * num_destinations + j
            all_shortest = pair_start[pair + 1] > pair_start[pair]
            for k in range(pair_start[pair], pair_start[pair + 1]):
                all_shortest &= path_start[k + 1] - path_start[k] == shortest_hops
            if all_shortest:
                shortest += terminal_pairs
    return connected, shortest
