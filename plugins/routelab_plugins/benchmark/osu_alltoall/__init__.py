"""osu-alltoall: the alltoall benchmark of the OSU Micro-Benchmarks, versions 5 to 7.

The program does not print the number of processes. It refuses to run on one process, and if
processes are not connected, each of several groups prints a header; both errors are reported as a
wrong number of processes. A single group that is too small is not visible in the output.
"""

from __future__ import annotations

import re

from routelab.api import (
    BenchmarkError,
    BenchmarkResult,
    BenchmarkTask,
    Citation,
    RunOutput,
    WorkloadModel,
    parameter,
)
from routelab.api.parameters import bytes_text
from routelab_plugins.benchmark_output import check_one, quote_line, read_lines
from routelab_plugins.latency_table import LatencyBenchmark, LatencyParameters, figures
from routelab_plugins.osu_form import read_table

MEMORY = 512 << 20
"""The program's default limit of memory per process, in bytes."""

HEADER = re.compile(
    r"# OSU MPI(?:-\w+)? All-to-All Personalized Exchange Latency Test v([0-9]+(?:\.[0-9]+)*) *"
)
ANY_HEADER = re.compile(r"# OSU (?:MPI|UPC|Open|NCCL)")
DATATYPE = re.compile(r"# Datatype: MPI_\w+\. *")
ALONE = re.compile(r"This test requires at least two processes", re.IGNORECASE)


class OsuAlltoallBenchmarkParameters(LatencyParameters):
    """Message sizes, repetitions and warm-up repetitions."""

    warm_up: int = parameter(
        10, ge=0, le=10**6, description="Calls of each size before those that are timed"
    )


class OsuAlltoallBenchmark(LatencyBenchmark):
    """Runs osu_alltoall with its full output (``-f``) and reads that or the plain one."""

    name = "osu-alltoall"
    summary = "OSU Micro-Benchmarks: latency of MPI_Alltoall"
    figure = "latency_avg"
    citations = (Citation("osu", "the program"),)
    Parameters = OsuAlltoallBenchmarkParameters

    def executables(self, ranks: int) -> tuple[str, ...]:
        """Return one name for all versions."""
        return ("osu_alltoall",)

    def command(self, task: BenchmarkTask) -> tuple[str, ...]:
        """Return the command with the sizes, and a memory limit if the default is too small."""
        parameters = self.parameters
        sizes = f"{parameters.sizes[0]}:{parameters.sizes[-1]}"
        counts = ("-i", str(parameters.iterations), "-x", str(parameters.warm_up))
        both_buffers = 2 * parameters.sizes[-1] * task.ranks
        memory = ("-M", str(both_buffers)) if both_buffers > MEMORY else ()
        return (str(task.executable), "-f", "-m", sizes, *counts, *memory)

    def parse(self, output: RunOutput, task: BenchmarkTask | None) -> BenchmarkResult:
        """Parse header, datatype (of version 7), names of columns, and rows; reject other lines."""
        if ALONE.search(output.stderr) or ALONE.search(output.stdout):
            raise BenchmarkError(
                "wrong-processes",
                "it ran on one process: do launcher and program use the same MPI?",
            )
        lines = read_lines(output)
        while lines and not lines[0].strip():
            del lines[0]
        check_one(sum(bool(ANY_HEADER.match(line)) for line in lines), "OSU's header")
        header = HEADER.fullmatch(lines[0])
        if header is None:
            raise BenchmarkError(
                "wrong-benchmark" if ANY_HEADER.match(lines[0]) else "unreadable",
                f"expected osu_alltoall's header, found {quote_line(lines[0])}",
            )
        typed = len(lines) > 1 and DATATYPE.fullmatch(lines[1])
        rows = read_table(lines[2 if typed else 1 :])
        return BenchmarkResult(figures(rows, self.parameters, task), version=header[1])

    def model(self, task: BenchmarkTask) -> WorkloadModel:
        """Return a model of one call with the largest message."""
        return WorkloadModel(f"osu-alltoall~size={bytes_text(self.parameters.sizes[-1])}")
