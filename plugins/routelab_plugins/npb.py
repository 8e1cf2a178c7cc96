"""What the workloads that model the NAS Parallel Benchmarks have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal, TypeVar, cast, get_args

from routelab.api import Citation, Collective, Job, Parameters, WorkloadPlugin, parameter
from routelab_plugins import works
from routelab_plugins.npb_problems import NpbKernel, ranks_problem

T = TypeVar("T")

NpbClass = Literal["S", "W", "A", "B", "C", "D"]

DOUBLE, INTEGER, LOGICAL, COMPLEX = 8, 4, 4, 16
"""Bytes of a number of each type."""


class NpbWorkloadParameters(Parameters):
    """Problem class, release and iterations of the benchmark."""

    class_: NpbClass = parameter("A", description="Problem class of NPB")
    version: Literal["3.3", "3.4"] = parameter(
        "3.4", description="Release, which determines the legal numbers of processes; 3.3 is 3.3.1"
    )
    iterations: int | None = parameter(
        None, ge=1, le=10_000, description="Timed iterations; none: the number of the class"
    )


class NpbWorkload(WorkloadPlugin):
    """Base class of the workloads ``npb-lu``, ``npb-mg``, ``npb-cg``, ``npb-ft`` and ``npb-is``."""

    Parameters = NpbWorkloadParameters
    citations: ClassVar[tuple[Citation, ...]] = (
        works.BAILEY1994("the problems and their arithmetic"),
        works.BAILEY1995("how the problems are divided among processes, and what these send"),
    )

    def supports(self, job: Job) -> str | None:
        """Reject numbers of processes that the benchmark does not support."""
        kernel = cast(NpbKernel, self.name.removeprefix("npb-"))
        parameters = self.parameters
        version, iterations = parameters.version, parameters.iterations
        return ranks_problem(kernel, parameters.class_, version, job.ranks, iterations)

    def timed_iterations(self, class_iterations: int) -> int:
        """Return the number of timed iterations: the parameter, or the number of the class."""
        iterations: int | None = self.parameters.iterations
        return class_iterations if iterations is None else iterations


def problems_with_model(problems: Mapping[str, T]) -> dict[str, T]:
    """Return the problems without those of class E, which no workload models."""
    return {class_: problems[class_] for class_ in get_args(NpbClass)}


def broadcasts(*sizes: int) -> tuple[Collective, ...]:
    """Return broadcasts of inputs from rank 0, one call for each."""
    return tuple(Collective("bcast", size) for size in sizes)
