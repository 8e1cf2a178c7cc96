"""Pairs that a failed link affects, and pairs with different routes in a new table."""

import numpy as np

from routelab.kernels.jit import jit


@jit
def crossing_pairs(pair_start, path_start, hop_channel, failed_channel):
    """Return which pairs have a path over a failed channel; bool, shape (P * D,).

    Parameters
    ----------
    pair_start, path_start, hop_channel
        Of a route table.
    failed_channel : bool array, shape (C,)
    """
    crossing = np.zeros(len(pair_start) - 1, np.bool_)
    for p in range(len(crossing)):
        for h in range(path_start[pair_start[p]], path_start[pair_start[p + 1]]):
            if failed_channel[hop_channel[h]]:
                crossing[p] = True
                break
    return crossing


@jit
def changed_pairs(before, after, old_channel):
    """Return which pairs differ in their paths, the order of paths, or the weights.

    Parameters
    ----------
    before, after : tuple of four arrays
        ``pair_start``, ``path_start``, ``path_weight`` and ``hop_channel`` of two route tables
        with the same pairs.
    old_channel : int64 array
        Number in the table `before` of each channel of the table `after`.

    Returns
    -------
    changed : bool array, shape (P * D,)
    """
    pair_a, path_a, weight_a, hop_a = before
    pair_b, path_b, weight_b, hop_b = after
    changed = np.zeros(len(pair_a) - 1, np.bool_)
    for p in range(len(changed)):
        paths = pair_a[p + 1] - pair_a[p]
        if pair_b[p + 1] - pair_b[p] != paths:
            changed[p] = True
            continue
        for k in range(paths):
            a, b = pair_a[p] + k, pair_b[p] + k
            hops = path_a[a + 1] - path_a[a]
            if path_b[b + 1] - path_b[b] != hops or weight_a[a] != weight_b[b]:
                changed[p] = True
                break
            for h in range(hops):
                if old_channel[hop_b[path_b[b] + h]] != hop_a[path_a[a] + h]:
                    changed[p] = True
                    break
            if changed[p]:
                break
    return changed
