"""What the models of the NAS Parallel Benchmarks share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal, TypeVar, cast, get_args

from routelab.api import Citation, Collective, Job, Parameters, WorkloadPlugin, parameter
from routelab_plugins.npb_problems import NpbKernel, refusal

T = TypeVar("T")

NpbClass = Literal["S", "W", "A", "B", "C", "D"]

DOUBLE, INTEGER, LOGICAL, COMPLEX = 8, 4, 4, 16
"""Bytes of a number of each type."""


class NpbParameters(Parameters):
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

    Parameters = NpbParameters
    citations: ClassVar[tuple[Citation, ...]] = (
        Citation("bailey1994", "the problems and their arithmetic"),
        Citation("bailey1995", "how the problems are divided among processes, and what these send"),
    )

    def supports(self, job: Job) -> str | None:
        """A number of processes that the benchmark does not run on."""
        kernel = cast(NpbKernel, self.name.removeprefix("npb-"))
        asked = self.parameters
        return refusal(kernel, asked.class_, asked.version, job.ranks, asked.iterations)

    def timed_iterations(self, of_class: int) -> int:
        """How many iterations are timed: as asked for, or as many as the class has."""
        asked: int | None = self.parameters.iterations
        return of_class if asked is None else asked


def modelled(problems: Mapping[str, T]) -> dict[str, T]:
    """The problems of those classes that there are models of."""
    return {class_: problems[class_] for class_ in get_args(NpbClass)}


def broadcasts(*sizes: int) -> tuple[Collective, ...]:
    """Inputs that rank 0 tells all others, one call for each."""
    return tuple(Collective("bcast", size) for size in sizes)
