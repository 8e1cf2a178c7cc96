"""Tables of reports, read from their CSV files."""

from __future__ import annotations

import csv
import re
from io import StringIO

from routelab.report.rows.statistics import SYSTEMS
from routelab.report.table import ReportColumn, ReportTable, Role
from routelab.report.tables import parse_published
from routelab.study import Table as TableSpec
from routelab.study.headline import statistic_columns
from routelab.toolkit.csv_cells import unescape_cell


def table_from_csv(name: str, spec: TableSpec, text: str) -> ReportTable:
    """Return the columns and rows of a table that `table_formats.to_csv` wrote.

    Columns that `spec` does not declare are left out. The table has no title and no notes.
    """
    heads, *lines = ([unescape_cell(cell) for cell in line] for line in csv.reader(StringIO(text)))
    columns = [column for head in heads if (column := _declared_column(spec, head))]
    rows = [
        {head: parse_published(cell) for head, cell in zip(heads, line, strict=True)}
        for line in lines
    ]
    return ReportTable(
        *(name, name, tuple(columns), tuple(rows)),
        counts=spec.count,
        averages="mean" in spec.over.values() and not spec.count,
        statistics=bool(spec.statistics),
        notes=(),
        of=spec.of,
    )


def _declared_column(spec: TableSpec, head: str) -> ReportColumn | None:
    """Return the column of a table that a heading of its CSV file names."""
    if head in spec.rows:
        return ReportColumn(head, "row")
    if head in (SYSTEMS, "runs"):
        return ReportColumn(head, "runs")
    pivoted = spec.pivot.values if spec.pivot else []
    values = {*spec.values, *statistic_columns(spec), *pivoted}
    base, by = head, ""
    if spec.pivot and head not in values and (found := re.fullmatch(r"(.+?) \((.+)\)", head)):
        base, by = found.groups()
    role: Role = "value"
    of = ""
    if base not in values:
        stem, _, end = base.rpartition("_")
        published = base.removeprefix(spec.beside.prefix) if spec.beside else base
        if stem in values and end in ("low", "high"):
            role, of = ("low" if end == "low" else "high"), stem
        elif published != base:
            role, of = "reference", published if published in values else ""
        elif len(pivoted) == 1:  # the column of a single value is called like the routing
            return ReportColumn(head, "value", by=head, pivoted=pivoted[0])
        else:
            return None
    if by and of in pivoted:
        of = by if len(pivoted) == 1 else f"{of} ({by})"
    return ReportColumn(head, role, of, by, base if by else "")
