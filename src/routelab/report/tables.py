"""Tables that a study declares: rows, values, pooled parameters and published numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

import pandas as pd

from routelab.api import InputError
from routelab.report.pivot import pivot_table
from routelab.report.rows.derivation import middle_of
from routelab.report.rows.row_set import OK, RowSet, key_text, sort_texts
from routelab.report.rows.statistics import NETWORK_NAMES, SYSTEMS, statistics_of
from routelab.report.table import ReportColumn, ReportTable
from routelab.results.missing_results import cause_text
from routelab.study import Beside, Reference
from routelab.study import Table as TableSpec
from routelab.study.views import Pivot

MOST_CAUSES = 5
"""Largest number of reasons in a note below a table."""


def build_table(
    name: str, spec: TableSpec, row_set: RowSet, reference: Reference | None, place: str
) -> ReportTable:
    """Build a table of a study.

    Parameters
    ----------
    name : str
        Key of the table in the study.
    spec : TableSpec
    row_set : RowSet
        The rows that ``spec.of`` names.
    reference : Reference or None
        Published numbers that `spec` may place next to ours.
    place : str
        Prefix of messages: where the table is declared.

    Raises
    ------
    InputError
        If a column does not exist or rows do not distinguish runs; if the reference has two rows
        for the same keys, or a value of a pivot's row differs within the row.
    """
    if spec.pivot is not None:
        return _build_pivot(name, spec, spec.pivot, row_set, reference, place)
    # 1. The rows.
    jobs = select_rows(spec, row_set, place)
    if spec.statistics:
        # a run that is compared with several others occurs several times
        jobs = jobs.reset_index()
    elif not jobs.index.is_unique:
        raise InputError(
            f"{place}relative: several runs to compare with; name one routing in 'relative.to', or "
            "show 'statistics'"
        )
    groups = _group_runs(row_set, jobs, spec.rows, place)
    if spec.statistics:
        rows = _statistic_rows(spec, row_set, jobs, groups, place)
    elif spec.count:
        rows = []
        ok_jobs = jobs[jobs["status"] == OK]
        names = [*spec.rows, *spec.values]
        for group in _group_runs(row_set, ok_jobs, names, place).values():
            row = {column: row_set.column(ok_jobs, column, place)[group[0]] for column in names}
            rows.append(row | {"runs": len(group)})
    else:
        rows = _pooled_rows(spec, row_set, jobs, groups, place)
    # 2. The columns: what identifies a row, values and published numbers, ranges, counts.
    values = spec.values or [
        f"{column}_{name}" for column, names in spec.statistics.items() for name in names
    ]
    columns = [ReportColumn(column, "row") for column in spec.rows]
    value_columns = [ReportColumn(column, "value") for column in values]
    if spec.beside is not None:
        rows, reference_columns = _join_reference(rows, spec.beside, reference, values, place)
        # columns with a published number come first
        with_reference = {column.of for column in reference_columns}
        value_columns.sort(key=lambda column: column.name not in with_reference)
        value_columns[len(with_reference - {""}) : len(with_reference - {""})] = reference_columns
    columns += value_columns
    if "range" in spec.over.values() and not spec.count:
        range_values = [name for name in values if not name.endswith(NETWORK_NAMES) or spec.values]
        columns += [
            ReportColumn(f"{column}_{end}", end, column)
            for column in range_values
            for end in ("low", "high")
        ]
    if spec.statistics:
        columns.append(ReportColumn(SYSTEMS, "runs"))
    elif spec.runs and (spec.over or spec.count):
        columns.append(ReportColumn("runs", "runs"))
    runs = jobs["run"] if spec.statistics else jobs.index
    return ReportTable(
        name=name,
        title=spec.title or name,
        columns=tuple(columns),
        rows=tuple(rows),
        counts=spec.count,
        averages="mean" in spec.over.values() and not spec.count,
        statistics=bool(spec.statistics),
        notes=(*_reason(spec), *_notes(jobs, groups, spec.rows, values), *row_set.notes(runs)),
        of=spec.of,
        warnings=tuple(row_set.warnings(runs)),
    )


def _build_pivot(
    name: str,
    spec: TableSpec,
    pivot: Pivot,
    row_set: RowSet,
    reference: Reference | None,
    place: str,
) -> ReportTable:
    """Build a table that has a column for each name in another column; see `build_table`."""
    # 1. The same table with a row for each name, which the names turn into columns later.
    update = {
        "pivot": None,
        "rows": [*spec.rows, pivot.by],
        "values": [*spec.values, *pivot.values],
    }
    table = build_table(name, spec.model_copy(update=update), row_set, reference, place)
    # 2. Its notes are on rows that the reader does not see, so they are made again.
    jobs = select_rows(spec, row_set, place)
    groups = _group_runs(row_set, jobs, spec.rows, place)
    notes = (
        *_reason(spec),
        *_notes(jobs, groups, spec.rows, pivot.values, pivot.by),
        *row_set.notes(jobs.index),
    )
    better = {
        value: direction
        for value in pivot.values
        if (direction := row_set.better.get(spec.names.get(value, value)))
    }
    return pivot_table(replace(table, notes=notes), pivot, better, place)


def select_rows(spec: TableSpec, row_set: RowSet, place: str) -> pd.DataFrame:
    """Return the runs of a table, with the columns that it names."""
    for parameter in spec.over:
        row_set.require_parameter(parameter, f"{place}over: ")
    jobs = row_set.select(spec.where, spec.over, place, spec.relative)
    for alias, column in spec.names.items():
        jobs = jobs.assign(**{alias: row_set.column(jobs, column, f"{place}names: ")})
    return jobs


def _group_runs(
    row_set: RowSet, jobs: pd.DataFrame, keys: Sequence[str], place: str
) -> dict[tuple[str, ...], list[int]]:
    """Group runs by the texts of their `keys`, in the order of the table's rows.

    Numbers ascend, words are in the study's order, column after column.
    """
    texts = [row_set.column(jobs, key, place).map(key_text).tolist() for key in keys]
    groups: dict[tuple[str, ...], list[int]] = {}
    for run, key in zip(jobs.index, zip(*texts, strict=True), strict=True):
        groups.setdefault(key, []).append(int(run))
    ranks = [{text: rank for rank, text in enumerate(sort_texts(column))} for column in texts]
    sorted_keys = sorted(
        groups, key=lambda key: [rank[text] for rank, text in zip(ranks, key, strict=True)]
    )
    return {key: groups[key] for key in sorted_keys}


def _statistic_rows(
    spec: TableSpec,
    row_set: RowSet,
    jobs: pd.DataFrame,
    groups: Mapping[tuple[str, ...], list[int]],
    place: str,
) -> list[dict[str, Any]]:
    """Return a row for each group of runs, with statistics of the runs that have a result.

    `jobs` has a line for each run, and for each other run that it is compared with; `groups` has
    positions of lines, by the texts of the row's keys. `place` begins messages.
    """
    rows = []
    for positions in groups.values():
        group = jobs.loc[positions]
        row = {column: row_set.column(group, column, place).iloc[0] for column in spec.rows}
        ok_runs = group[group["status"] == OK]
        rows.append(row | statistics_of(ok_runs, spec.statistics, spec.over, row_set, place))
    return rows


def _pooled_rows(
    spec: TableSpec,
    row_set: RowSet,
    jobs: pd.DataFrame,
    groups: Mapping[tuple[str, ...], list[int]],
    place: str,
) -> list[dict[str, Any]]:
    """Return a row for each group of runs."""
    rows = []
    for runs in groups.values():
        group = jobs.loc[runs]
        # without any result there is no column for the load
        identity = [name for name in row_set.identity if name in group]
        _check_rows_distinct(group[identity], spec.rows, place)
        row = {column: row_set.column(group, column, place).iloc[0] for column in spec.rows}
        row["runs"] = int((group["status"] == OK).sum())
        for column in spec.values:
            values = row_set.column(group, column, place).dropna()
            if "mean" in spec.over.values():
                values = _average(values, group, spec.over, f"{place}values: column {column!r}")
            middle = middle_of(column, spec.relative, row_set.better)
            row |= _pool(column, values, group, spec.over, middle)
        rows.append(row)
    return rows


def _check_rows_distinct(names: pd.DataFrame, rows: Sequence[str], place: str) -> None:
    labels = names.drop_duplicates()
    if len(labels) > 1:
        first_run, second_run = (_run_text(labels.iloc[at]) for at in (0, 1))
        raise InputError(
            f"{place}rows {', '.join(rows)} do not distinguish {first_run} from {second_run}; add "
            "a column to 'rows', choose with 'where', or name the parameter to pool in 'over'"
        )


def _run_text(names: pd.Series[Any]) -> str:
    """Return text such as ``dor on torus~dims=4``; for simulations also work and load."""
    work = [
        f"{kind} {key_text(value)}"
        for kind, value in names.items()
        if kind not in ("topology", "routing")
    ]
    return f"{names['routing']} on {names['topology']}" + (f" ({', '.join(work)})" if work else "")


def _average(
    values: pd.Series[Any], jobs: pd.DataFrame, over: Mapping[str, str], subject: str
) -> pd.Series[Any]:
    """Return the mean over the parameters marked ``mean``, at the first run of each setting."""
    kept_parameters = [parameter for parameter, pooling in over.items() if pooling != "mean"]
    settings: dict[tuple[str, ...], list[Any]] = {}
    for run in values.index:
        setting = tuple(key_text(jobs.loc[run, parameter]) for parameter in kept_parameters)
        settings.setdefault(setting, []).append(run)
    try:
        means = {runs[0]: fmean(map(float, values[runs])) for runs in settings.values()}
    except ValueError:
        raise InputError(
            f"{subject} holds words, which have no mean; pool it to the median in a separate table"
        ) from None
    return pd.Series(means, dtype=float)


def _pool(
    column: str,
    values: pd.Series[Any],
    jobs: pd.DataFrame,
    over: Mapping[str, str],
    middle: Callable[[list[Any]], Any],
) -> dict[str, Any]:
    """Return the pooled `values` of a row, by name of the column; nothing if there are none.

    First the median (`middle`) over the parameters marked ``median``; of these medians, one for
    each setting of the parameters marked ``range``, the median is the value, and the extremes are
    the range.
    """
    ranged = [parameter for parameter, pooling in over.items() if pooling == "range"]
    settings: dict[tuple[str, ...], list[int]] = {}
    for run in values.index:
        setting = tuple(key_text(jobs.loc[run, parameter]) for parameter in ranged)
        settings.setdefault(setting, []).append(int(run))
    if not settings:
        return {}
    medians = [middle([values[run] for run in group]) for group in settings.values()]
    pooled = {column: middle(medians)}
    if ranged:
        pooled |= {f"{column}_low": min(medians), f"{column}_high": max(medians)}
    return pooled


def published_lines(
    beside: Beside, reference: Reference | None, columns: Sequence[str], place: str
) -> dict[tuple[str, ...], dict[str, str]]:
    """Return the lines of a reference's file, by the texts of their values of ``beside.on``.

    Raises
    ------
    InputError
        If the study cites no reference, two lines have one key, or a column does not exist.
    """
    if reference is None:
        raise InputError(f"{place}beside: the study cites no reference")
    lines: dict[tuple[str, ...], dict[str, str]] = {}
    for line in reference.rows(beside.reference):
        key = tuple(key_text(parse_published(line[name])) for name in beside.on)
        if key in lines:
            raise InputError(
                f"{place}beside: {beside.reference} has two rows for {', '.join(key)}; name the "
                "column that distinguishes them in 'on'"
            )
        lines[key] = line
    published_columns = reference.columns(beside.reference)
    if unknown := set(columns) - set(published_columns):
        raise InputError(
            f"{place}beside: {beside.reference} has no column {', '.join(sorted(unknown))}; it has "
            f"{', '.join(published_columns)}"
        )
    return lines


def _join_reference(
    rows: list[dict[str, Any]],
    beside: Beside,
    reference: Reference | None,
    values: Sequence[str],
    place: str,
) -> tuple[list[dict[str, Any]], list[ReportColumn]]:
    """Return the rows with the reference's columns, and these; its other rows are ignored."""
    lines = published_lines(beside, reference, beside.columns, place)
    assert reference is not None
    names = beside.columns or reference.columns(beside.reference)
    joined = [name for name in names if name not in beside.on]
    with_reference = []
    for row in rows:
        line = lines.get(tuple(key_text(row[name]) for name in beside.on), {})
        published = {
            f"{beside.prefix}{name}": parse_published(line.get(name, "")) for name in joined
        }
        with_reference.append(row | published)
    # published numbers in the order of our values, then those that we have no value for
    joined.sort(key=lambda name: values.index(name) if name in values else len(values))
    return with_reference, [
        ReportColumn(f"{beside.prefix}{name}", "reference", name if name in values else "")
        for name in joined
    ]


