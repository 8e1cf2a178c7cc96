"""osu-alltoall: the alltoall benchmark of the OSU Micro-Benchmarks.

The program calls MPI_Alltoall in a loop, with a barrier between calls, and measures each call.
"""

from __future__ import annotations

from typing import Literal

from routelab.api import (
    Bytes,
    Collective,
    Job,
    Loop,
    Parameters,
    Program,
    WorkloadPlugin,
    parameter,
)
from routelab_plugins import works


class OsuAlltoallWorkloadParameters(Parameters):
    """Size and number of calls, and algorithm."""

    size: Bytes = parameter(
        1 << 20, ge=0, le=1 << 40, description="Bytes that every rank sends to every other"
    )
    iterations: int = parameter(
        1,
        ge=1,
        le=10**6,
        description="Timed calls, separated by barriers",
    )
    algorithm: Literal["mpich", "bruck", "linear", "pairwise", "scattered"] = parameter(
        "mpich",
        description="Algorithm of the call, unless the setting `collectives` names one; mpich: "
        "MPICH's default, which is pairwise above 32768 bytes",
    )


class OsuAlltoallWorkload(WorkloadPlugin):
    """All ranks are one group; a rank's data for itself are copied without a message."""

    name = "osu-alltoall"
    summary = "MPI_Alltoall as timed by the OSU benchmarks"
    citations = (works.OSU("what is timed"),)
    Parameters = OsuAlltoallWorkloadParameters

    def supports(self, job: Job) -> str | None:
        """Return why there are too few ranks, or None; the benchmark needs two."""
        return None if job.ranks > 1 else "needs two ranks or more"

    def program(self, job: Job) -> Program:
        """Return calls with barriers between them; the last call has no barrier after it."""
        algorithm = self.parameters.algorithm
        # an empty name leaves the choice to the engine, which chooses like MPICH
        call = Collective(
            "alltoall", self.parameters.size, algorithm="" if algorithm == "mpich" else algorithm
        )
        other_calls = self.parameters.iterations - 1
        calls_with_barriers = (
            (Loop((call, Collective("barrier")), other_calls),) if other_calls else ()
        )
        return Program(
            job.ranks,
            (*calls_with_barriers, call),
            convention=f"all {job.ranks} ranks are one group, a message of {self.parameters.size} "
            "bytes for each pair; the calls and the barriers between them are timed",
        )
