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
        return _build_pivoted_table(name, spec, spec.pivot, row_set, reference, place)
    # 1. The rows. `groups` has the index labels of the lines of `frame` that make a row. These are
    #    numbers of runs; but in statistics, a run that is compared with several others has a line
    #    for each, so that lines are numbered anew (and the column `run` has the number of the run).
    frame = select_rows(spec, row_set, place)
    if spec.statistics:
        frame = frame.reset_index()
    elif not frame.index.is_unique:
        raise InputError(
            f"{place}relative: several runs to compare with; name one routing in 'relative.to', or "
            "show 'statistics'"
        )
    groups = _group_runs(row_set, frame, spec.rows, place)
    if spec.statistics:
        rows = _statistic_rows(spec, row_set, frame, groups, place)
    elif spec.count:
        # Runs with a result are counted by their keys and values: all of a group are equal in
        # these, so the first one has them.
        rows = []
        ok_frame = frame[frame["status"] == OK]
        names = [*spec.rows, *spec.values]
        for runs in _group_runs(row_set, ok_frame, names, place).values():
            row = {column: row_set.column(ok_frame, column, place)[runs[0]] for column in names}
            rows.append(row | {"runs": len(runs)})
    else:
        rows = _pooled_rows(spec, row_set, frame, groups, place)
    # 2. The columns: what identifies a row, values and published numbers, ranges, number of runs.
    values = spec.values or [
        f"{column}_{name}" for column, names in spec.statistics.items() for name in names
    ]
    columns = [ReportColumn(column, "row") for column in spec.rows]
    value_columns = [ReportColumn(column, "value") for column in values]
    if spec.beside is not None:
        rows, reference_columns = _join_reference(rows, spec.beside, reference, values, place)
        # Values with a published number, then the published numbers, then the other values.
        published_values = {column.of for column in reference_columns}
        with_reference = [column for column in value_columns if column.name in published_values]
        others = [column for column in value_columns if column.name not in published_values]
        value_columns = [*with_reference, *reference_columns, *others]
    columns += value_columns
    if "range" in spec.over.values() and not spec.count:
        # statistics that are names of networks have no range
        ranged = [name for name in values if spec.values or not name.endswith(NETWORK_NAMES)]
        columns += [
            ReportColumn(f"{column}_{end}", role=end, of=column)
            for column in ranged
            for end in ("low", "high")
        ]
    if spec.statistics:
        columns.append(ReportColumn(SYSTEMS, "runs"))
    elif spec.runs and (spec.over or spec.count):
        columns.append(ReportColumn("runs", "runs"))
    shown_runs = frame["run"] if spec.statistics else frame.index
    return ReportTable(
        name=name,
        title=spec.title or name,
        columns=tuple(columns),
        rows=tuple(rows),
        counts=spec.count,
        averages="mean" in spec.over.values() and not spec.count,
        statistics=bool(spec.statistics),
        notes=(
            *_not_reproducible_note(spec),
            *_missing_value_notes(frame, groups, spec.rows, values),
            *row_set.notes(shown_runs),
        ),
        of=spec.of,
        warnings=tuple(row_set.warnings(shown_runs)),
    )


def _build_pivoted_table(
    name: str,
    spec: TableSpec,
    pivot: Pivot,
    row_set: RowSet,
    reference: Reference | None,
    place: str,
) -> ReportTable:
    """Build a table that has a column for each name in the column ``pivot.by``, such as a routing.

    The parameters are those of `build_table`.
    """
    # 1. The table before it is pivoted: it has a row for each name.
    update = {
        "pivot": None,
        "rows": [*spec.rows, pivot.by],
        "values": [*spec.values, *pivot.values],
    }
    table = build_table(name, spec.model_copy(update=update), row_set, reference, place)
    # 2. Notes on the rows after it is pivoted. The notes of the first table name rows that readers
    #    do not see. In these, the names (`pivot.by`) distinguish the runs of a row.
    frame = select_rows(spec, row_set, place)
    groups = _group_runs(row_set, frame, spec.rows, place)
    notes = (
        *_not_reproducible_note(spec),
        *_missing_value_notes(frame, groups, spec.rows, pivot.values, pivot.by),
        *row_set.notes(frame.index),
    )
    # 3. The preferred directions of the values. A value can be another name of a column, which
    #    the table gives it (``names``).
    better = {
        value: direction
        for value in pivot.values
        if (direction := row_set.better.get(spec.names.get(value, value)))
    }
    return pivot_table(replace(table, notes=notes), pivot, better, place)


