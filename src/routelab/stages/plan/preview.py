"""Previews of studies before anything runs, and the schema and reference of study files."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from routelab.config import ConfigError
from routelab.config.schema import study_schema
from routelab.jobs.job import TRY_AGAIN, BaseJob
from routelab.registry.catalogue import installed_catalogue
from routelab.stages.kinds import kinds
from routelab.stages.kinds.comparisons import ComparisonJob
from routelab.stages.kinds.predictions import predictions
from routelab.stages.kinds.surveys import SurveyJob
from routelab.stages.plan.allocations import Allocation, allocations_of
from routelab.stages.plan.expansion import StudyPlan, expand_studies
from routelab.stages.plan.fit import misfits

State = Literal["cached", "missing", "stale", "failed"]
STATES: tuple[State, ...] = ("cached", "missing", "stale", "failed")
"""State of a job in the results folder: its result; nothing; the result of other code, parameters
or files; an outcome that the next run tries to improve. All but the first would run."""


@dataclass(frozen=True)
class PlannedJob:
    """A job of a plan.

    Attributes
    ----------
    kind : str
        See `routelab.stages.kinds`.
    topology, routing, traffic, settings : str
        See `routelab.jobs.job.BaseJob.labels`.
    state : {"cached", "missing", "stale", "failed"}
        See `STATES`.
    reason : str
        Why the last attempt failed.
    """

    kind: str
    topology: str
    routing: str
    state: State
    reason: str = ""
    traffic: str = ""
    settings: str = ""


@dataclass(frozen=True)
class Preview:
    """The jobs and batches that a run of some studies would do.

    Attributes
    ----------
    jobs : tuple of PlannedJob
        Kind by kind; one for each run of a survey.
    allocations : tuple of Allocation
        One for each comparison.
    batches, batches_to_run : int
    """

    jobs: tuple[PlannedJob, ...]
    allocations: tuple[Allocation, ...]
    batches: int
    batches_to_run: int

    def totals(self, kind: str) -> dict[State, int]:
        """Return the number of jobs in each state."""
        counted = Counter(job.state for job in self.jobs if job.kind == kind)
        return {state: counted[state] for state in STATES}


def check_studies(studies: Sequence[Path]) -> list[str]:
    """Return a summary line for each study, and notes on parts that will not apply.

    Raises
    ------
    ConfigError
        An `InputError` with all mistakes in all studies. A pattern or routing that supports none
        of the study's networks is a mistake.
    """
    plan = expand_studies(studies)
    lines, mistakes = [], []
    for shown in plan.studies.values():
        found = misfits(shown.parts)
        mistakes += [str(one) for one in found if one.never_fits]
        lines.append(f"{shown.study.path}: OK: {_study_text(shown)}")
        lines += [f"{one} (note)" for one in found if not one.never_fits]
    if mistakes:
        raise ConfigError(mistakes)
    return lines


def _study_text(shown: StudyPlan) -> str:
    """Return a summary of a study."""
    parts = shown.parts
    product = [
        _count(len({t for t, _ in parts.pairs}), "topology"),
        _count(len({r for _, r in parts.pairs}), "routing"),
    ]
    counts = [f"{' × '.join(product)} = {_count(len(parts.runs), 'run')}"]
    others = []
    for kind, work in (("simulations", "traffic"), ("flows", "workload")):
        predicted = {one.flow for one in predictions(parts)} if kind == "flows" else set()
        own = parts.traffic if kind == "simulations" else parts.workloads
        ids = [one for one in shown.ids(kind) if one[2] in own or one not in predicted]
        if not ids:
            continue
        number = len({one[2] for one in ids})
        factors = [*product, f"{number} traffic" if work == "traffic" else _count(number, work)]
        settings = len({one[3] for one in ids})
        # a workload may have separate settings
        if settings > 1 and number * settings * len(parts.pairs) == len(ids):
            factors.append(f"{settings} settings")
        noun, _ = kinds()[kind].nouns
        others.append(f"{' × '.join(factors)} = {_count(len(ids), noun)}")
    compared = shown.ids("comparisons")
    if compared:
        measured = [
            _count(len({t for _, t, _ in compared}), "topology"),
            _count(len({r for _, r in parts.runs}), "routing"),
            _count(len(parts.benchmarks), "benchmark"),
        ]
        settings = len({one for _, _, one in compared})
        measured += [f"{settings} settings"] if settings > 1 else []
        others.append(f"{' × '.join(measured)} = {_count(len(compared), 'comparison')}")
        expected = {one.flow for one in predictions(parts)}
        if expected:
            others.append(_count(len(expected), "prediction"))
    if others:
        counts = [*others, _count(len(parts.runs), "table") + " to route"]
    counts.append(_count(len(shown.study.tables), "table"))
    counts.append(_count(len(shown.study.figures), "figure"))
    return ", ".join(counts)


def preview(studies: Sequence[Path], results: Path) -> Preview:
    """Return what a run of `studies` would do, without changing anything.

    Raises
    ------
    ConfigError
        As `check_studies`.
    """
    plan = expand_studies(studies, results)
    jobs = [one for job in plan.jobs.values() for one in _planned_jobs(job)]
    to_run = [
        batch
        for batch in plan.batches.values()
        if not plan.manifest(batch).exists() or not all(job.is_done() for job in batch.jobs)
    ]
    compared = [
        job for job in plan.of(ComparisonJob.kind).values() if isinstance(job, ComparisonJob)
    ]
    states = [one.state for job in compared for one in _planned_jobs(job)]
    allocations = allocations_of(compared, states)
    return Preview(tuple(jobs), tuple(allocations), len(plan.batches), len(to_run))


def study_schema_text(built_in: bool = False) -> str:
    """Return the JSON schema of study files, with all plugins or only the built-in ones."""
    schema = study_schema(installed_catalogue(), "routelab" if built_in else None)
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _planned_jobs(job: BaseJob) -> list[PlannedJob]:
    if isinstance(job, SurveyJob):
        return [
            PlannedJob("routes", one.topology, one.routing, _state(True, status), reason)
            for one, (status, reason) in zip(job.runs, job.endings(), strict=True)
        ]
    ((status, reason),) = job.endings()
    state = _state(job.has_outcome() or status in TRY_AGAIN, status)
    why = reason if state == "failed" else ""
    return [PlannedJob(kind=job.kind, state=state, reason=why, **job.labels)]


def _state(current: bool, status: str) -> State:
    """Return the state of a job by its outcome, which may be of other code."""
    if not status:
        return "missing"
    if not current:
        return "stale"
    return "failed" if status in TRY_AGAIN else "cached"


def _count(number: int, noun: str) -> str:
    many = noun.removesuffix("y") + "ies" if noun.endswith("y") else f"{noun}s"
    return f"{number} {noun if number == 1 else many}"
