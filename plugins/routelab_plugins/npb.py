"""What the models of the NAS Parallel Benchmarks share."""

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
    """Which of the benchmark's problems."""

    class_: NpbClass = parameter("A", description="Problem size as NPB names it")
    version: Literal["3.3", "3.4"] = parameter(
        "3.4", description="Release whose rules for the number of processes hold; 3.3 is 3.3.1"
    )
    iterations: int | None = parameter(
        None, ge=1, le=10_000, description="Timed iterations; none: as many as the class has"
    )


class NpbWorkload(WorkloadPlugin):
    """Base of the models."""

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
        """A number of processes that the benchmark does not run on."""
        kernel = cast(NpbKernel, self.name.removeprefix("npb-"))
        asked = self.parameters
        return ranks_problem(kernel, asked.class_, asked.version, job.ranks, asked.iterations)

    def timed_iterations(self, of_class: int) -> int:
        """How many iterations are timed: as asked for, or as many as the class has."""
        asked: int | None = self.parameters.iterations
        return of_class if asked is None else asked


def problems_with_model(problems: Mapping[str, T]) -> dict[str, T]:
    """The problems of those classes that there are models of."""
    return {class_: problems[class_] for class_ in get_args(NpbClass)}


def broadcasts(*sizes: int) -> tuple[Collective, ...]:
    """Inputs that rank 0 tells all others, one call for each."""
    return tuple(Collective("bcast", size) for size in sizes)