def select_rows(spec: TableSpec, row_set: RowSet, place: str) -> pd.DataFrame:
    """Return the runs that a table shows, also with columns under the names that it gives them.

    Runs that differ only in a pooled parameter get the same name, so that they can share a row.
    `place` begins messages.

    Raises
    ------
    InputError
        If a column or a parameter does not exist.
    """
    for parameter in spec.over:
        row_set.require_parameter(parameter, f"{place}over: ")
    frame = row_set.select(spec.where, pooled=spec.over, place=place, relative=spec.relative)
    for alias, column in spec.names.items():
        frame = frame.assign(**{alias: row_set.column(frame, column, f"{place}names: ")})
    return frame


def _group_runs(
    row_set: RowSet, frame: pd.DataFrame, keys: Sequence[str], place: str
) -> dict[tuple[str, ...], list[int]]:
    """Group the runs that have the same texts in the columns `keys`: they share a row of a table.

    The result has the index labels of the runs by these texts. It is sorted by the first key, then
    by the second, and so on: numbers ascend, words are in the order of the study.
    """
    columns = [row_set.column(frame, key, place).map(key_text).tolist() for key in keys]
    groups: dict[tuple[str, ...], list[int]] = {}
    for run, texts in zip(frame.index, zip(*columns, strict=True), strict=True):
        groups.setdefault(texts, []).append(int(run))
    # for each key, the position of each text in the order of its column
    column_ranks = [
        {text: rank for rank, text in enumerate(sort_texts(column))} for column in columns
    ]

    def ranks(texts: tuple[str, ...]) -> list[int]:
        return [rank[text] for rank, text in zip(column_ranks, texts, strict=True)]

    return {texts: groups[texts] for texts in sorted(groups, key=ranks)}


def _statistic_rows(
    spec: TableSpec,
    row_set: RowSet,
    frame: pd.DataFrame,
    groups: Mapping[tuple[str, ...], list[int]],
    place: str,
) -> list[dict[str, Any]]:
    """Return a row for each group of runs, with statistics of the runs that have a result.

    `frame` has a line for each run, or for each pair of runs that are compared. `groups` has the
    index labels of the lines of each group, by the texts of its keys.
    """
    rows = []
    for lines in groups.values():
        group = frame.loc[lines]
        # the keys are equal in all lines of a group
        row = {column: row_set.column(group, column, place).iloc[0] for column in spec.rows}
        ok_runs = group[group["status"] == OK]
        rows.append(row | statistics_of(ok_runs, spec.statistics, spec.over, row_set, place))
    return rows


def _pooled_rows(
    spec: TableSpec,
    row_set: RowSet,
    frame: pd.DataFrame,
    groups: Mapping[tuple[str, ...], list[int]],
    place: str,
) -> list[dict[str, Any]]:
    """Return a row for each group of runs, which differ in the parameters ``over`` only.

    A row has its keys, the number of runs with a result, each value pooled over these runs, and the
    ends of the value's range, if it has one. `groups` has the numbers of the runs of each group, by
    the texts of its keys.
    """
    rows = []
    for runs in groups.values():
        group = frame.loc[runs]
        # Of the columns that identify a run, the load is missing if no run has a result.
        identity = [name for name in row_set.identity if name in group]
        _check_rows_distinct(group[identity], spec.rows, place)
        row = {column: row_set.column(group, column, place).iloc[0] for column in spec.rows}
        row["runs"] = int((group["status"] == OK).sum())
        for column in spec.values:
            values = row_set.column(group, column, place).dropna()
            if "mean" in spec.over.values():
                values = _mean_values(values, group, spec.over, f"{place}values: column {column!r}")
            # the lower or the upper median, so that all values of a row are from the same run
            median = middle_of(column, spec.relative, row_set.better)
            row |= _pool_values(column, values, group, spec.over, median)
        rows.append(row)
    return rows


