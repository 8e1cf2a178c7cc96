"""Bandwidth of messages that are all sent at once."""

from numba import njit


@njit(cache=True)
def pairing_bandwidth(pair_start, path_start, path_weight, hop_channel, pairs, factor, load):
    """Mean bandwidth of messages, each held back by the busiest channel on its way.

    Parameters
    ----------
    pair_start, path_start, path_weight, hop_channel : arrays
        Of a route table.
    pairs : int64 array, shape (M,)
        Pair of endpoints of each message, at least one.
    factor : float64 array, shape (C,)
        What a message adds to the load of each channel.
    load : float64 array, shape (C,)
        Scratch, all zeros; all zeros again afterwards.

    Returns
    -------
    bandwidth : float
        Of a terminal's own, from 0 to 1; a pair without paths has none.
    """
    for p in pairs:
        for k in range(pair_start[p], pair_start[p + 1]):
            for h in range(path_start[k], path_start[k + 1]):
                load[hop_channel[h]] += path_weight[k]
    total = 0.0
    for p in pairs:
        if pair_start[p] == pair_start[p + 1]:
            continue
        busiest = 1.0
        for h in range(path_start[pair_start[p]], path_start[pair_start[p + 1]]):
            busiest = max(busiest, load[hop_channel[h]] * factor[hop_channel[h]])
        total += 1 / busiest
    for p in pairs:
        for h in range(path_start[pair_start[p]], path_start[pair_start[p + 1]]):
            load[hop_channel[h]] = 0.0
    return total / len(pairs)
