"""The allocations that comparisons ask a cluster for, and the node-hours that they take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from routelab.api import InputError
from routelab.artifacts.tables import read_tuples
from routelab.bench.comparison import RUN_COLUMNS, RUNS
from routelab.stages.kinds.comparisons import ComparisonJob


@dataclass(frozen=True)
class Allocation:
    """What a comparison asks of a cluster.

    Attributes
    ----------
    study, topology, settings : str
        The comparison.
    cluster : str
        Path of the cluster's file.
    state : str
        Of the comparison, see `routelab.stages.plan.preview.STATES`; empty: unknown.
    nodes : int
    runs : int
        With those of warm-up rounds.
    minutes : int
        Time to request.
    node_hours : float
        Nodes times that time: what it takes at most.
    expected_node_hours : float or None
        By the median wall times of each benchmark's runs that the study has measured; without the
        time to switch the fabric. None: a benchmark has no run yet.
    """

    study: str
    topology: str
    settings: str
    cluster: str
    state: str
    nodes: int
    runs: int
    minutes: int
    node_hours: float
    expected_node_hours: float | None


def allocations_of(jobs: Sequence[ComparisonJob], states: Sequence[str] = ()) -> list[Allocation]:
    """Return the allocations of comparisons.

    Parameters
    ----------
    jobs : sequence of ComparisonJob
        Of one or several studies. Their measured runs give the expected times of the others.
    states : sequence of str, optional
        One for each job.
    """
    seconds = {study: _measured_seconds(jobs, study) for study in {job.ids[0] for job in jobs}}
    return [
        _allocation(job, state, seconds[job.ids[0]])
        for job, state in zip(jobs, states or [""] * len(jobs), strict=True)
    ]


def expected_node_hours(allocations: Sequence[Allocation]) -> float | None:
    """Return the expected node-hours of all allocations; None if those of one are unknown."""
    hours = [one.expected_node_hours for one in allocations]
    known = [one for one in hours if one is not None]
    return sum(known) if len(known) == len(hours) else None


def _allocation(job: ComparisonJob, state: str, seconds: Mapping[str, float]) -> Allocation:
    """Return the allocation of a comparison; `seconds` of a run by the benchmark's id."""
    study, topology, settings = job.ids
    comparison = job.comparison
    expected = None
    if all(one.id in seconds for one in comparison.benchmarks):
        turn = sum(seconds[one.id] for one in comparison.benchmarks)
        turns = comparison.runs // len(comparison.benchmarks)
        expected = job.nodes * turns * turn / 3600
    return Allocation(
        study,
        topology,
        settings,
        comparison.settings.cluster,
        state,
        job.nodes,
        comparison.runs,
        job.minutes,
        job.node_hours,
        expected,
    )


def _measured_seconds(jobs: Sequence[ComparisonJob], study: str) -> dict[str, float]:
    """Return the median wall time of the good runs of each benchmark that a study has measured."""
    known: dict[str, list[float]] = {}
    for job in jobs:
        if job.ids[0] == study and job.has_outcome():
            with suppress(InputError):  # a damaged table is reported by the report
                for row in read_tuples(Path(job.folder) / RUNS, RUN_COLUMNS, {"seconds"}):
                    run = dict(zip(RUN_COLUMNS, row, strict=True))
                    if run["status"] == "ok":
                        known.setdefault(run["benchmark"], []).append(run["seconds"])
    return {benchmark: median(values) for benchmark, values in known.items()}