def _check_rows_distinct(names: pd.DataFrame, rows: Sequence[str], place: str) -> None:
    """Raise an error if the runs of a row have several names after parameters were pooled."""
    distinct_names = names.drop_duplicates()
    if len(distinct_names) > 1:
        first_run, second_run = map(_run_text, (distinct_names.iloc[0], distinct_names.iloc[1]))
        raise InputError(
            f"{place}rows {', '.join(rows)} do not distinguish {first_run} from {second_run}; add "
            "a column to 'rows', choose with 'where', or name the parameter to pool in 'over'"
        )


def _run_text(names: pd.Series[Any]) -> str:
    """Return a text such as ``dor on torus~dims=4 (traffic uniform, load 0.5)``."""
    others = [
        f"{kind} {key_text(value)}"
        for kind, value in names.items()
        if kind not in ("topology", "routing")
    ]
    network = f"{names['routing']} on {names['topology']}"
    return network + (f" ({', '.join(others)})" if others else "")


def _mean_values(
    values: pd.Series[Any], frame: pd.DataFrame, over: Mapping[str, str], subject: str
) -> pd.Series[Any]:
    """Return the mean of `values` over the parameters that ``over`` marks as ``mean``.

    There is one mean for each setting of the other parameters of ``over``, which `_pool_values`
    pools next. It finds the setting by the index, so each mean has the number of the first run with
    its setting. `subject` begins messages.
    """
    other_parameters = [parameter for parameter, pooling in over.items() if pooling != "mean"]
    runs_by_setting: dict[tuple[str, ...], list[Any]] = {}
    for run in values.index:
        setting = tuple(key_text(frame.loc[run, parameter]) for parameter in other_parameters)
        runs_by_setting.setdefault(setting, []).append(run)
    try:
        means = {runs[0]: fmean(map(float, values[runs])) for runs in runs_by_setting.values()}
    except ValueError:
        raise InputError(
            f"{subject} holds words, which have no mean; pool it to the median in a separate table"
        ) from None
    return pd.Series(means, dtype=float)


def _pool_values(
    column: str,
    values: pd.Series[Any],
    frame: pd.DataFrame,
    over: Mapping[str, str],
    median: Callable[[list[Any]], Any],
) -> dict[str, Any]:
    """Return a row's value of `column` and the ends of its range, by name; empty without values.

    First `median` pools the runs of each setting of the parameters that ``over`` marks as
    ``range``. The median of these medians is the value, their extremes are the range: with
    ``seed: range``, of seeds with medians 4, 5 and 9, the value is 5 and the range 4 to 9.
    """
    range_parameters = [parameter for parameter, pooling in over.items() if pooling == "range"]
    runs_by_setting: dict[tuple[str, ...], list[int]] = {}
    for run in values.index:
        setting = tuple(key_text(frame.loc[run, parameter]) for parameter in range_parameters)
        runs_by_setting.setdefault(setting, []).append(int(run))
    if not runs_by_setting:
        return {}
    medians = [median([values[run] for run in runs]) for runs in runs_by_setting.values()]
    pooled = {column: median(medians)}
    if range_parameters:
        pooled |= {f"{column}_low": min(medians), f"{column}_high": max(medians)}
    return pooled


