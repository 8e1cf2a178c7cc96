"""Random keys of IS."""

import numpy as np

from routelab.kernels.jit import jit

SEED, MULTIPLIER, BITS = 314_159_265, 5**13, 46
"""Constants of the random numbers x' = MULTIPLIER x mod 2^BITS."""


@jit
def count_keys(counts, where, each, buckets_log2):
    """Draw the keys of all ranks in order, and count them.

    Parameters
    ----------
    counts : int64 array, shape (P, buckets)
        Set to each rank's number of keys in each bucket.
    where : int64 array
        Set to the buckets of the first keys.
    each : int
        Number of keys of a rank.
    buckets_log2 : int
    """
    # multiplication wraps at 2^64, a multiple of 2^BITS
    mask = np.uint64((1 << BITS) - 1)
    # four numbers at a time follow from the last one, so that they do not wait for each other
    once, twice = np.uint64(MULTIPLIER), np.uint64(MULTIPLIER) * np.uint64(MULTIPLIER)
    thrice, fourfold = twice * once, twice * twice
    # the sum of four is below 2^(BITS + 2), and its upper bits say the bucket
    shift = np.uint64(BITS + 2 - buckets_log2)
    number = np.uint64(SEED)
    counts[:] = 0
    for rank in range(len(counts)):
        for key in range(rank * each, (rank + 1) * each):
            total = (number * once & mask) + (number * twice & mask) + (number * thrice & mask)
            number = number * fourfold & mask
            total += number
            bucket = np.int64(total >> shift)
            counts[rank, bucket] += 1
            if key < len(where):
                where[key] = bucket
