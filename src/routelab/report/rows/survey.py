"""Records of a survey's runs, read from its tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from routelab.report.rows.pending_jobs import PendingOutcome
from routelab.report.rows.routes import RouteRecord
from routelab.results.outcome import Outcome
from routelab.results.survey_table import NAMES, SurveyTable, read_survey_table

_TIMES = {"run_wall_seconds": "wall_seconds", "run_cpu_seconds": "cpu_seconds"}


def survey_records(records: Iterable[RouteRecord], tables: Iterable[Path]) -> list[RouteRecord]:
    """Return `records` with their results: the outcome and the metrics of their rows in the tables.

    Parameters
    ----------
    records : iterable of RouteRecord
        Without results. Records without a row in any table have not run yet.
    tables : iterable of path
        CSV files of shards, which are parts of the survey; that of one that has not run is missing.

    Raises
    ------
    InputError
        If a table is damaged.
    """
    results = {}
    for path in tables:
        if not path.exists():
            continue
        table = read_survey_table(path)
        for row in table.rows:
            results[row["topology"], row["routing"]] = _result_in_row(row, table)

    def find_result(record: RouteRecord) -> SurveyResult:
        names = record.topology_name, record.routing_name
        if names in results:
            return results[names]
        return PendingOutcome("route", *names, reason="the survey's tables have no row of it"), ()

    return [replace(record, survey_result=find_result(record)) for record in records]


SurveyResult = tuple[Outcome, tuple[tuple[str, float, str, str], ...]]
"""As `RouteRecord.survey_result`."""


def _result_in_row(row: Mapping[str, Any], table: SurveyTable) -> SurveyResult:
    """Return the outcome and the metrics, with unit and direction, of a survey's row.

    All columns that are not the names, times, origin or metrics of the run are its facts. The
    column ``origin`` is a key of `SurveyTable.origins`: rows of one origin share their provenance.
    """
    topology, routing, status, reason = (row[name] for name in NAMES)
    separate_columns = {*NAMES, *_TIMES, "origin", *table.metrics}
    facts = {
        key: value
        for key, value in row.items()
        if key not in separate_columns and value is not None
    }
    metrics = tuple(
        (name, row[name], meaning["unit"], meaning["better"])
        for name, meaning in table.metrics.items()
        if row.get(name) is not None
    )
    times = {name: row.get(key) for key, name in _TIMES.items()}
    provenance = {**table.origins.get(str(row.get("origin")), {}), **times}
    return Outcome("route", topology, routing, status, reason, facts, provenance), metrics
