"""osu-barrier: the barrier benchmark of the OSU Micro-Benchmarks."""

from __future__ import annotations

from collections.abc import Sequence

from routelab.api import BenchmarkTask, FigureOfMerit, Parameters, parameter
from routelab_plugins.benchmark_output import check_one
from routelab_plugins.message_table import check_iterations, check_row
from routelab_plugins.osu_benchmark import OsuBenchmark
from routelab_plugins.osu_output import OsuOutput


class OsuBarrierParameters(Parameters):
    """Repetitions and warm-up repetitions."""

    iterations: int = parameter(1000, ge=1, le=10**6, description="Timed calls")
    warm_up: int = parameter(10, ge=0, le=10**6, description="Warm-up calls before the timed ones")


class OsuBarrier(OsuBenchmark):
    """Runs osu_barrier with its full output (``-f``) and reads that or the plain one."""

    name = "osu-barrier"
    summary = "OSU Micro-Benchmarks: latency of MPI_Barrier"
    figure = "latency_avg"
    program = "osu_barrier"
    title = "Barrier Latency Test"
    Parameters = OsuBarrierParameters

    def supports(self, ranks: int, ranks_per_node: int) -> str | None:
        """Reject a single process."""
        return None if ranks > 1 else "needs two processes or more"

    def options(self, task: BenchmarkTask) -> tuple[str, ...]:
        """Return the options for the full output and for repetitions."""
        parameters = self.parameters
        return ("-f", "-i", str(parameters.iterations), "-x", str(parameters.warm_up))

    def figures(self, output: OsuOutput, task: BenchmarkTask | None) -> Sequence[FigureOfMerit]:
        """Return the figures of the only row."""
        check_one(len(output.table.rows), "row of numbers")
        (row,) = output.table.rows
        check_row(row)
        if task is not None:
            check_iterations(row, self.parameters.iterations)
        return row.figures
