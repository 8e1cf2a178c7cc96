"""Missing results of a study, by kind of result."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from routelab.report.page.commands import bound_command, row_command, throughput_command
from routelab.report.rows.benchmarks import BenchmarkRows
from routelab.report.rows.routes import RouteRecord, RouteRows
from routelab.report.rows.row_set import OK, RowSet
from routelab.report.rows.simulations import SimulationRows
from routelab.report.rows.study_rows import StudyRows
from routelab.results.missing_results import (
    JobStatus,
    MissingResult,
    collect_missing,
    status_text,
)
from routelab.results.outcome import Outcome

TABLE = "route table"
BOUND = "bound"
METRICS = "set of metrics", "sets of metrics"
WORK = ("work", "benchmark")
"""Attributes of records with the work of a job, except for route tables."""


def missing_results(study: str, study_rows: StudyRows) -> list[MissingResult]:
    """Return all results that a study lacks, the most serious first."""
    jobs = [
        JobStatus(study, noun, f"{noun}s", outcome.status, outcome.reason)
        for noun, outcomes in ((*_outcomes(study_rows), (BOUND, study_rows.bound_outcomes)))
        for outcome in outcomes
    ]
    routes = study_rows.routes
    if routes.incomplete:
        for run, outcome in enumerate(routes.outcomes):
            if outcome.status == OK:
                measured = routes.incomplete.get(run, outcome)
                jobs.append(JobStatus(study, *METRICS, measured.status, measured.reason))
    return collect_missing(jobs)


def _outcomes(study_rows: StudyRows) -> list[tuple[str, Sequence[Outcome]]]:
    """Return the outcomes of every kind of result except bounds, each with its noun."""
    kinds = [(noun, row_set.outcomes) for noun, row_set in study_rows.named_rows]
    return [(TABLE, study_rows.routes.outcomes), *kinds] if study_rows.routes.records else kinds


def proviso_text(row_set: RowSet, study_rows: StudyRows) -> str:
    """Return the words that a comparison of incomplete results begins with.

    Returns
    -------
    str
        ``"Among the 5 of 9 simulations that have a result, "``; the 9 include unsupported ones.
        Empty if every job of the kind that `row_set` shows has a result or is unsupported.
    """
    if isinstance(row_set, SimulationRows):
        noun = "simulation" if row_set.work == "traffic" else "flow simulation"
    elif isinstance(row_set, BenchmarkRows):
        noun = "measurement"
    else:
        noun = TABLE
    outcomes = dict(_outcomes(study_rows)).get(noun, ())
    ok = sum(outcome.status == OK for outcome in outcomes)
    if all(outcome.status in (OK, "unsupported") for outcome in outcomes):
        return ""
    have = "has" if ok == 1 else "have"
    return f"Among the {ok} of {len(outcomes)} {noun}s that {have} a result, "


def as_sentence(text: str) -> str:
    """Return `text` with a full stop, unless it already ends with a punctuation mark."""
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def loss_json(loss: MissingResult) -> dict[str, Any]:
    """Return a loss in the form of ``summary.json``."""
    return {
        "thing": loss.noun,
        "status": loss.status,
        "lost": loss.count,
        "total": loss.total,
        "text": as_sentence(loss.text),
        "sentence": as_sentence(loss.sentence),
    }


def missing_rows(study_rows: StudyRows) -> list[dict[str, str]]:
    """Return jobs and bounds without a result, each with its reason and command."""
    return [
        *_missing_results(study_rows),
        *_missing_metrics(study_rows.routes),
        *_missing_bounds(study_rows.routes),
        *_missing_throughput(study_rows.simulations),
    ]


def _missing_results(study_rows: StudyRows) -> list[dict[str, str]]:
    """Return jobs without a result, with the reason and the command that reproduces it."""
    return [
        {
            "routing": record.routing,
            "topology": record.topology,
            "work": next((getattr(record, kind) for kind in WORK if hasattr(record, kind)), ""),
            **_status_fields(outcome),
            "command": row_command(row_set, run),
        }
        for row_set in study_rows.of_jobs
        for run, (record, outcome) in enumerate(zip(row_set.records, row_set.outcomes, strict=True))
        if outcome.status != OK
    ]


def _missing_metrics(routes: RouteRows) -> list[dict[str, str]]:
    """Return runs some of whose metrics have no numbers."""
    return [
        {
            "routing": routes.records[run].routing,
            "topology": routes.records[run].topology,
            "work": "metrics",
            **_status_fields(outcome),
            "command": row_command(routes, run),
        }
        for run, outcome in routes.incomplete.items()
    ]


def _missing_bounds(routes: RouteRows) -> list[dict[str, str]]:
    """Return bounds without a result; the command prints the bounds of one of their tables."""
    owners: dict[Path, RouteRecord] = {}
    for record in routes.records:
        for folder in record.bounds:
            owners.setdefault(folder, record)
    return [
        {
            "routing": _bound_name(record, folder, outcome),
            "topology": record.topology,
            "work": "",
            **_status_fields(outcome),
            "command": bound_command(record),
        }
        for (folder, record), outcome in zip(owners.items(), routes.bound_outcomes, strict=True)
        if outcome.status != OK
    ]


def _missing_throughput(simulations: SimulationRows) -> list[dict[str, str]]:
    """Return bounds for any routing without a result."""
    owners = {
        record.throughput: record for record in simulations.records if record.throughput is not None
    }
    return [
        {
            "routing": "bound for any routing",
            "topology": record.topology,
            "work": record.work,
            **_status_fields(outcome),
            "command": throughput_command(record, outcome),
        }
        for record, outcome in zip(owners.values(), simulations.throughput_outcomes, strict=True)
        if outcome.status != OK
    ]


def _bound_name(record: RouteRecord, folder: Path, outcome: Outcome) -> str:
    if folder == record.any_length_bound:
        return "bound for routes of any length"
    of_rules = folder == record.rules_bound
    return f"bound of the rules {outcome.routing}" if of_rules else "bound of the network"


def _status_fields(outcome: Outcome) -> dict[str, str]:
    return {
        "status": outcome.status,
        "status_text": status_text(outcome.status, outcome.reason),
        "reason": outcome.reason,
    }
