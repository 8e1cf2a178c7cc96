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
        """Return an upper bound of the size of both buffers.

        They hold a message of every rank, and the rank's own: ``size * ranks + size``, which is at
        most ``2 * size * ranks``.
        """
        return super().buffers(ranks) * ranks