def _reason(spec: TableSpec) -> list[str]:
    """Return a sentence on published numbers that cannot be reproduced."""
    reason = spec.beside.not_reproducible if spec.beside else None
    return [f"This table cannot reproduce the published numbers. {reason}"] if reason else []


def parse_published(text: str) -> Any:
    """Parse a cell of a reference file: a number, a word or None."""
    if not text.strip():
        return None
    try:
        value = float(text)
    except ValueError:
        return text.strip()
    return int(value) if value.is_integer() else value


def _notes(
    jobs: pd.DataFrame,
    groups: Mapping[tuple[str, ...], list[int]],
    rows: Sequence[str],
    values: Sequence[str],
    by: str = "",
) -> list[str]:
    """Return a sentence for each row that has runs without a result, or without some `values`.

    `by` is the column that tells the runs of a row apart; reasons begin with it.
    """
    notes = []
    for key, runs in groups.items():
        group = jobs.loc[runs]
        is_ok = group["status"] == OK
        lacks_value = group.reindex(columns=list(values)).isna().any(axis=1)
        # columns whose texts are names speak for themselves
        row_text = ", ".join(
            text
            if column in ("routing", "topology", "traffic", "workload", "benchmark")
            else f"{column} {text or 'unknown'}"
            for column, text in zip(rows, key, strict=False)
        )
        for lacks, is_incomplete in (
            ("a result", ~is_ok),
            ("some values", is_ok & lacks_value & (group["reason"] != "")),
        ):
            incomplete = group[is_incomplete]
            if incomplete.empty:
                continue
            texts = list(map(cause_text, incomplete["status"], incomplete["reason"]))
            if by:
                names = map(key_text, incomplete[by])
                texts = [f"{name} {text}" for name, text in zip(names, texts, strict=True)]
            # many runs fail for one reason, which is given once
            texts = list(dict.fromkeys(texts))
            causes = "; ".join(texts[:MOST_CAUSES])
            if len(texts) > MOST_CAUSES:
                causes += f"; and {len(texts) - MOST_CAUSES} more"
            notes.append(
                f"Without {lacks}: {len(incomplete)} of {len(group)} runs of {row_text} ({causes})"
            )
    return notes
