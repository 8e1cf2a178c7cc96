"""Random keys of IS."""

import numpy as np

from routelab.kernels.jit import jit

SEED, MULTIPLIER, BITS = 314_159_265, 5**13, 46
"""Constants of the random numbers x' = MULTIPLIER x mod 2^BITS."""


@jit
def count_keys(counts, first_buckets, keys_per_rank, buckets_log2):
    """Draw the keys of all ranks in order, and count them. A key is the sum of four numbers.

    Parameters
    ----------
    counts : int64 array, shape (P, buckets)
        Updated: each rank's number of keys in each bucket.
    first_buckets : int64 array
        Updated: the bucket of each of the first keys, as many as it has elements. The benchmark
        replaces some of these keys later, so their old buckets must be known
        (`routelab_plugins.workload.npb_is.keys.real_counts`).
    keys_per_rank : int
    buckets_log2 : int
        Binary logarithm of the number of buckets.
    """
    # Products wrap at 2^64. This does not change their lower BITS bits, which are x mod 2^BITS.
    mask = np.uint64((1 << BITS) - 1)
    # A key needs the next four numbers: with the last number x and the MULTIPLIER a, these are x a,
    # x a^2, x a^3 and x a^4. Each is one product of x, so none waits for the one before it.
    power_1, power_2 = np.uint64(MULTIPLIER), np.uint64(MULTIPLIER) * np.uint64(MULTIPLIER)
    power_3, power_4 = power_2 * power_1, power_2 * power_2
    # The sum of four numbers has BITS + 2 bits, and the upper ones are the bucket: with 2^9 buckets
    # the upper 9.
    shift = np.uint64(BITS + 2 - buckets_log2)
    number = np.uint64(SEED)
    counts[:] = 0
    for rank in range(len(counts)):
        for key in range(rank * keys_per_rank, (rank + 1) * keys_per_rank):
            total = (
                (number * power_1 & mask) + (number * power_2 & mask) + (number * power_3 & mask)
            )
            number = number * power_4 & mask
            total += number
            bucket = np.int64(total >> shift)
            counts[rank, bucket] += 1
            if key < len(first_buckets):
                first_buckets[key] = bucket
