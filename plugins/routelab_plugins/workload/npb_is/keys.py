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
    keys_log2, largest_log2, buckets_log2 : int
        Binary logarithms of the numbers of keys, of their values, and of buckets.
    """

    keys_log2: int
    largest_log2: int
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
        """Return the bucket of a key."""
        return key >> (self.largest_log2 - self.buckets_log2)


def real_counts(problem: Problem, ranks: int, iterations: int) -> list[Int64Array]:
    """Count each rank's keys by bucket in each iteration, as the benchmark draws them.

    Iteration i sets two keys of rank 0: number i to i, and number i + 10 to the number of values
    less i.

    Returns
    -------
    list of int64 arrays, shape (P, buckets)
    """
    counts = np.zeros((ranks, problem.buckets), dtype=np.int64)
    bucket = np.zeros(iterations + IS_SECOND_KEY + 1, dtype=np.int64)
    count_keys(counts, bucket, problem.keys // ranks, problem.buckets_log2)
    rounds = []
    for iteration in range(1, iterations + 1):
        for number, key in (
            (iteration, iteration),
            (iteration + IS_SECOND_KEY, (1 << problem.largest_log2) - iteration),
        ):
            counts[0, bucket[number]] -= 1
            bucket[number] = problem.bucket_of(key)
            counts[0, bucket[number]] += 1
        rounds.append(counts.copy())
    return rounds


def expected_counts(problem: Problem, ranks: int) -> Int64Array:
    """Return each rank's expected number of keys by bucket, rounded to whole keys.

    Returns
    -------
    int64 array, shape (P, buckets)
    """
    edges = np.arange(problem.buckets + 1) / problem.buckets
    below = np.rint(problem.keys // ranks * irwin_hall(edges)).astype(np.int64)
    return np.tile(np.diff(below), (ranks, 1))


def irwin_hall(average: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability that an average of four uniform numbers is lower."""
    x = UNIFORMS * average
    terms = [1, -4, 6, -4, 1]
    total = sum(sign * np.maximum(x - k, 0.0) ** 4 for k, sign in enumerate(terms))
    return np.asarray(total / 24.0)


def keys_between_ranks(counts: Int64Array, problem: Problem) -> Int64Array:
    """Return the number of keys that go from rank to rank.

    Buckets are assigned in order: rank j's last bucket is the first up to which all ranks' keys are
    at least j + 1 even shares. Ranks without a bucket get no keys.

    Parameters
    ----------
    counts : int64 array, shape (P, buckets)

    Returns
    -------
    int64 array, shape (P, P)
    """
    ranks = len(counts)
    share = problem.keys // ranks
    owner = np.zeros(problem.buckets, dtype=np.int64)
    rank = 0
    for bucket, so_far in enumerate(np.cumsum(counts.sum(axis=0)).tolist()):
        owner[bucket] = min(rank, ranks - 1)  # buckets after the last key are empty
        if so_far >= (rank + 1) * share:
            rank += 1
    keys = np.zeros((ranks, ranks), dtype=np.int64)
    np.add.at(keys.T, owner, counts.T)
    return keys
