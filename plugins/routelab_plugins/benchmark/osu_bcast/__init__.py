"""osu-bcast: the broadcast benchmark of the OSU Micro-Benchmarks."""

from __future__ import annotations

from routelab_plugins.osu_benchmark import OsuCollectiveBenchmark


class OsuBcast(OsuCollectiveBenchmark):
    """Runs osu_bcast with its full output (``-f``) and reads that or the plain one."""

    name = "osu-bcast"
    summary = "OSU Micro-Benchmarks: latency of MPI_Bcast"
    program = "osu_bcast"
    title = "Broadcast Latency Test"
