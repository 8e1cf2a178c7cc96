"""osu-mbw-mr: bandwidth and message rate of pairs, by the OSU Micro-Benchmarks."""

from __future__ import annotations

from collections.abc import Sequence

from routelab.api import BenchmarkError, BenchmarkTask, FigureOfMerit
from routelab_plugins.benchmark_output import check_processes
from routelab_plugins.osu_benchmark import OsuMessageBenchmark, WindowParameters, window_options
from routelab_plugins.osu_output import OsuOutput


class OsuMbwMr(OsuMessageBenchmark):
    """Runs osu_mbw_mr: the first half of the processes sends to the second half."""

    name = "osu-mbw-mr"
    summary = "OSU Micro-Benchmarks: bandwidth and message rate of pairs of processes"
    figure = "bandwidth"
    program = "osu_mbw_mr"
    title = "Multiple Bandwidth / Message Rate Test"
    Parameters = WindowParameters

    def supports(self, ranks: int, ranks_per_node: int) -> str | None:
        """Reject an odd number of processes, and messages that are too large."""
        reason = super().supports(ranks, ranks_per_node)
        return reason or (f"needs pairs of processes, not {ranks}" if ranks % 2 else None)

    def options(self, task: BenchmarkTask) -> tuple[str, ...]:
        """Also choose the number of messages in flight, unless it is the default."""
        return (*super().options(task), *window_options(self.parameters.window))

    def figures(self, output: OsuOutput, task: BenchmarkTask | None) -> Sequence[FigureOfMerit]:
        """Return the figures of all rows; check the numbers of pairs and of messages in flight."""
        if output.pairs is None:
            raise BenchmarkError("incomplete", "there is no line with the number of pairs")
        check_processes(2 * output.pairs, task)  # each pair is two processes
        if task is not None and output.window != self.parameters.window:
            raise BenchmarkError(
                "wrong-benchmark",
                f"{output.window} messages in flight, {self.parameters.window} were requested",
            )
        return super().figures(output, task)
