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
    for pair in range(len(crossing)):
        # the paths of a pair, and the hops of these paths, have consecutive numbers
        for hop in range(path_start[pair_start[pair]], path_start[pair_start[pair + 1]]):
            if failed_channel[hop_channel[hop]]:
                crossing[pair] = True
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
    for pair in range(len(changed)):
        num_paths = old_pair_start[pair + 1] - old_pair_start[pair]
        if new_pair_start[pair + 1] - new_pair_start[pair] != num_paths:
            changed[pair] = True
            continue
        # the k-th path of a pair is compared with its k-th path in the new table
        for k in range(num_paths):
            old_path, new_path = old_pair_start[pair] + k, new_pair_start[pair] + k
            old_first, new_first = old_path_start[old_path], new_path_start[new_path]
            num_hops = old_path_start[old_path + 1] - old_first
            has_new_length = new_path_start[new_path + 1] - new_first != num_hops
            if has_new_length or old_weight[old_path] != new_weight[new_path]:
                changed[pair] = True
                break
            for h in range(num_hops):
                if old_channel[new_hop[new_first + h]] != old_hop[old_first + h]:
                    changed[pair] = True
                    break
            if changed[pair]:
                break
    return changed
