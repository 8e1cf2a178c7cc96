"""osu-bibw: the bandwidth in both directions, by the OSU Micro-Benchmarks."""

from __future__ import annotations

from routelab_plugins.osu_benchmark import OsuBandwidthBenchmark


class OsuBibw(OsuBandwidthBenchmark):
    """Runs osu_bibw: two processes send to each other at the same time."""

    name = "osu-bibw"
    summary = "OSU Micro-Benchmarks: bandwidth between two processes, in both directions together"
    program = "osu_bibw"
    title = "Bi-Directional Bandwidth Test"
