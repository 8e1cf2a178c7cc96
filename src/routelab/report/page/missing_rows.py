"""Missing results of a study, by kind of result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from routelab.report.page.commands import bound_command, row_command, throughput_command
from routelab.report.rows.benchmarks import BenchmarkRows
from routelab.report.rows.routes import RouteRecord
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
METRICS, METRICS_PLURAL = "set of metrics", "sets of metrics"
WORK_ATTRIBUTES = ("work", "benchmark")
"""Attributes of records with the work of a job, except for route tables."""


def missing_results(study: str, study_rows: StudyRows) -> list[MissingResult]:
    """Return all results that a study lacks, the most serious first."""
    kinds = [*_outcomes_by_noun(study_rows), (BOUND, study_rows.bound_outcomes)]
    jobs = [
        JobStatus(study, noun, f"{noun}s", outcome.status, outcome.reason)
        for noun, outcomes in kinds
        for outcome in outcomes
    ]
    # Each table has a set of metrics. The sets are counted only if one lacks a number: a table is
    # ok even if some of its metrics have none.
    routes = study_rows.routes
    if routes.incomplete:
        for run, outcome in enumerate(routes.outcomes):
            if outcome.status == OK:
                measured = routes.incomplete.get(run, outcome)
                jobs.append(
                    JobStatus(study, METRICS, METRICS_PLURAL, measured.status, measured.reason)
                )
    return collect_missing(jobs)


def _outcomes_by_noun(study_rows: StudyRows) -> list[tuple[str, Sequence[Outcome]]]:
    """Return the outcomes of every kind of result except bounds, each with its noun."""
    kinds = [(noun, row_set.outcomes) for noun, row_set in study_rows.named_rows]
    return [(TABLE, study_rows.routes.outcomes), *kinds] if study_rows.routes.records else kinds


def proviso_text(row_set: RowSet, study_rows: StudyRows) -> str:
    """Return the words with which a comparison begins if results that it could use are missing.

    Returns
    -------
    str
        ``"Among the 5 of 9 simulations that have a result, "``; the 9 include unsupported ones.
        Empty if every job of the kind that `row_set` shows has a result or is unsupported.
    """
    # the noun of `_outcomes_by_noun` for the rows that are compared
    if isinstance(row_set, SimulationRows):
        noun = "simulation" if row_set.work == "traffic" else "flow simulation"
    elif isinstance(row_set, BenchmarkRows):
        noun = "measurement"
    else:
        noun = TABLE
    outcomes = dict(_outcomes_by_noun(study_rows)).get(noun, ())
    ok = sum(outcome.status == OK for outcome in outcomes)
    if all(outcome.status in (OK, "unsupported") for outcome in outcomes):
        return ""
    have = "has" if ok == 1 else "have"
    return f"Among the {ok} of {len(outcomes)} {noun}s that {have} a result, "


def as_sentence(text: str) -> str:
    """Return `text` with a full stop, unless it already ends with a punctuation mark."""
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def missing_json(result: MissingResult) -> dict[str, Any]:
    """Return missing results in the form of ``summary.json``."""
    return {
        "thing": result.noun,
        "status": result.status,
        "lost": result.count,
        "total": result.total,
        "text": as_sentence(result.text),
        "sentence": as_sentence(result.sentence),
    }


def missing_rows(study_rows: StudyRows) -> list[dict[str, str]]:
    """Return jobs and bounds without a result, each with its reason and command."""
    return [*_missing_jobs(study_rows), *_missing_bounds(study_rows)]


def _missing_jobs(study_rows: StudyRows) -> Iterator[dict[str, str]]:
    """Iterate over jobs without a result, and then over tables some of whose metrics have none."""
    for row_set in study_rows.job_row_sets:
        for run, outcome in enumerate(row_set.outcomes):
            if outcome.status != OK:
                record = row_set.records[run]
                works = [getattr(record, name, "") for name in WORK_ATTRIBUTES]
                yield _row(
                    routing=record.routing,
                    topology=record.topology,
                    work="".join(works),  # a record has one of them at most
                    outcome=outcome,
                    command=row_command(row_set, run),
                )
    routes = study_rows.routes
    for run, outcome in routes.incomplete.items():
        record = routes.records[run]
        yield _row(
            routing=record.routing,
            topology=record.topology,
            work="metrics",
            outcome=outcome,
            command=row_command(routes, run),
        )


def _missing_bounds(study_rows: StudyRows) -> Iterator[dict[str, str]]:
    """Iterate over bounds without a result: those of tables, and those for any routing.

    Several tables, or simulations, share a bound. The command names one of them.
    """
    # 1. Bounds of tables: each folder of a bound once, in the order of the outcomes.
    routes, simulations = study_rows.routes, study_rows.simulations
    first_records: dict[Path, RouteRecord] = {}
    for record in routes.records:
        for folder in record.bounds:
            first_records.setdefault(folder, record)
    for (folder, record), outcome in zip(first_records.items(), routes.bound_outcomes, strict=True):
        if outcome.status != OK:
            name = "bound of the network"
            if folder == record.any_length_bound:
                name = "bound for routes of any length"
            elif folder == record.rules_bound:
                name = f"bound of the rules {outcome.routing}"
            yield _row(
                routing=name,
                topology=record.topology,
                work="",
                outcome=outcome,
                command=bound_command(record),
            )

    # 2. Throughput bounds for any routing, likewise.
    simulations_by_folder = {
        record.throughput: record for record in simulations.records if record.throughput
    }
    for simulation, outcome in zip(
        simulations_by_folder.values(), simulations.throughput_outcomes, strict=True
    ):
        if outcome.status != OK:
            yield _row(
                routing="bound for any routing",
                topology=simulation.topology,
                work=simulation.work,
                outcome=outcome,
                command=throughput_command(simulation, outcome),
            )


def _row(routing: str, topology: str, work: str, outcome: Outcome, command: str) -> dict[str, str]:
    """Return a line of the page's table of missing results.

    `routing` is the name of a bound instead, if that is missing; `work` is a traffic pattern, a
    workload, a benchmark, ``metrics`` or empty.
    """
    return {
        "routing": routing,
        "topology": topology,
        "work": work,
        "status": outcome.status,
        "status_text": status_text(outcome.status, outcome.reason),
        "reason": outcome.reason,
        "command": command,
    }
