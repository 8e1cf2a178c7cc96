"""npb: a program of the NAS Parallel Benchmarks, versions 3.3.1 and 3.4.

Figures come from the summary at the end of the output only; what a program prints before it
differs from kernel to kernel, and is searched for errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from routelab.api import (
    BenchmarkPlugin,
    BenchmarkResult,
    BenchmarkTask,
    FigureOfMerit,
    Parameters,
    RunOutput,
    WorkloadModel,
    parameter,
)
from routelab_plugins import works
from routelab_plugins.benchmark.npb.summary import read_summary
from routelab_plugins.benchmark_output import read_lines
from routelab_plugins.npb_problems import NpbKernel, ranks_problem

ERRORS = (r"SUBDOMAIN SIZE IS TOO SMALL", r"^\W*ERROR\b(?! (is|norm)\b)")
"""Messages of programs that refuse to run, some of them with exit code 0."""

MODEL_CLASSES = "SWABCD"
"""Classes with models."""

SIMULATED_ITERATIONS = {"lu": 6, "mg": 4, "cg": 3, "ft": 4, "is": 0}
"""Iterations to simulate for a prediction; 0: all, because those of IS are few and differ."""


class NpbBenchmarkParameters(Parameters):
    """Kernel, class and version of the program."""

    kernel: NpbKernel = parameter("lu", description="The benchmark")
    class_: Literal["S", "W", "A", "B", "C", "D", "E"] = parameter(
        "A", description="Problem class; it is part of the program's name"
    )
    version: Literal["3.3", "3.4"] = parameter(
        "3.4", description="Release; programs of 3.3.1 are built for one number of processes"
    )


class Npb(BenchmarkPlugin):
    """Runs a program such as lu.C.x, or in 3.3.1 lu.C.128 for 128 processes, without arguments."""

    name = "npb"
    summary = "NAS Parallel Benchmarks: speed of LU, MG, CG, FT or IS"
    figure = "mops"
    citations = (works.BAILEY1994("the programs"),)
    Parameters = NpbBenchmarkParameters

    def supports(self, ranks: int, ranks_per_node: int) -> str | None:
        """Reject numbers of processes with which the program hangs or crashes."""
        parameters = self.parameters
        return ranks_problem(parameters.kernel, parameters.class_, parameters.version, ranks)

    def executables(self, ranks: int) -> tuple[str, ...]:
        """Return the program's name in this release."""
        parameters = self.parameters
        ending = "x" if parameters.version == "3.4" else str(ranks)
        return (f"{parameters.kernel}.{parameters.class_}.{ending}",)

    def command(self, task: BenchmarkTask) -> tuple[str, ...]:
        """Return the program without arguments."""
        return (str(task.executable),)

    def parse(self, output: RunOutput, task: BenchmarkTask | None) -> BenchmarkResult:
        """Parse the summary, which must be complete, consistent and successful."""
        summary, other_lines = read_summary(read_lines(output, ERRORS))
        summary.check_processes(task)
        if task is not None:
            parameters = self.parameters
            summary.check_request(parameters.kernel, parameters.class_, parameters.version)
        summary.check_verification()
        figures = (
            FigureOfMerit("mops", summary.mops, "Mop/s", "higher"),
            FigureOfMerit("mops_per_process", summary.mops_per_process, "Mop/s", "higher"),
            FigureOfMerit("time", summary.seconds, "s", "lower"),
        )
        return BenchmarkResult(
            figures, version=summary.version, facts=summary.facts(), foreign=tuple(other_lines)
        )

    def model(self, task: BenchmarkTask) -> WorkloadModel | None:
        """Return the workload of the same name; None for class E."""
        parameters = self.parameters
        if parameters.class_ not in MODEL_CLASSES:
            return None
        name = f"npb-{parameters.kernel}~class={parameters.class_},version={parameters.version}"
        return WorkloadModel(name, SIMULATED_ITERATIONS[parameters.kernel])

    def predicted(self, facts: Mapping[str, Any], task: BenchmarkTask) -> tuple[FigureOfMerit, ...]:
        """Return the speed and time of the part that the program times, if the facts have them."""
        mops, seconds = facts.get("mops"), facts.get("timed_s")
        figures = []
        if isinstance(mops, (int, float)):
            figures.append(FigureOfMerit("mops", mops, "Mop/s", "higher"))
            per_process = mops / task.ranks
            figures.append(FigureOfMerit("mops_per_process", per_process, "Mop/s", "higher"))
        if isinstance(seconds, (int, float)):
            figures.append(FigureOfMerit("time", seconds, "s", "lower"))
        return tuple(figures)
