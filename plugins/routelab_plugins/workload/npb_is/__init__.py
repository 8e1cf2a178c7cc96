"""npb-is: the NAS Parallel Benchmark IS, a bucket sort of integers.

Ranks count their keys by bucket, sum the counts, assign buckets to ranks, and send all keys there.
Keys are averages of four uniform random numbers, so that buckets in the middle are fuller.
RNR-94-007; NAS-95-020.
"""

from __future__ import annotations

import numpy as np

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
    "S": Problem(IS_KEYS_LOG2["S"], 11, 9),
    "W": Problem(IS_KEYS_LOG2["W"], 16, 10),
    "A": Problem(IS_KEYS_LOG2["A"], 19, 10),
    "B": Problem(IS_KEYS_LOG2["B"], 21, 10),
    "C": Problem(IS_KEYS_LOG2["C"], 23, 10),
    "D": Problem(IS_KEYS_LOG2["D"], 27, 10),
}

TEST_KEYS = 5
"""Keys that are verified; they are sent with the counts."""

MOST_REAL_KEYS = 1 << 27
"""Largest number of keys that are drawn like in the benchmark (class C, which takes two seconds);
above, expected values are used."""

BEFORE = 0.5
"""Share of a key's work before sending: counting and sorting into buckets; the rest is ranking. Our
estimate."""


class NpbIs(NpbWorkload):
    """A model of the messages and operations of NPB's IS. One operation is a ranked key."""

    name = "npb-is"
    summary = "NAS Parallel Benchmark IS: all-to-all exchange of keys in a bucket sort"

    def program(self, job: Job) -> Program:
        """Return the program: one untimed iteration, the timed ones, and the check of borders."""
        problem = PROBLEMS[self.parameters.class_]
        iterations = self.timed_iterations(IS_ITERATIONS)
        timed: tuple[Step, ...]
        if problem.keys <= MOST_REAL_KEYS:
            counts = real_counts(problem, job.ranks, iterations)
            rounds = [ranking(problem, keys_between_ranks(count, problem)) for count in counts]
            untimed = rounds[0]
            timed = tuple(step for steps in rounds for step in steps)
        else:
            untimed = ranking(
                problem, keys_between_ranks(expected_counts(problem, job.ranks), problem)
            )
            timed = (Loop(untimed, iterations),)
        return Program(
            ranks=job.ranks,
            convention="collective: all ranks; to check, by rank to the next one",
            before=(*broadcasts(INTEGER), *untimed),
            timed=timed,
            after=(
                Collective("reduce", DOUBLE),
                check_borders(job.ranks),
                Collective("reduce", INTEGER),
            ),
            operations=float(iterations * problem.keys),
        )


def ranking(problem: Problem, keys: Int64Array) -> tuple[Step, ...]:
    """Return one iteration.

    Parameters
    ----------
    problem : Problem
    keys : int64 array, shape (P, P)
        Number of keys from rank to rank.
    """
    return (
        _compute(BEFORE * keys.sum(axis=1)),
        Collective("allreduce", INTEGER * (problem.buckets + TEST_KEYS)),
        Collective("alltoall", INTEGER),
        Collective("alltoallv", matrix=INTEGER * keys),
        _compute((1 - BEFORE) * keys.sum(axis=0)),
    )


def _compute(amount: Int64Array) -> Block:
    return BlockBuilder(len(amount)).compute(np.arange(len(amount)), amount).build()


def check_borders(ranks: int) -> Block:
    """Return the messages with each rank's largest key for the next rank."""
    block = BlockBuilder(ranks)
    rank = np.arange(ranks)
    block.ireceive(rank[1:], rank[:-1], INTEGER)
    block.send(rank[:-1], rank[1:], INTEGER)
    block.wait(rank[1:])
    return block.build()
