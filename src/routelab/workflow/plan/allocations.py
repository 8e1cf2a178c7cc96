"""The node-hours that comparisons are expected to take, by the runs that were measured."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from statistics import median

from routelab.api import InputError
from routelab.cluster.bench.comparison import RUN_COLUMNS, RUNS
from routelab.results.tables import read_tuples
from routelab.workflow.stages.comparisons import ComparisonJob


def expected_node_hours(jobs: Sequence[ComparisonJob]) -> float | None:
    """Return the node-hours of the comparisons of a study; None if a benchmark has no run yet.

    A run takes the median wall time of the good runs of its benchmark in the study. The time to
    switch the fabric is left out.
    """
    seconds = _measured_seconds(jobs)
    hours = 0.0
    for job in jobs:
        benchmarks = [part.id for part in job.comparison.benchmarks]
        if not seconds.keys() >= set(benchmarks):
            return None
        turns = job.comparison.runs // len(benchmarks)
        hours += job.nodes * turns * sum(seconds[benchmark] for benchmark in benchmarks) / 3600
    return hours


def _measured_seconds(jobs: Sequence[ComparisonJob]) -> dict[str, float]:
    """Return the median wall time of the good runs of each benchmark."""
    seconds: dict[str, list[float]] = {}
    for job in jobs:
        if job.has_outcome():
            with suppress(InputError):  # a damaged table is reported by the report
                for row in read_tuples(Path(job.folder) / RUNS, RUN_COLUMNS, {"seconds"}):
                    run = dict(zip(RUN_COLUMNS, row, strict=True))
                    if run["status"] == "ok":
                        seconds.setdefault(run["benchmark"], []).append(run["seconds"])
    return {benchmark: median(values) for benchmark, values in seconds.items()}
