"""Tables with columns for each routing, or for each name in another column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from routelab.api import InputError
from routelab.report.rows.row_set import key_text, sort_texts
from routelab.report.table import ReportColumn, ReportTable
from routelab.study import Pivot


def pivot_table(
    table: ReportTable, pivot: Pivot, better: Mapping[str, str], place: str
) -> ReportTable:
    """Make columns of the rows that differ in the column ``pivot.by`` only.

    A pivot of one value names its columns after the rows (``dor``), a pivot of several values
    also after the value (``max_load (dor)``), as are ranges and published numbers.

    Parameters
    ----------
    table : ReportTable
        ``pivot.by`` is one of its row columns, ``pivot.values`` are among its values.
    pivot : config.Pivot
    better : mapping of str to str
        Preferred directions of values. The best value of a row is of interest unless each row is a
        routing.
    place : str
        Prefix of messages: where the table is declared.

    Raises
    ------
    InputError
        If another value differs within a row, or a column would have the name of another one.
    """
    # 1. The columns: those that identify a row, those that all names share, and one for each name.
    keys = [column for column in table.with_role("row") if column.name != pivot.by]
    pivoted = _pivoted_columns(table, pivot)
    shared = [
        column
        for column in table.columns
        if column.role not in ("row", "runs") and column not in pivoted
    ]
    names = sort_texts(key_text(row[pivot.by]) for row in table.rows)
    alone = len(pivot.values) == 1
    renamed = {
        (column.name, name): _named(column, name, alone) for column in pivoted for name in names
    }
    row_names = {column.name for column in (*keys, *shared)}
    if clash := row_names & {column.name for column in renamed.values()}:
        raise InputError(f"{place}pivot: {', '.join(sorted(clash))} is a column of the table, too")
    # 2. The rows. A shared value may be missing for some names, but not differ.
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    for line in table.rows:
        key = tuple(key_text(line[column.name]) for column in keys)
        row = rows.setdefault(key, {column.name: line[column.name] for column in keys})
        for column in shared:
            if key_text(line.get(column.name)) == "":
                continue
            if row.setdefault(column.name, line[column.name]) != line[column.name]:
                raise InputError(
                    f"{place}values: {column.name} is not the same for each {pivot.by} of a row"
                )
        name = key_text(line[pivot.by])
        for column in pivoted:
            pivoted_name = renamed[column.name, name].name
            row[pivoted_name] = line.get(column.name)
    # 3. The order of the columns: by names, or by values with their ranges and published numbers.
    if pivot.groups == "names":
        order = [renamed[column.name, name] for name in names for column in pivoted]
    else:
        values = [column for column in pivoted if column.role == "value" or not column.of]
        order = [
            renamed[column.name, name]
            for value in values
            for name in names
            for column in pivoted
            if value.name in (column.name, column.of)
        ]
    # nobody published numbers for some names
    order = [
        column
        for column in order
        if column.role != "reference"
        or any(key_text(row.get(column.name)) for row in rows.values())
    ]
    return replace(
        table,
        columns=(*keys, *shared, *order),
        rows=tuple(rows.values()),
        better={} if "routing" in (column.name for column in keys) else better,
        names_first=pivot.groups == "names",
    )


def _pivoted_columns(table: ReportTable, pivot: Pivot) -> list[ReportColumn]:
    """Return the values of the pivot in its order, each with what belongs to it."""
    columns = [
        column
        for value in pivot.values
        for column in table.columns
        if value in (column.name, column.of)
    ]
    # published numbers without a value of ours may differ within a row
    return columns + [
        column for column in table.columns if column.role == "reference" and not column.of
    ]


def _named(column: ReportColumn, name: str, alone: bool) -> ReportColumn:
    """Return the column for one name of a pivot."""

    def rename(of: str) -> str:
        return name if alone else f"{of} ({name})"

    is_value = column.role == "value"
    return ReportColumn(
        rename(column.name) if is_value else f"{column.name} ({name})",
        column.role,
        rename(column.of) if column.of else "",
        by=name,
        pivoted=column.name,
    )
