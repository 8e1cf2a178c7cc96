"""Greedy choice of one path per pair by the loads so far."""

import numpy as np

from routelab.kernels.jit import jit


@jit
def least_loaded_paths(pair_start, path_start, hops, demand, factor):
    """Choose for each pair the path whose busiest channel has the least relative load so far.

    Pairs with fewer paths come first, so that pairs with more paths can avoid them; of equal pairs
    and equal paths the first is first.

    Parameters
    ----------
    pair_start : int64 array, shape (pairs + 1,)
        Paths ``pair_start[p]:pair_start[p + 1]`` belong to pair p.
    path_start : int64 array, shape (K + 1,)
        Hops ``path_start[k]:path_start[k + 1]`` belong to path k.
    hops : int32 array
        Channels.
    demand : int64 array, shape (pairs,)
        Load that a path of each pair adds to its channels.
    factor : float64 array, shape (C,)
        Relative load per unit that crosses each channel.

    Returns
    -------
    chosen : int64 array
        A path of each pair that has one, ascending.
    """
    pairs = len(pair_start) - 1
    chosen = np.full(pairs, -1, np.int64)
    load = np.zeros(len(factor), np.int64)
    for p in np.argsort(np.diff(pair_start), kind="mergesort"):
        least = 0.0
        for k in range(pair_start[p], pair_start[p + 1]):
            busiest = 0.0
            for h in range(path_start[k], path_start[k + 1]):
                busiest = max(busiest, load[hops[h]] * factor[hops[h]])
            if chosen[p] < 0 or busiest < least:
                chosen[p] = k
                least = busiest
        if chosen[p] >= 0:
            for h in range(path_start[chosen[p]], path_start[chosen[p] + 1]):
                load[hops[h]] += demand[p]
    return chosen[chosen >= 0]
