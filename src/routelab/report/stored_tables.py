"""Tables of reports, read from their CSV files."""

from __future__ import annotations

import csv
import re
from io import StringIO

from routelab.report.rows.statistics import SYSTEMS
from routelab.report.table import ReportColumn, ReportTable, Role
from routelab.report.tables import parse_cell
from routelab.study import Table as TableSpec
from routelab.study.headline import statistic_columns
from routelab.toolkit.csv_cells import unescape_cell


def table_from_csv(name: str, spec: TableSpec, text: str) -> ReportTable:
    """Return the columns and rows of a table that `table_formats.to_csv` wrote.

    Columns that `spec` does not declare are left out. The title is `name`, and there are no notes,
    as the file has neither.
    """
    headings, *lines = (
        [unescape_cell(cell) for cell in line] for line in csv.reader(StringIO(text))
    )
    columns = [column for heading in headings if (column := _declared_column(spec, heading))]
    rows = [
        {heading: parse_cell(cell) for heading, cell in zip(headings, line, strict=True)}
        for line in lines
    ]
    return ReportTable(
        name=name,
        title=name,
        columns=tuple(columns),
        rows=tuple(rows),
        counts=spec.count,
        averages="mean" in spec.over.values() and not spec.count,
        statistics=bool(spec.statistics),
        notes=(),
        of=spec.of,
    )


def _declared_column(spec: TableSpec, heading: str) -> ReportColumn | None:
    """Return the column that a heading of the table's CSV file names; None if it is not declared.

    With the value ``max_load``, the headings ``max_load``, ``max_load_low`` and ``paper_max_load``
    are the value, an end of its range, and the published number. In a pivot, they end with the name
    in brackets, as in ``max_load (dor)``; but if the pivot has a single value, the heading of this
    value is only the name, ``dor``.
    """
    if heading in spec.rows:
        return ReportColumn(heading, "row")
    if heading in (SYSTEMS, "runs"):
        return ReportColumn(heading, "runs")
    pivoted = spec.pivot.values if spec.pivot else []
    values = {*spec.values, *statistic_columns(spec), *pivoted}
    # 1. The heading without the name in brackets (`base`), and this name (`by`).
    base, by = heading, ""
    if spec.pivot and heading not in values:
        match = re.fullmatch(r"(?P<base>.+?) \((?P<by>.+)\)", heading)
        if match is not None:
            base, by = match["base"], match["by"]
    # 2. The role of the column, and the value to which it belongs (`of`).
    role: Role = "value"
    of = ""
    if base not in values:
        value, _, suffix = base.rpartition("_")
        published = base.removeprefix(spec.beside.prefix) if spec.beside else base
        if value in values and suffix in ("low", "high"):
            role, of = ("low" if suffix == "low" else "high"), value
        elif published != base:
            # a published number without a value of ours belongs to none
            role, of = "reference", published if published in values else ""
        elif len(pivoted) == 1:
            # whatever is not known is the name of a pivot with a single value
            return ReportColumn(heading, "value", by=heading, pivoted=pivoted[0])
        else:
            return None
    # 3. In a pivot, the value to which the column belongs has the name in its heading, too.
    if by and of in pivoted:
        of = by if len(pivoted) == 1 else f"{of} ({by})"
    return ReportColumn(heading, role, of, by, pivoted=base if by else "")
