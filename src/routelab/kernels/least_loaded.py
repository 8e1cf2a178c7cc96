"""Greedy choice of one path per pair by the loads so far."""

import numpy as np

from routelab.kernels.jit import jit


@jit
def least_loaded_paths(pair_start, path_start, hops, demand, factor):
    """Choose for each pair the path whose busiest channel has the least relative load so far.

    Pairs with fewer paths choose first, so that pairs with more paths can avoid them. Of pairs with
    equally many paths, the first one chooses first; of equally good paths, the first one is chosen.

    Parameters
    ----------
    pair_start : int64 array, shape (P + 1,)
        Paths ``pair_start[p]:pair_start[p + 1]`` belong to pair p.
    path_start : int64 array, shape (K + 1,)
        Hops ``path_start[k]:path_start[k + 1]`` belong to path k.
    hops : int32 array
        Channels.
    demand : int64 array, shape (P,)
        Load that a path of each pair adds to its channels.
    factor : float64 array, shape (C,)
        Relative load per unit that crosses each channel.

    Returns
    -------
    chosen : int64 array
        A path of each pair that has one, ascending.
    """
    num_pairs = len(pair_start) - 1
    chosen = np.full(num_pairs, -1, np.int64)
    load = np.zeros(len(factor), np.int64)
    # Mergesort is stable: equal pairs keep their order.
    for p in np.argsort(np.diff(pair_start), kind="mergesort"):
        least_load = 0.0
        for k in range(pair_start[p], pair_start[p + 1]):
            largest_load = 0.0
            for h in range(path_start[k], path_start[k + 1]):
                largest_load = max(largest_load, load[hops[h]] * factor[hops[h]])
            if chosen[p] < 0 or largest_load < least_load:
                chosen[p] = k
                least_load = largest_load
        if chosen[p] >= 0:
            for h in range(path_start[chosen[p]], path_start[chosen[p] + 1]):
                load[hops[h]] += demand[p]
    return chosen[chosen >= 0]
