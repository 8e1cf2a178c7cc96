"""osu-latency: the latency between two processes, by the OSU Micro-Benchmarks."""

from __future__ import annotations

from routelab_plugins.osu_benchmark import OsuPairBenchmark


class OsuLatency(OsuPairBenchmark):
    """Runs osu_latency, which sends messages there and back and prints half of the time."""

    name = "osu-latency"
    summary = "OSU Micro-Benchmarks: latency between two processes"
    figure = "latency_avg"
    program = "osu_latency"
    title = "Latency Test"
