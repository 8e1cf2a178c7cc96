"""Common parts of the models of the NAS Parallel Benchmarks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal, TypeVar, cast, get_args

from routelab.api import Citation, Collective, Job, Parameters, WorkloadPlugin, parameter
from routelab_plugins.npb_problems import NpbKernel, ranks_problem

T = TypeVar("T")

NpbClass = Literal["S", "W", "A", "B", "C", "D"]

DOUBLE, INTEGER, LOGICAL, COMPLEX = 8, 4, 4, 16
"""Bytes of a number of each type."""

PROBLEMS_REPORT = Citation(
    key="bailey1994",
    title="The NAS Parallel Benchmarks",
    authors="Bailey, David and Barszcz, Eric and Barton, John and Browning, David and "
    "Carter, Russell and Dagum, Leo and Fatoohi, Rod and Fineberg, Samuel and "
    "Frederickson, Paul and Lasinski, Thomas and Schreiber, Rob and Simon, Horst and "
    "Venkatakrishnan, V. and Weeratunga, Sisira",
    year=1994,
    venue="NASA Ames Research Center, RNR Technical Report RNR-94-007",
    cited_for="the problems and their arithmetic",
)


class NpbWorkloadParameters(Parameters):
    """Problem of the benchmark."""

    class_: NpbClass = parameter("A", description="Problem size as NPB names it")
    version: Literal["3.3", "3.4"] = parameter(
        "3.4", description="Release whose rules for the number of processes hold; 3.3 is 3.3.1"
    )
    iterations: int | None = parameter(
        None, ge=1, le=10_000, description="Timed iterations; none: as many as the class has"
    )


class NpbWorkload(WorkloadPlugin):
    """Base class of the models."""

    Parameters = NpbWorkloadParameters
    citations: ClassVar[tuple[Citation, ...]] = (
        PROBLEMS_REPORT,
        Citation(
            key="bailey1995",
            title="The NAS Parallel Benchmarks 2.0",
            authors="Bailey, David and Harris, Tim and Saphir, William and van der Wijngaart, Rob "
            "and Woo, Alex and Yarrow, Maurice",
            year=1995,
            venue="NASA Ames Research Center, Report NAS-95-020",
            cited_for="how the problems are divided among processes, and what these send",
        ),
    )

    def supports(self, job: Job) -> str | None:
        """Reject numbers of processes that the benchmark does not support."""
        kernel = cast(NpbKernel, self.name.removeprefix("npb-"))
        parameters = self.parameters
        version, iterations = parameters.version, parameters.iterations
        return ranks_problem(kernel, parameters.class_, version, job.ranks, iterations)

    def timed_iterations(self, of_class: int) -> int:
        """Return the number of timed iterations: the parameter, or the number of the class."""
        iterations: int | None = self.parameters.iterations
        return of_class if iterations is None else iterations


def problems_with_model(problems: Mapping[str, T]) -> dict[str, T]:
    """Return the problems of the classes with models."""
    return {class_: problems[class_] for class_ in get_args(NpbClass)}


def broadcasts(*sizes: int) -> tuple[Collective, ...]:
    """Return broadcasts of inputs from rank 0, one call for each."""
    return tuple(Collective("bcast", size) for size in sizes)
