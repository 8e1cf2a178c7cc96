"""osu-allreduce: the allreduce benchmark of the OSU Micro-Benchmarks."""

from __future__ import annotations

from routelab_plugins.osu_benchmark import OsuCollectiveBenchmark


class OsuAllreduce(OsuCollectiveBenchmark):
    """Runs osu_allreduce with its full output (``-f``) and reads that or the plain one."""

    name = "osu-allreduce"
    summary = "OSU Micro-Benchmarks: latency of MPI_Allreduce"
    program = "osu_allreduce"
    title = "Allreduce Latency Test"
