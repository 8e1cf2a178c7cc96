"""Walks over route tables: validity, loads, turns, next hops.

Tables come as the arrays of `routelab.api.RouteTable`: ``pair_start`` (P·D + 1), ``path_start``
(K + 1), ``hop_channel`` (H); P endpoints, D destinations.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from routelab.kernels.jit import helper, jit


class TableEnds(NamedTuple):
    """Both ends of a table's pairs: pair ``i * D + j`` is from source i to destination j.

    The ``*_switch`` (int32) are their switches, the ``*_demand`` (int64) their numbers of
    terminals. Built by `routelab.api.RouteTable.ends`.
    """

    source_switch: NDArray[np.int32]
    source_demand: NDArray[np.int64]
    destination_switch: NDArray[np.int32]
    destination_demand: NDArray[np.int64]


@helper()
def count_terminal_pairs(ends, i, j):
    """Return the ordered pairs of different terminals from source i to destination j."""
    # a switch with n terminals has (n - 1) * n pairs with itself
    same_switch = ends.source_switch[i] == ends.destination_switch[j]
    return (ends.source_demand[i] - same_switch) * ends.destination_demand[j]


@jit
def first_broken_path(
    pair_start, path_start, hop_channel, sources, destinations, channel_source, channel_target
):
    """Find the first path that is not a walk from its pair's source to its target; −1 if none.

    `sources` and `destinations` are switches; int32, shape (P,) and (D,).
    """
    num_destinations = len(destinations)
    for i in range(len(sources)):
        for j in range(num_destinations):
            pair = i * num_destinations + j
            for k in range(pair_start[pair], pair_start[pair + 1]):
                switch = sources[i]
                for h in range(path_start[k], path_start[k + 1]):
                    channel = hop_channel[h]
                    if channel_source[channel] != switch:
                        return k
                    switch = channel_target[channel]
                if switch != destinations[j]:
                    return k
    return -1


@jit
def are_valid_offsets(start, total):
    """Return whether offsets begin at 0, never fall, and end at `total`."""
    if len(start) == 0 or start[0] != 0 or start[-1] != total:
        return False
    # All are counted, because a loop without an early return is faster.
    num_falls = 0
    for k in range(len(start) - 1):
        num_falls += start[k + 1] < start[k]
    return num_falls == 0


@jit
def single_path_offsets(lengths, pair_start, path_start):
    """Compute the offsets of a table with at most one path per pair.

    Parameters
    ----------
    lengths : int array, shape (P * D,)
        Hops of each pair's path; negative for an unreachable pair.
    pair_start : int64 array, shape (P * D + 1,)
        Overwritten.
    path_start : int64 array, shape (K + 1,)
        Overwritten; K pairs are reachable.
    """
    k = 0
    pair_start[0] = path_start[0] = 0
    for p in range(len(lengths)):
        if lengths[p] >= 0:
            path_start[k + 1] = path_start[k] + lengths[p]
            k += 1
        pair_start[p + 1] = k


@jit
def weighted_loads(pair_start, path_start, path_weight, hop_channel, pair_weight, num_channels):
    """Compute the load of every channel: the sum over all paths of pair weight × path weight.

    Parameters
    ----------
    pair_weight : float64 array, shape (P, D)

    Returns
    -------
    loads : float64 array, shape (C,)
    """
    loads = np.zeros(num_channels, np.float64)
    num_sources, num_destinations = pair_weight.shape
    for i in range(num_sources):
        for j in range(num_destinations):
            p = i * num_destinations + j
            for k in range(pair_start[p], pair_start[p + 1]):
                share = pair_weight[i, j] * path_weight[k]
                for h in range(path_start[k], path_start[k + 1]):
                    loads[hop_channel[h]] += share
    return loads


@jit
def demand_loads(pair_start, path_start, path_weight, hop_channel, ends, num_channels):
    """Compute the load of every channel if every terminal sends to every other one.

    Works source by source, so that it needs no array as large as all pairs.

    Parameters
    ----------
    ends : TableEnds

    Returns
    -------
    loads : float64 array, shape (C,)
    """
    loads = np.zeros(num_channels, np.float64)
    num_destinations = len(ends.destination_switch)
    for i in range(len(ends.source_switch)):
        for j in range(num_destinations):
            # packets between terminals of one switch cross no channel
            if ends.source_switch[i] == ends.destination_switch[j]:
                continue
            p = i * num_destinations + j
            terminal_pairs = ends.source_demand[i] * ends.destination_demand[j]
            for k in range(pair_start[p], pair_start[p + 1]):
                share = terminal_pairs * path_weight[k]
                for h in range(path_start[k], path_start[k + 1]):
                    loads[hop_channel[h]] += share
    return loads


@jit
def demand_mean(pair_start, path_weight, values, ends):
    """Average a value of paths over the ordered pairs of different terminals with a path.

    Each path counts with its share of the packets of its pair, `path_weight`.

    Parameters
    ----------
    values : float64 array, shape (K,)
    ends : TableEnds

    Returns
    -------
    mean : float
        0 if no pair has a path.
    connected : int
        Ordered pairs of different terminals with a path.
    """
    num_destinations = len(ends.destination_switch)
    total, weight, connected = 0.0, 0.0, np.int64(0)
    for i in range(len(ends.source_switch)):
        for j in range(num_destinations):
            p = i * num_destinations + j
            terminal_pairs = count_terminal_pairs(ends, i, j)
            if pair_start[p + 1] > pair_start[p]:
                connected += terminal_pairs
            for k in range(pair_start[p], pair_start[p + 1]):
                total += terminal_pairs * path_weight[k] * values[k]
                weight += terminal_pairs * path_weight[k]
    return (total / weight if weight > 0 else 0.0), connected


@jit
def path_turns(path_start, hop_channel, channel_direction):
    """Count the changes of direction on every path; int32, shape (K,)."""
    turns = np.zeros(len(path_start) - 1, np.int32)
    for k in range(len(turns)):
        for h in range(path_start[k] + 1, path_start[k + 1]):
            if channel_direction[hop_channel[h]] != channel_direction[hop_channel[h - 1]]:
                turns[k] += 1
    return turns


@jit
def next_hops(pair_start, path_start, hop_channel, channel_source, num_switches, num_destinations):
    """Return the next hop at each switch towards each destination, if it is the same on all paths.

    Returns
    -------
    is_unique : bool
        False if packets for one destination leave one switch over different channels. Then the
        array is incomplete.
    next_channel : int32 array, shape (S, D)
        Channel by switch and destination; −1 where no path to the destination passes.
    """
    next_channel = np.full((num_switches, num_destinations), -1, np.int32)
    for p in range(len(pair_start) - 1):
        destination = p % num_destinations
        for k in range(pair_start[p], pair_start[p + 1]):
            for h in range(path_start[k], path_start[k + 1]):
                c = hop_channel[h]
                known_channel = next_channel[channel_source[c], destination]
                if known_channel >= 0 and known_channel != c:
                    return False, next_channel
                next_channel[channel_source[c], destination] = c
    return True, next_channel


@jit
def table_from_next_hops(next_channel, sources, destinations, channel_source, channel_target):
    """Follow next hops from every source to every destination.

    Parameters
    ----------
    next_channel : int32 array, shape (S, D)
        Channel by switch and destination, −1 for none.
    sources, destinations : int32 array, shape (P,) and (D,)
        Switches.

    Returns
    -------
    lengths : int64 array, shape (P, D)
        Hops; −1 if a next hop is missing or does not leave its switch, −2 for a loop.
    hops : int32 array
        Channels of all complete paths, pair after pair.
    """
    # 1. Lengths. A walk with more hops than switches passes one of them twice, and so for ever.
    num_destinations = len(destinations)
    lengths = np.zeros((len(sources), num_destinations), np.int64)
    num_hops = 0
    for i in range(len(sources)):
        for j in range(num_destinations):
            switch = sources[i]
            while switch != destinations[j]:
                c = next_channel[switch, j]
                if c < 0 or channel_source[c] != switch:
                    lengths[i, j] = -1
                    break
                switch = channel_target[c]
                lengths[i, j] += 1
                if lengths[i, j] > len(next_channel):
                    lengths[i, j] = -2
                    break
            num_hops += max(lengths[i, j], 0)
    # 2. Hops, by a second walk: so they need no more memory than the complete paths have hops.
    hops = np.empty(num_hops, np.int32)
    next_position = 0
    for i in range(len(sources)):
        for j in range(num_destinations):
            switch = sources[i]
            for _ in range(lengths[i, j]):
                c = next_channel[switch, j]
                hops[next_position] = c
                next_position += 1
                switch = channel_target[c]
    return lengths, hops
