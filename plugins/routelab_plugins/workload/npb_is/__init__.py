"""npb-is: the NAS Parallel Benchmark IS, a bucket sort of integers.

Ranks count their keys by bucket, sum the counts, assign buckets to ranks, and send all keys there.
Keys are averages of four uniform random numbers, so that buckets in the middle are fuller.
RNR-94-007; NAS-95-020.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from routelab.api import Block, Collective, Job, Loop, Program, Step
from routelab.api.topology import Int64Array
from routelab.toolkit import BlockBuilder
from routelab_plugins.npb import DOUBLE, INTEGER, NpbWorkload, broadcasts
from routelab_plugins.npb_problems import IS_ITERATIONS, IS_KEYS_LOG2
from routelab_plugins.workload.npb_is.keys import (
    Problem,
    expected_counts,
    keys_between_ranks,
    real_counts,
)

PROBLEMS = {
    "S": Problem(IS_KEYS_LOG2["S"], values_log2=11, buckets_log2=9),
    "W": Problem(IS_KEYS_LOG2["W"], values_log2=16, buckets_log2=10),
    "A": Problem(IS_KEYS_LOG2["A"], values_log2=19, buckets_log2=10),
    "B": Problem(IS_KEYS_LOG2["B"], values_log2=21, buckets_log2=10),
    "C": Problem(IS_KEYS_LOG2["C"], values_log2=23, buckets_log2=10),
    "D": Problem(IS_KEYS_LOG2["D"], values_log2=27, buckets_log2=10),
}

TEST_KEYS = 5
"""Keys that are verified; they are sent with the counts."""

MAX_REAL_KEYS = 1 << 27
"""Largest number of keys that are drawn like in the benchmark (class C, which takes two seconds);
above, expected values are used."""

SENDER_SHARE = 0.5
"""Share of a key's work before it is sent: counting and sorting into buckets; the rest is ranking.
Our estimate."""


class NpbIs(NpbWorkload):
    """A model of the messages and operations of NPB's IS. One operation is a ranked key."""

    name = "npb-is"
    summary = "NAS Parallel Benchmark IS: all-to-all exchange of keys in a bucket sort"

    def program(self, job: Job) -> Program:
        """Return the program: one untimed iteration, the timed ones, and the final check."""
        problem = PROBLEMS[self.parameters.class_]
        iterations = self.timed_iterations(IS_ITERATIONS)
        timed: tuple[Step, ...]
        if problem.keys <= MAX_REAL_KEYS:
            # each iteration changes two keys, so it has its own messages
            rounds = [
                ranking(problem, keys_between_ranks(counts, problem))
                for counts in real_counts(problem, job.ranks, iterations)
            ]
            # iteration 1 is run twice: untimed, and as the first timed one
            untimed = rounds[0]
            timed = tuple(step for steps in rounds for step in steps)
        else:
            expected = expected_counts(problem, job.ranks)
            untimed = ranking(problem, keys_between_ranks(expected, problem))
            timed = (Loop(untimed, iterations),)
        # for the final check, each rank compares its smallest key with the largest one of the rank
        # before it
        ranks = np.arange(job.ranks)
        largest_keys = BlockBuilder(job.ranks)
        largest_keys.ireceive(ranks[1:], ranks[:-1], INTEGER)
        largest_keys.send(ranks[:-1], ranks[1:], INTEGER)
        largest_keys.wait(ranks[1:])
        return Program(
            ranks=job.ranks,
            convention="collective: all ranks; to check, by rank to the next one",
            before=(*broadcasts(INTEGER), *untimed),
            timed=timed,
            after=(
                Collective("reduce", DOUBLE),
                largest_keys.build(),
                Collective("reduce", INTEGER),
            ),
            operations=float(iterations * problem.keys),
        )


def ranking(problem: Problem, keys: Int64Array) -> tuple[Step, ...]:
    """Return one iteration: count keys by bucket, exchange them, rank them.

    Parameters
    ----------
    problem : Problem
    keys : int64 array, shape (P, P)
        Number of keys from each rank (row) to each rank (column).
    """
    keys_sent, keys_received = keys.sum(axis=1), keys.sum(axis=0)
    return (
        _compute(SENDER_SHARE * keys_sent),
        # the sizes of all buckets
        Collective("allreduce", INTEGER * (problem.buckets + TEST_KEYS)),
        # how many keys each pair of ranks exchanges, then the keys
        Collective("alltoall", INTEGER),
        Collective("alltoallv", matrix=INTEGER * keys),
        _compute((1 - SENDER_SHARE) * keys_received),
    )


def _compute(operations: NDArray[np.float64]) -> Block:
    """Return a block in which each rank computes its number of operations."""
    return BlockBuilder(len(operations)).compute(np.arange(len(operations)), operations).build()
