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

        topology  routing  max_load           topology  dor  updown
        ring      dor             4     →     ring        4       6
        ring      updown          6

    The columns of a single value are called like the names (``dor``), those of several values also
    after the value (``max_load (dor)``), as are ranges and published numbers.

    Parameters
    ----------
    table : ReportTable
        ``pivot.by`` is one of its row columns, ``pivot.values`` are among its values.
    pivot : config.Pivot
    better : mapping of str to str
        Preferred direction of each value, ``lower`` or ``higher``: the best value of a row is bold.
        Not used if each row is a routing, because its best value does not compare routings.
    place : str
        Prefix of messages: where the table is declared.

    Raises
    ------
    InputError
        If a value that is not pivoted differs within a row, or two columns would have one name.
    """
    # 1. The columns: those that identify a row, those that all names share, and for each name one
    #    for each pivoted column.
    keys = [column for column in table.with_role("row") if column.name != pivot.by]
    pivoted = _columns_to_pivot(table, pivot)
    shared = [
        column
        for column in table.columns
        if column.role not in ("row", "runs") and column not in pivoted
    ]
    names = sort_texts(key_text(row[pivot.by]) for row in table.rows)
    has_single_value = len(pivot.values) == 1
    # by column and name: ("max_load", "dor")
    new_columns = {
        (column.name, name): _pivot_column(column, name, has_single_value=has_single_value)
        for column in pivoted
        for name in names
    }
    other_names = {column.name for column in (*keys, *shared)}
    if clash := other_names & {column.name for column in new_columns.values()}:
        raise InputError(f"{place}pivot: {', '.join(sorted(clash))} is a column of the table, too")
    # 2. The rows: all old rows with the same keys become one. A shared value may be missing for
    #    some names, but not differ.
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    for old_row in table.rows:
        key = tuple(key_text(old_row[column.name]) for column in keys)
        row = rows.setdefault(key, {column.name: old_row[column.name] for column in keys})
        for column in shared:
            if key_text(old_row.get(column.name)) == "":
                continue
            if row.setdefault(column.name, old_row[column.name]) != old_row[column.name]:
                raise InputError(
                    f"{place}values: {column.name} is not the same for each {pivot.by} of a row"
                )
        name = key_text(old_row[pivot.by])
        for column in pivoted:
            row[new_columns[column.name, name].name] = old_row.get(column.name)
    # 3. The order of the columns. With groups of names: all columns of dor, then all of updown.
    if pivot.groups == "names":
        order = [new_columns[column.name, name] for name in names for column in pivoted]
    else:
        # With groups of values: max_load of dor and of updown, then the next value of both. The
        # ranges and published numbers of a value follow it (`of`). A published number that belongs
        # to no value of ours is a group like a value.
        values = [column for column in pivoted if column.role == "value" or not column.of]
        order = [
            new_columns[column.name, name]
            for value in values
            for name in names
            for column in pivoted
            if value.name in (column.name, column.of)
        ]
    # A column of published numbers is left out if the publication has none for its name.
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


def _columns_to_pivot(table: ReportTable, pivot: Pivot) -> list[ReportColumn]:
    """Return the columns of the values of a pivot, each with its range and published numbers."""
    columns = [
        column
        for value in pivot.values
        for column in table.columns
        if value in (column.name, column.of)
    ]
    # Published numbers that belong to no value of ours are pivoted, too, as they may differ between
    # the names of a row.
    return columns + [
        column for column in table.columns if column.role == "reference" and not column.of
    ]


def _pivot_column(column: ReportColumn, name: str, *, has_single_value: bool) -> ReportColumn:
    """Return the column that a pivot has for one name, such as a routing.

    ``max_load`` becomes ``max_load (dor)``, or ``dor`` if it is the single value of the pivot.
    Other columns have the name in brackets in any case: ``max_load_low (dor)``.
    """

    def rename_value(value: str) -> str:
        return name if has_single_value else f"{value} ({name})"

    is_value = column.role == "value"
    return ReportColumn(
        name=rename_value(column.name) if is_value else f"{column.name} ({name})",
        role=column.role,
        of=rename_value(column.of) if column.of else "",  # the value has been renamed, too
        by=name,
        pivoted=column.name,
    )
