"""mpi-patterns: communication patterns as in Figure 6 of the Angara paper, with a new program.

The program (`program.py`) is copied into the run's folder. It runs in a Python with mpi4py and
NumPy, by default that of routelab. Its patterns are those of the workloads transpose,
neighbor, tornado and osu-alltoall, by rank. Each rank's time is the mean of its rounds. Ranks that
are silent or finish early count in the average, so the largest time is the duration of the pattern.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from routelab.api import (
    BenchmarkError,
    BenchmarkResult,
    BenchmarkTask,
    RunOutput,
    WorkloadModel,
    parameter,
)
from routelab.api.parameters import bytes_text
from routelab.toolkit.programs import NotStartedError, run_program
from routelab_plugins import works
from routelab_plugins.benchmark.mpi_patterns.program import target
from routelab_plugins.benchmark_output import (
    WHOLE,
    check_one,
    check_processes,
    read_lines,
)
from routelab_plugins.message_table import LatencyBenchmark, MessageParameters, checked_figures
from routelab_plugins.osu_table import read_table
from routelab_plugins.quotes import quote_line

PROGRAM = "mpi_patterns.py"
"""File name of the program in the run's folder."""

HEADER = re.compile(
    rf"# routelab MPI Pattern (?P<pattern>[a-z]+) Latency Test "
    rf"v(?P<version>{WHOLE}(?:\.{WHOLE})*), (?P<processes>{WHOLE}) processes"
)
FAILURE = re.compile(r"# Verification FAILED: .*")
SUCCESS = "# Verification SUCCESSFUL"


class MpiPatternsParameters(MessageParameters):
    """Pattern, message sizes and repetitions."""

    pattern: Literal["transpose", "neighbor", "tornado", "alltoall"] = parameter(
        "alltoall", description="Target of each rank"
    )
    warm_up: int = parameter(10, ge=0, le=10**6, description="Warm-up rounds of each size")


class MpiPatterns(LatencyBenchmark):
    """Runs the program, which verifies what is received and prints in OSU's form."""

    name = "mpi-patterns"
    summary = "Communication patterns by rank: latency of transpose, neighbor, tornado or alltoall"
    # The largest time over all ranks is the duration of the pattern, which a simulation predicts.
    figure = "latency_max"
    predicts = "latency_max"
    citations = (works.DALLY2004("the patterns (table 3.1)"),)
    Parameters = MpiPatternsParameters

    def supports(self, ranks: int, ranks_per_node: int) -> str | None:
        """Also reject a number of processes with which no rank sends anything."""
        pattern = self.parameters.pattern
        reason = super().supports(ranks, ranks_per_node)
        if reason or pattern == "alltoall":
            return reason
        # e.g. tornado on two ranks (r + 1 - 1), transpose on a prime number of ranks
        if all(target(pattern, rank, ranks) == rank for rank in range(ranks)):
            return f"{pattern} on {ranks} processes: every rank would send to itself"
        return None

    def executables(self, ranks: int) -> tuple[str, ...]:
        """Return the Python that runs routelab, then python3, as defaults of the program."""
        return (sys.executable, "python3")

    def lacks(self, executable: Path) -> str:
        """Return why the ranks' Python cannot run the program; "" if it has mpi4py and NumPy."""
        try:
            answer = run_program([str(executable), "-c", "import mpi4py, numpy"], seconds=60)
        except NotStartedError as error:
            problem = str(error)
        else:
            if answer.succeeded:
                return ""
            ending = "it takes more than 60 s" if answer.timed_out else "it ends with an error"
            # The last line of a traceback is the error. Without any line, say how it ended.
            stderr_lines = answer.stderr.strip().splitlines()
            problem = stderr_lines[-1] if stderr_lines else ending
        return (
            f"{problem}; install routelab[cluster] there, or name a Python that has mpi4py and "
            "NumPy"
        )

    def command(self, task: BenchmarkTask) -> tuple[str, ...]:
        """Return Python, the program in the run's folder, and its options."""
        parameters = self.parameters
        sizes = ("-m", f"{parameters.sizes[0]}:{parameters.sizes[-1]}")
        counts = ("-i", str(parameters.iterations), "-x", str(parameters.warm_up))
        return (str(task.executable), PROGRAM, parameters.pattern, *sizes, *counts)

    def files(self, task: BenchmarkTask) -> Mapping[str, str]:
        """Return the program, because all hosts have the run's folder but maybe not routelab."""
        return {PROGRAM: Path(__file__).with_name("program.py").read_text(encoding="utf-8")}

    def parse(self, output: RunOutput, task: BenchmarkTask | None) -> BenchmarkResult:
        """Parse a header, rows, and the line that confirms the contents."""
        # 1. A failed verification ends with an exit code, and `read_lines` would report only that.
        failure = next(filter(FAILURE.fullmatch, output.stdout.split("\n")), None)
        if failure is not None:
            raise BenchmarkError(
                "verification-failed", f"the program printed: {quote_line(failure)}"
            )
        # 2. The header: the pattern that ran.
        lines = read_lines(output)
        headers = [
            (number, match)
            for number, line in enumerate(lines)
            if (match := HEADER.fullmatch(line))
        ]
        check_one(len(headers), "mpi-patterns' header")
        header_number, header = headers[0]
        pattern, num_processes = header["pattern"], int(header["processes"])
        check_processes(num_processes, task)
        if task is not None and pattern != self.parameters.pattern:
            raise BenchmarkError(
                "wrong-benchmark", f"{pattern} ran, {self.parameters.pattern} was requested"
            )
        # 3. The rows, between the header and the line SUCCESS. If that line is missing, read them
        #    nevertheless: an error in a row says more than the missing end.
        is_complete = lines.count(SUCCESS) == 1
        end = lines.index(SUCCESS) if is_complete else len(lines)
        table = read_table(
            lines[header_number + 1 : end], above=lines[:header_number], below=lines[end + 1 :]
        )
        if not is_complete:
            raise BenchmarkError(
                "incomplete", "the output ends before the result of the verification"
            )
        return BenchmarkResult(
            checked_figures(table.rows, self.parameters, task),
            version=header["version"],
            facts={"pattern": pattern, "processes": num_processes},
            foreign=tuple(table.other_lines),
        )

    def model(self, task: BenchmarkTask) -> WorkloadModel:
        """Return the workload of the same name, with one round of the largest message."""
        parameters = self.parameters
        workload = "osu-alltoall" if parameters.pattern == "alltoall" else parameters.pattern
        return WorkloadModel(f"{workload}~size={bytes_text(parameters.sizes[-1])}")
