"""Pairs that a failed link affects, and pairs with different routes in a new table."""

import numpy as np

from routelab.kernels.jit import jit


@jit
def crossing_pairs(pair_start, path_start, hop_channel, failed_channel):
    """Return which pairs have a path over a failed channel; bool, shape (P * D,).

    Parameters
    ----------
    pair_start, path_start, hop_channel
        Arrays of a route table with P sources and D destinations.
    failed_channel : bool array, shape (C,)
    """
    crossing = np.zeros(len(pair_start) - 1, np.bool_)
    for p in range(len(crossing)):
        # the hops of all paths of a pair lie behind one another
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
        Number that each channel of `after` has in `before`.

    Returns
    -------
    changed : bool array, shape (P * D,)
    """
    old_pair_start, old_path_start, old_weight, old_hop = before
    new_pair_start, new_path_start, new_weight, new_hop = after
    changed = np.zeros(len(old_pair_start) - 1, np.bool_)
    for p in range(len(changed)):
        num_paths = old_pair_start[p + 1] - old_pair_start[p]
        if new_pair_start[p + 1] - new_pair_start[p] != num_paths:
            changed[p] = True
            continue
        for k in range(num_paths):
            old_path, new_path = old_pair_start[p] + k, new_pair_start[p] + k
            old_first, new_first = old_path_start[old_path], new_path_start[new_path]
            num_hops = old_path_start[old_path + 1] - old_first
            has_new_length = new_path_start[new_path + 1] - new_first != num_hops
            if has_new_length or old_weight[old_path] != new_weight[new_path]:
                changed[p] = True
                break
            for h in range(num_hops):
                if old_channel[new_hop[new_first + h]] != old_hop[old_first + h]:
                    changed[p] = True
                    break
            if changed[p]:
                break
    return changed