def published_lines(
    beside: Beside, reference: Reference | None, columns: Sequence[str], place: str
) -> dict[tuple[str, ...], dict[str, str]]:
    """Return the published numbers that a table or figure shows beside ours.

    The result has the lines of the reference's file, each with a text for every column, by their
    texts in the columns ``beside.on``. The row of ours beside a line has the same texts there.

    Parameters
    ----------
    beside : Beside
    reference : Reference or None
        Published numbers that the study cites.
    columns : sequence of str
        Columns that the file must have.
    place : str
        Prefix of messages: where the table or figure is declared.

    Raises
    ------
    InputError
        If the study cites no reference, two lines have one key, or a column does not exist.
    """
    if reference is None:
        raise InputError(f"{place}beside: the study cites no reference")
    lines: dict[tuple[str, ...], dict[str, str]] = {}
    for line in reference.rows(beside.reference):
        key = tuple(key_text(parse_cell(line[name])) for name in beside.on)
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
    """Add the published numbers to our rows; return the rows, and the added columns.

    A row that was not published has None in these columns; published lines without a row of ours
    are left out. `values` are the columns of our values.
    """
    lines = published_lines(beside, reference, beside.columns, place)
    assert reference is not None  # `published_lines` would have raised an error
    # the columns to show; all if the study names none
    names = beside.columns or reference.columns(beside.reference)
    published_names = [name for name in names if name not in beside.on]
    joined_rows = []
    for row in rows:
        line = lines.get(tuple(key_text(row[name]) for name in beside.on), {})
        published = {
            f"{beside.prefix}{name}": parse_cell(line.get(name, "")) for name in published_names
        }
        joined_rows.append(row | published)
    # published numbers in the order of our values, then those that we have no value for
    published_names.sort(key=lambda name: values.index(name) if name in values else len(values))
    return joined_rows, [
        ReportColumn(f"{beside.prefix}{name}", "reference", of=name if name in values else "")
        for name in published_names
    ]


def _not_reproducible_note(spec: TableSpec) -> list[str]:
    """Return a sentence on published numbers that cannot be reproduced, or nothing."""
    reason = spec.beside.not_reproducible if spec.beside else None
    return [f"This table cannot reproduce the published numbers. {reason}"] if reason else []


def parse_cell(text: str) -> Any:
    """Parse a cell of a CSV file: a number, an integer if it is whole, a word, or None if empty."""
    if not text.strip():
        return None
    try:
        value = float(text)
    except ValueError:
        return text.strip()
    return int(value) if value.is_integer() else value


def _missing_value_notes(
    frame: pd.DataFrame,
    groups: Mapping[tuple[str, ...], list[int]],
    rows: Sequence[str],
    values: Sequence[str],
    by: str = "",
) -> list[str]:
    """Return a sentence for each row that has runs without a result, or without some values.

    Such as ``Without a result: 2 of 3 runs of torus~dims=4, seed 1 (unsupported: no rings)``.

    Parameters
    ----------
    frame : DataFrame
    groups : mapping of tuple of str to list of int
        Index labels of the runs of each row, by the texts of its columns `rows`.
    rows, values : sequence of str
        Columns that identify a row, and those of its values.
    by : str
        Column of a pivot, such as ``routing``: each reason begins with the name of its run in this
        column. Empty if the table is not pivoted.
    """
    notes = []
    for key, runs in groups.items():
        group = frame.loc[runs]
        is_ok = group["status"] == OK
        lacks_value = group.reindex(columns=list(values)).isna().any(axis=1)
        # names need no column before them: "dor", but "seed 1"
        row_text = ", ".join(
            text
            if column in ("routing", "topology", "traffic", "workload", "benchmark")
            else f"{column} {text or 'unknown'}"
            for column, text in zip(rows, key, strict=True)
        )
        # A run that lacks a value without a reason has an empty cell, and no sentence.
        lacks_value_with_reason = is_ok & lacks_value & (group["reason"] != "")
        for what, is_incomplete in (
            ("a result", ~is_ok),
            ("some values", lacks_value_with_reason),
        ):
            incomplete = group[is_incomplete]
            if incomplete.empty:
                continue
            causes = list(map(cause_text, incomplete["status"], incomplete["reason"]))
            if by:
                names = map(key_text, incomplete[by])
                causes = [f"{name} {cause}" for name, cause in zip(names, causes, strict=True)]
            # many runs fail for one cause, which is given once
            causes = list(dict.fromkeys(causes))
            causes_text = "; ".join(causes[:MOST_CAUSES])
            if len(causes) > MOST_CAUSES:
                causes_text += f"; and {len(causes) - MOST_CAUSES} more"
            share = f"{len(incomplete)} of {len(group)} runs of {row_text}"
            notes.append(f"Without {what}: {share} ({causes_text})")
    return notes
