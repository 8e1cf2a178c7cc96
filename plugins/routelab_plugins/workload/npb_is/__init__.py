"""npb-is: the NAS Parallel Benchmark IS, a bucket sort of integers.

Ranks count their keys by bucket, add up the counts, agree who gets which buckets, and send all keys
there. Keys are averages of four uniform random numbers, so that buckets in the middle are fuller.
RNR-94-007; NAS-95-020.
"""

from __future__ import annotations

import numpy as np

from routelab.api import Block, BlockBuilder, Collective, Job, Loop, Program, Step
from routelab.api.topology import Int64Array
from routelab_plugins.npb import DOUBLE, INTEGER, NpbWorkload, broadcasts
from routelab_plugins.workload.npb_is.keys import (
    Problem,
    expected_counts,
    real_counts,
    sent,
)

PROBLEMS = {
    "S": Problem(16, 11, 9, processes=(1, 128)),
    "W": Problem(20, 16, 10),
    "A": Problem(23, 19, 10),
    "B": Problem(25, 21, 10),
    "C": Problem(27, 23, 10),
    "D": Problem(31, 27, 10, processes=(4, 1024)),
}

ITERATIONS = 10
TEST_KEYS = 5
"""Keys that are looked up to verify; they travel with the counts."""

MOST_REAL_KEYS = 1 << 27
"""Up to class C keys are drawn as the benchmark draws them (that takes two seconds), above they are
expected values."""

BEFORE = 0.5
"""Share of a key's work that is done before it is sent: counting and sorting into buckets; the
rest is ranking. Ours."""


class NpbIs(NpbWorkload):
    """A model of what NPB's IS sends and computes. One operation is a key ranked."""

    name = "npb-is"
    summary = "NAS Parallel Benchmark IS: keys of a bucket sort, to all ranks at once"

    def supports(self, job: Job) -> str | None:
        """No power of two of ranks, or fewer or more than the class allows."""
        least, most = PROBLEMS[self.parameters.class_].processes
        if not least <= job.ranks <= most:
            return (
                f"{self.label} runs on {least} to {most} processes, {job.ranks} are not within "
                "this range"
            )
        return self.no_power_of_two(job.ranks)

    def program(self, job: Job) -> Program:
        """All of it: one iteration untimed, the timed ones, and the check of borders."""
        problem = PROBLEMS[self.parameters.class_]
        iterations = self.timed_iterations(ITERATIONS)
        if problem.keys <= MOST_REAL_KEYS:
            rounds = _real_rounds(problem, job.ranks, iterations)
        else:
            rounds = [sent(expected_counts(problem, job.ranks), problem)] * (iterations + 1)
        steps = [ranking(problem, matrix) for matrix in rounds]
        timed: tuple[Step, ...]
        if all(step is steps[0] for step in steps) or _alike(rounds[1:]):
            timed = (Loop(steps[1], iterations),)
        else:
            timed = tuple(step for steps_ in steps[1:] for step in steps_)
        return Program(
            ranks=job.ranks,
            convention="collective: all ranks; to check, by rank to the next one",
            before=(*broadcasts(INTEGER), *steps[0]),
            timed=timed,
            after=(
                Collective("reduce", DOUBLE),
                check_borders(job.ranks),
                Collective("reduce", INTEGER),
            ),
            operations=float(iterations * problem.keys),
        )


def _real_rounds(problem: Problem, ranks: int, iterations: int) -> list[Int64Array]:
    """Keys sent in each iteration: number 1 is done twice, and every one changes two keys."""
    counts = real_counts(problem, ranks, iterations)
    rounds = [sent(one, problem) for one in counts]
    return [rounds[0], *rounds]


def _alike(rounds: list[Int64Array]) -> bool:
    return all(np.array_equal(one, rounds[0]) for one in rounds)


def ranking(problem: Problem, keys: Int64Array) -> tuple[Step, ...]:
    """One iteration.

    Parameters
    ----------
    problem : Problem
    keys : int64 array, shape (P, P)
        That ranks send to ranks.
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
    """Every rank's largest key goes to the next one."""
    block = BlockBuilder(ranks)
    rank = np.arange(ranks)
    block.ireceive(rank[1:], rank[:-1], INTEGER)
    block.send(rank[:-1], rank[1:], INTEGER)
    block.wait(rank[1:])
    return block.build()
