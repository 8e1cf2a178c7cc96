"""Loads of the phases of a pairwise exchange."""

import numpy as np

from routelab.kernels.jit import jit


@jit
def phase_maxima(
    pair_start,
    path_start,
    path_weight,
    hop_channel,
    rank_row,
    rank_destination,
    shift,
    factor,
    load,
):
    """Find the maximum channel load of every phase, in which each rank sends one message.

    In phase p = 1 … T−1 rank i sends to rank ``i ^ p``, or with `shift` to ``(i + p) mod T``.

    Parameters
    ----------
    pair_start, path_start, path_weight, hop_channel : arrays
        Arrays of a route table; a pair without paths sends nothing.
    rank_row : int64 array, shape (T,)
        First pair of each rank's endpoint. Without `shift`, T must be a power of two.
    rank_destination : int64 array, shape (T,)
        Destination of packets for each rank.
    shift : bool
    factor : float64 array, shape (C,)
        Load that a message adds to each channel.
    load : float64 array, shape (C,)
        Scratch, all zeros; all zeros again afterwards.

    Returns
    -------
    maxima : float64 array, shape (T − 1,)
        Messages on the busiest channel times its factor; 0 where no message uses a channel.
    """
    num_ranks = len(rank_row)
    maxima = np.zeros(max(num_ranks - 1, 0), np.float64)
    for phase in range(1, num_ranks):
        # A second pass over the same hops clears their loads: cheaper than to clear all channels.
        for clearing in (False, True):
            for rank in range(num_ranks):
                partner = (rank + phase) % num_ranks if shift else rank ^ phase
                pair = rank_row[rank] + rank_destination[partner]
                for k in range(pair_start[pair], pair_start[pair + 1]):
                    for h in range(path_start[k], path_start[k + 1]):
                        channel = hop_channel[h]
                        if clearing:
                            load[channel] = 0.0
                        else:
                            load[channel] += path_weight[k]
                            maxima[phase - 1] = max(
                                maxima[phase - 1], load[channel] * factor[channel]
                            )
    return maxima
