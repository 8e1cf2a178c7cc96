"""What a study would do, before anything runs; and what helps to write one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from routelab.config.manual import study_page
from routelab.config.schema import study_schema
from routelab.registry.catalogue import installed
from routelab.stages.batches import TRY_AGAIN, KeptJob, Kind
from routelab.stages.facts import BOUND_FIELDS, FIELDS
from routelab.stages.plan import Plan, StudyPlan, expand
from routelab.stages.shards import store

State = Literal["cached", "missing", "stale", "failed"]
STATES: tuple[State, ...] = ("cached", "missing", "stale", "failed")
"""What the results folder has of a job: its result; nothing; the result of other code, parameters
or files; an outcome that the next run tries to better. All but the first would run."""

Planned: TypeAlias = Kind | Literal["comparisons"]
"""Kinds of job: those that run in batches, and comparisons."""
PLANNED: tuple[Planned, ...] = (*get_args(Kind), "comparisons")


@dataclass(frozen=True)
class PlannedJob:
    """A job of a plan.

    Attributes
    ----------
    kind : {"topologies", "routes", "bounds", "simulations", "flows", "comparisons"}
    topology, routing : str
        Names as in the results folder; a network has no routing, a comparison has all of the
        study, whose name stands there, and of a bound it is the rules.
    state : {"cached", "missing", "stale", "failed"}
        See `STATES`.
    reason : str
        Why the last try failed.
    traffic, settings : str
        Of a simulation, with a workload's name in the place of traffic's if it is one of flows:
        names as in the results folder. A comparison has settings, too.
    """

    kind: Planned
    topology: str
    routing: str
    state: State
    reason: str = ""
    traffic: str = ""
    settings: str = ""


@dataclass(frozen=True)
class Preview:
    """What a run of some studies would do.

    Attributes
    ----------
    jobs : tuple of PlannedJob
        Networks, then routings of each network, then bounds, then simulations of packets and
        of flows, then comparisons.
    batches, batches_to_run : int
        With comparisons, which are no batches but steps of a run like these.
    """

    jobs: tuple[PlannedJob, ...]
    batches: int
    batches_to_run: int

    def totals(self, kind: Planned) -> dict[State, int]:
        """Number of jobs in each state."""
        counted = Counter(job.state for job in self.jobs if job.kind == kind)
        return {state: counted[state] for state in STATES}


def check(studies: Sequence[Path]) -> list[str]:
    """One line a study with what it stands for, if nothing is wrong with any of them.

    Raises
    ------
    ConfigError
        An `InputError` with everything that is wrong in any of the studies.
    """
    plan = expand(studies)
    return [f"{shown.study.path}: OK: {_told(shown)}" for shown in plan.studies.values()]


def _told(shown: StudyPlan) -> str:
    """What a study stands for."""
    pairs = shown.pairs
    product = [
        _count(len({t for t, _ in pairs}), "topology"),
        _count(len({r for _, r in pairs}), "routing"),
    ]
    told = [f"{' × '.join(product)} = {_count(len(shown.runs), 'run')}"]
    simulated = []
    for ids, work, thing in (
        (shown.simulations, "traffic", "simulation"),
        (shown.flows, "workload", "flow simulation"),
    ):
        if not ids:
            continue
        number = len({one[2] for one in ids})
        factors = [*product, f"{number} traffic" if work == "traffic" else _count(number, work)]
        settings = len({one[3] for one in ids})
        # a workload's settings may be its own
        if settings > 1 and number * settings * len(pairs) == len(ids):
            factors.append(f"{settings} settings")
        simulated.append(f"{' × '.join(factors)} = {_count(len(ids), thing)}")
    if shown.comparisons:
        measured = [
            _count(len({t for _, t, _ in shown.comparisons}), "topology"),
            _count(len({r for _, r in shown.runs}), "routing"),
            _count(len(shown.benchmarks), "benchmark"),
        ]
        settings = len({one for _, _, one in shown.comparisons})
        measured += [f"{settings} settings"] if settings > 1 else []
        told_of = _count(len(shown.comparisons), "comparison")
        simulated.append(f"{' × '.join(measured)} = {told_of}")
        if shown.predictions:
            simulated.append(_count(len(set(shown.predictions.values())), "prediction"))
    if simulated:
        told = [*simulated, _count(len(shown.runs), "table") + " to route"]
    told.append(_count(len(shown.study.tables), "table"))
    told.append(_count(len(shown.study.figures), "figure"))
    return ", ".join(told)


def preview(studies: Sequence[Path], results: Path) -> Preview:
    """What a run of `studies` would do; changes nothing.

    Raises
    ------
    ConfigError
        As `check`.
    """
    plan = expand(studies, results)
    runs = {run.folder: run for batch in plan.batches.values() for run in batch.runs}
    jobs = [_planned(plan, runs, "topologies", topology) for topology in plan.topologies]
    jobs += [_planned(plan, runs, "routes", *names) for names in plan.routes]
    jobs += [_planned(plan, runs, "bounds", *names) for names in plan.bounds]
    jobs += [_planned(plan, runs, "simulations", *names) for names in plan.simulations]
    jobs += [_planned(plan, runs, "flows", *names) for names in plan.flows]
    jobs += [
        PlannedJob("comparisons", topology, study, *_state(job.spec), settings=settings)
        for (study, topology, settings), job in plan.comparisons.items()
    ]
    statuses = store(results).statuses() if plan.surveys else {}
    jobs += [
        PlannedJob("routes", *names, _row_state(statuses.get(item.fingerprint)))
        for survey in plan.surveys.values()
        for names, item in survey.rows.items()
    ]
    to_run = [
        batch
        for batch in plan.batches.values()
        if not plan.manifest(batch).exists() or not all(run.is_done() for run in batch.runs)
    ]
    shards = [(survey, shard) for survey in plan.surveys.values() for shard in survey.shards]
    shards_to_run = [
        shard
        for survey, shard in shards
        if shard.missing(statuses) or not survey.table(results, shard).exists()
    ]
    to_measure = [
        job
        for job in plan.comparisons.values()
        if not plan.comparison_manifest(job).exists() or not job.spec.is_done()
    ]
    return Preview(
        tuple(jobs),
        len(plan.batches) + len(shards) + len(plan.comparisons),
        len(to_run) + len(shards_to_run) + len(to_measure),
    )


def schema_text(built_in: bool = False) -> str:
    """The JSON schema of study files, with all installed plugins or the built-in ones alone."""
    schema = study_schema(installed(), "routelab" if built_in else None)
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def page_text() -> str:
    """The reference page of study files, in Markdown."""
    return study_page([name for name in (*FIELDS, *BOUND_FIELDS) if name not in _NAMES])


_NAMES = ("topology", "routing", "status", "reason")


def _planned(plan: Plan, runs: Mapping[str, KeptJob], kind: Kind, *names: str) -> PlannedJob:
    state, reason = _state(runs["/".join([str(plan.results), kind, *names])])
    topology, routing, traffic, settings = (*names, "", "", "")[:4]
    return PlannedJob(kind, topology, routing, state, reason, traffic, settings)


def _state(run: KeptJob) -> tuple[State, str]:
    if run.is_done():
        return "cached", ""
    try:
        outcome = json.loads(run.outcome.read_bytes())
        status, reason = outcome["status"], str(outcome["reason"])
    except FileNotFoundError:
        return "missing", ""
    except (OSError, ValueError, KeyError, TypeError):
        return "stale", "its outcome cannot be read"
    return ("failed", reason) if status in TRY_AGAIN else ("stale", "")


def _row_state(status: str | None) -> State:
    """State of a survey's run; a row of other code is not found."""
    if status is None:
        return "missing"
    return "failed" if status in TRY_AGAIN else "cached"


def _count(number: int, thing: str) -> str:
    many = thing.removesuffix("y") + "ies" if thing.endswith("y") else f"{thing}s"
    return f"{number} {thing if number == 1 else many}"
