"""Bandwidth of simultaneous messages."""

from routelab.kernels.jit import jit


@jit
def pairing_bandwidth(pair_start, path_start, path_weight, hop_channel, pairs, factor, load):
    """Average the bandwidth of messages, each limited by the busiest channel on its route.

    Parameters
    ----------
    pair_start, path_start, path_weight, hop_channel : arrays
        Arrays of a route table.
    pairs : int64 array, shape (M,)
        Pair of endpoints of each message, at least one.
    factor : float64 array, shape (C,)
        Load that a message adds to each channel.
    load : float64 array, shape (C,)
        Scratch, all zeros; all zeros again afterwards.

    Returns
    -------
    bandwidth : float
        Share of a terminal's bandwidth, from 0 to 1; 0 for a pair without paths.
    """
    for pair in pairs:
        for k in range(pair_start[pair], pair_start[pair + 1]):
            for h in range(path_start[k], path_start[k + 1]):
                load[hop_channel[h]] += path_weight[k]
    total = 0.0
    for pair in pairs:
        if pair_start[pair] == pair_start[pair + 1]:
            continue
        # No message gets more than the bandwidth of a terminal, however idle its channels are.
        largest_load = 1.0
        for h in range(path_start[pair_start[pair]], path_start[pair_start[pair + 1]]):
            largest_load = max(largest_load, load[hop_channel[h]] * factor[hop_channel[h]])
        total += 1 / largest_load
    for pair in pairs:
        for h in range(path_start[pair_start[pair]], path_start[pair_start[pair + 1]]):
            load[hop_channel[h]] = 0.0
    return total / len(pairs)
