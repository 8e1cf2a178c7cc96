"""osu-bw: the bandwidth between two processes, by the OSU Micro-Benchmarks."""

from __future__ import annotations

from routelab_plugins.osu_benchmark import OsuBandwidthBenchmark


class OsuBw(OsuBandwidthBenchmark):
    """Runs osu_bw: one process sends, the other answers after each window of messages."""

    name = "osu-bw"
    summary = "OSU Micro-Benchmarks: bandwidth between two processes"
    program = "osu_bw"
    title = "Bandwidth Test"
