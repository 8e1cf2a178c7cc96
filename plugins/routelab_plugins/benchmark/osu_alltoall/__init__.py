"""osu-alltoall: the alltoall benchmark of the OSU Micro-Benchmarks."""

from __future__ import annotations

from routelab.api import BenchmarkTask, WorkloadModel
from routelab.api.parameters import bytes_text
from routelab_plugins.message_table import LatencyBenchmark
from routelab_plugins.osu_benchmark import OsuCollectiveBenchmark


class OsuAlltoallBenchmark(OsuCollectiveBenchmark, LatencyBenchmark):
    """Runs osu_alltoall with its full output (``-f``) and reads that or the plain one."""

    name = "osu-alltoall"
    summary = "OSU Micro-Benchmarks: latency of MPI_Alltoall"
    program = "osu_alltoall"
    title = "All-to-All Personalized Exchange Latency Test"

    def buffers(self, ranks: int) -> int:
        """Return the size of both buffers: a message for every rank, and one of every rank."""
        return super().buffers(ranks) * ranks

    def model(self, task: BenchmarkTask) -> WorkloadModel:
        """Return a model of one call with the largest message."""
        return WorkloadModel(f"osu-alltoall~size={bytes_text(self.parameters.sizes[-1])}")
