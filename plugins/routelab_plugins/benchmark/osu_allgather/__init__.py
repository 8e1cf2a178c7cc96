"""osu-allgather: the allgather benchmark of the OSU Micro-Benchmarks."""

from __future__ import annotations

from routelab_plugins.osu_benchmark import OsuCollectiveBenchmark


class OsuAllgather(OsuCollectiveBenchmark):
    """Runs osu_allgather with its full output (``-f``) and reads that or the plain one."""

    name = "osu-allgather"
    summary = "OSU Micro-Benchmarks: latency of MPI_Allgather"
    program = "osu_allgather"
    title = "Allgather Latency Test"

    def buffers(self, ranks: int) -> int:
        """Return at least the size of both buffers: a message of every rank, and its own.

        ``2 * size * ranks`` is no less than ``size * ranks + size``.
        """
        return super().buffers(ranks) * ranks
