"""Jobs for checks of workloads: numbers of ranks, and ranks on networks."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from routelab.api import Job, Topology
from routelab.testing.inputs.networks import NETWORKS, WITH_TERMINALS

RANKS = (1, 2, 3, 4, 6, 9, 12, 32)
"""Numbers of ranks without a network: odd, even, squares, powers of two and none of these."""

JOB_NETWORKS = (
    "one-switch-with-four",
    "mesh",
    "failed-torus",
    "torus",
    "torus-with-two",
    "square-torus",
)
"""Networks with a rank on every terminal."""


def job_on(network: Topology) -> Job:
    """Return a job with a rank on every terminal, in order."""
    return Job.placed(np.arange(network.num_terminals, dtype=np.int32), network)


def _job_of_size(ranks: int) -> Callable[[], Job]:
    return lambda: Job(ranks)


def _job_on_network(network: Callable[[], Topology]) -> Callable[[], Job]:
    return lambda: job_on(network())


def _two_ranks_per_terminal() -> Job:
    """Return a job whose ranks share terminals, in an order different from the terminals'."""
    return Job.placed([5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0, 0], NETWORKS["torus-3d"]())


JOBS: Mapping[str, Callable[[], Job]] = {
    **{f"{ranks}-ranks": _job_of_size(ranks) for ranks in RANKS},
    "two-a-terminal": _two_ranks_per_terminal,
    **{
        name: _job_on_network((dict(NETWORKS) | dict(WITH_TERMINALS))[name])
        for name in JOB_NETWORKS
    },
}
"""Makers of jobs by name."""
