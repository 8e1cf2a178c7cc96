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

    A run is expected to take the median wall time of its benchmark's runs that are ok, in all of
    `jobs`. The time to switch the fabric is left out.
    """
    seconds_per_run = _measured_seconds(jobs)
    node_hours = 0.0
    for job in jobs:
        benchmarks = [part.id for part in job.comparison.benchmarks]
        if not seconds_per_run.keys() >= set(benchmarks):
            return None
        runs_per_benchmark = job.comparison.runs // len(benchmarks)  # all have the same number
        seconds = sum(seconds_per_run[id_] for id_ in benchmarks)
        node_hours += job.nodes * runs_per_benchmark * seconds / 3600
    return node_hours


def _measured_seconds(jobs: Sequence[ComparisonJob]) -> dict[str, float]:
    """Return the median wall time of the runs that are ok, by the id of their benchmark."""
    seconds: dict[str, list[float]] = {}
    for job in jobs:
        if job.has_outcome():
            with suppress(InputError):  # a damaged table is reported by the report
                for row in read_tuples(Path(job.folder) / RUNS, RUN_COLUMNS, {"seconds"}):
                    run = dict(zip(RUN_COLUMNS, row, strict=True))
                    if run["status"] == "ok":
                        seconds.setdefault(run["benchmark"], []).append(run["seconds"])
    return {benchmark: median(values) for benchmark, values in seconds.items()}
