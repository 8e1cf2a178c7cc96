"""Keys of IS: their number in each bucket, and their target ranks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from routelab.api.topology import Int64Array
from routelab_plugins.npb_problems import IS_SECOND_KEY
from routelab_plugins.workload.npb_is.kernels import count_keys

UNIFORMS = 4
"""Number of random numbers whose average is a key."""


@dataclass(frozen=True)
class Problem:
    """A class of IS.

    Attributes
    ----------
    keys_log2 : int
        Binary logarithm of the number of keys.
    values_log2 : int
        Binary logarithm of the number of values that a key can have: 11 for keys from 0 to 2047.
    buckets_log2 : int
        Binary logarithm of the number of buckets, which have equally many values each.
    """

    keys_log2: int
    values_log2: int
    buckets_log2: int

    @property
    def keys(self) -> int:
        """Number of keys."""
        return 1 << self.keys_log2

    @property
    def buckets(self) -> int:
        """Number of buckets."""
        return 1 << self.buckets_log2

    def bucket_of(self, key: int) -> int:
        """Return the bucket of a key, which is its upper bits."""
        return key >> (self.values_log2 - self.buckets_log2)


def real_counts(problem: Problem, ranks: int, iterations: int) -> list[Int64Array]:
    """Count each rank's keys by bucket in each iteration, as the benchmark draws them.

    Iterations are numbered from 1. Iteration i sets two keys of rank 0: key number i to i, and key
    number i + 10 to the number of values less i. Later iterations keep these keys.

    Returns
    -------
    list of int64 arrays, shape (P, buckets)
        One array for each iteration.
    """
    counts = np.zeros((ranks, problem.buckets), dtype=np.int64)
    # the keys of rank 0 that change, up to number `iterations + IS_SECOND_KEY`
    bucket_of_key = np.zeros(iterations + IS_SECOND_KEY + 1, dtype=np.int64)
    count_keys(counts, bucket_of_key, problem.keys // ranks, problem.buckets_log2)
    counts_by_iteration = []
    for iteration in range(1, iterations + 1):
        num_values = 1 << problem.values_log2
        new_keys = {iteration: iteration, iteration + IS_SECOND_KEY: num_values - iteration}
        for key_number, key in new_keys.items():
            counts[0, bucket_of_key[key_number]] -= 1
            bucket_of_key[key_number] = problem.bucket_of(key)
            counts[0, bucket_of_key[key_number]] += 1
        counts_by_iteration.append(counts.copy())
    return counts_by_iteration


def expected_counts(problem: Problem, ranks: int) -> Int64Array:
    """Return each rank's expected number of keys by bucket, rounded to whole keys.

    Returns
    -------
    int64 array, shape (P, buckets)
    """
    bucket_edges = np.arange(problem.buckets + 1) / problem.buckets
    # The number of keys below each edge is rounded, not that of each bucket: so the buckets add up
    # to all keys of a rank.
    keys_below = np.rint(problem.keys // ranks * irwin_hall(bucket_edges)).astype(np.int64)
    return np.tile(np.diff(keys_below), (ranks, 1))


def irwin_hall(average: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability that four uniform numbers from 0 to 1 have a lower average.

    This is the Irwin-Hall distribution of their sum x: the sum of (-1)^k C(4, k) (x - k)^4 over all
    k <= x, divided by 4!.
    """
    x = UNIFORMS * average  # the sum
    # `maximum` drops the terms with k > x
    signed_binomials = [1, -4, 6, -4, 1]
    total = sum(
        binomial * np.maximum(x - k, 0.0) ** UNIFORMS for k, binomial in enumerate(signed_binomials)
    )
    return np.asarray(total / 24.0)  # 4!


def keys_between_ranks(counts: Int64Array, problem: Problem) -> Int64Array:
    """Return the number of keys that go from rank to rank.

    Ranks get buckets in order, each until all buckets so far have its even share of the keys. With
    2 ranks and buckets of 3, 4, 2 and 1 keys, rank 0 gets the first two: 3 < 5 <= 3 + 4. A bucket
    that fills the shares of several ranks goes to one rank, and the next bucket to the next rank.
    So the last ranks may be without a bucket; they get no keys.

    Parameters
    ----------
    counts : int64 array, shape (P, buckets)
        Number of keys of each rank in each bucket.

    Returns
    -------
    int64 array, shape (P, P)
        Number of keys from each rank (row) to each rank (column).
    """
    ranks = len(counts)
    share = problem.keys // ranks
    owner = np.zeros(problem.buckets, dtype=np.int64)
    rank = 0
    for bucket, keys_so_far in enumerate(np.cumsum(counts.sum(axis=0)).tolist()):
        # once all shares are full, only empty buckets are left; the last rank gets them
        owner[bucket] = min(rank, ranks - 1)
        if keys_so_far >= (rank + 1) * share:
            rank += 1
    keys = np.zeros((ranks, ranks), dtype=np.int64)
    # Add column b of `counts`, bucket b of all ranks, to the column of the bucket's owner. `add.at`
    # also adds the further buckets of one owner, which `+=` would drop.
    np.add.at(keys.T, owner, counts.T)
    return keys
