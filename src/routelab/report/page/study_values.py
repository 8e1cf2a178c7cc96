"""The values that answer a study's question, as rows of the table over all studies.

1. Choose the values: those that the headline compares, or the first ones of the first table.
2. Put together the conditions of each value: the keys of its row, and what the table selects.
3. Sort the conditions by what they describe: the network, the traffic, the routing or the value.
4. Find the proven bound and the published number beside the value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isclose
from typing import Any

from routelab.registry.columns import installed_columns
from routelab.registry.names import Name
from routelab.report.labels import column_of
from routelab.report.number_formats import (
    ColumnFormat,
    column_format,
    column_formats,
    finite_number,
)
from routelab.report.rows.derivation import RELATIVE_TO
from routelab.report.rows.statistics import SYSTEMS
from routelab.report.table import ReportColumn, ReportTable
from routelab.study import Between, Study
from routelab.study import Table as TableSpec
from routelab.study.entries import Entry, choices
from routelab.study.headline import statistic_columns

PARTS = {
    "topology": "network",
    **dict.fromkeys(("routing", "rules", "selection", "layers"), "routing"),
    **dict.fromkeys(("traffic", "workload", "benchmark"), "traffic"),
}
"""What a plugin and its parameters describe, by kind."""

NAMES = ("topology", "dims", "routing", "traffic", "workload", "benchmark", "program")
"""Columns whose values need no heading."""


def study_values(study: Study, tables: Iterable[ReportTable]) -> list[dict[str, str]]:
    """Return a row for each value of the table that answers the study's question.

    Parameters
    ----------
    study : Study
    tables : iterable of ReportTable
        Tables of the study; if the one with the answer is missing, there are no rows.

    Returns
    -------
    list of dict
        Texts for readers: ``network``, ``traffic``, ``routing``, ``label`` (what the value is, with
        its unit), ``value``, ``bound`` (proven), ``distance`` (of the value from the bound, in
        percent of it) and ``published``; each is empty if there is none.
    """
    name = study.headline.table or next(iter(study.tables), "")
    table = next((table for table in tables if table.name == name), None)
    columns = table.with_role("value") if table else []
    if table is None or not columns:
        return []
    shown = study.headline.value or columns[0].source
    columns = [column for column in columns if column.source == shown]
    spec, formats = study.tables[name], column_formats(table)
    rows = []
    for row in table.rows:
        for column in columns:
            text = formats[column.name].text(row.get(column.name))
            if text:
                descriptions = _descriptions(study, table, formats, row, column)
                bound_and_published = _bound_and_published(spec, table, formats, row, column)
                rows.append({**descriptions, "value": text, **bound_and_published})
    return rows


def _descriptions(
    study: Study,
    table: ReportTable,
    formats: Mapping[str, ColumnFormat],
    row: Mapping[str, Any],
    column: ReportColumn,
) -> dict[str, str]:
    """Return texts about a value by what they describe: network, traffic, routing and label."""
    # 1. All that identifies the value: conditions of the table, columns of its row, the name of the
    #    pivot's column, and the baseline of a relative value. (In a table with `max_load_gain`, the
    #    column `max_load` itself does not depend on the baseline.)
    spec = study.tables[table.name]
    values: dict[str, Any] = {
        key: value for key, value in spec.where.items() if not isinstance(value, list | Between)
    }
    values |= {key.name: row.get(key.name) for key in table.with_role("row")}
    if spec.pivot and column.by:
        values[spec.pivot.by] = column.by
    relative, measured = spec.relative, statistic_columns(spec).get(column.source, column.source)
    if relative and len(relative.routings) == 1 and measured != relative.column:
        values[RELATIVE_TO] = relative.routings[0]
    # 2. Each of these as text, below what it describes. Names speak for themselves and come first,
    #    other values follow with their headings.
    label = formats[column.name].label
    names: dict[str, list[str]] = {"network": [], "traffic": [], "routing": [], "label": [label]}
    headed_values: dict[str, list[str]] = {part: [] for part in names}
    for key, value in values.items():
        source = spec.names.get(key, key)
        form = formats.get(key) or column_format(key, table.of, [value])
        if text := form.text(value):
            part = _described_part(study, source, table.of)
            if source in NAMES:
                names[part].append(text)
            else:
                headed_values[part].append(" ".join(filter(None, (form.heading, text, form.unit))))
    # 3. Rows do not name what the study has only one of. All tables are of traffic except these.
    works = {"routes": [], "flows": study.workloads, "benchmarks": study.benchmarks}
    compared = study.headline.routings
    only_instances = {
        "network": _only_instance(study.topologies),
        "traffic": _only_instance(works.get(table.of, study.traffic)),
        "routing": compared[0] if len(compared) == 1 else _only_instance(study.routings),
    }
    if (row.get(SYSTEMS) or 0) > 1:
        headed_values["network"].append(f"{row[SYSTEMS]} networks")
    descriptions = {}
    for part, part_names in names.items():
        texts = [*(part_names or [only_instances[part]]), *headed_values[part]]
        descriptions[part] = ", ".join(filter(None, texts))
    return descriptions


def _described_part(study: Study, source: str, of: str) -> str:
    """Return what a column describes: ``network``, ``traffic``, ``routing`` or ``label``.

    Parameters
    ----------
    study : Study
    source : str
        A column of the runs that identifies rows.
    of : str
        Kind of the rows.
    """
    # 1. A plugin or its parameter (``routing.seed``), and settings of simulations and comparisons.
    if (part := PARTS.get(source.partition(".")[0])) is not None:
        return part
    if source in {*study.simulation, *study.flow, *study.bench}:
        return "traffic"
    # 2. What is not declared is the bare name of a parameter.
    declared = column_of(source, of)
    if declared is None:
        set_parameters = [
            choice.values or {} for entry in study.routings for choice in choices(entry)
        ]
        return "routing" if any(source in values for values in set_parameters) else "network"
    # 3. Route tables have no columns of traffic.
    if "routes" not in declared.of:
        return "traffic"
    return {"The network": "network", "Comparisons": "label"}.get(declared.group, "routing")


def _only_instance(entries: Sequence[Entry]) -> str:
    """Return the name of the only instance that a study's entries select; empty if several."""
    selected = [choice for entry in entries for choice in choices(entry)]
    if len(selected) != 1:
        return ""
    choice = selected[0]
    parameters = tuple((key, str(value)) for key, value in (choice.values or {}).items())
    return choice.alias or (str(Name(choice.name, parameters)) if parameters else choice.name)


def _bound_and_published(
    spec: TableSpec,
    table: ReportTable,
    formats: Mapping[str, ColumnFormat],
    row: Mapping[str, Any],
    column: ReportColumn,
) -> dict[str, str]:
    """Return the proven bound of a value, the distance from it, and the published number."""
    # 1. The published number.
    texts = {"bound": "", "distance": "", "published": ""}
    for other in table.with_role("reference"):
        if other.of == column.name:
            texts["published"] = formats[other.name].as_published(row.get(other.name))
    source, value = spec.names.get(column.source, column.source), finite_number(row[column.name])
    if value is None:
        return texts
    # 2. The bounds of the value in the row, and its gaps: distances from a bound.
    needs_gap = any(declared.gap_of == source for declared in installed_columns())
    gaps: list[float] = []
    bounds: list[tuple[float, ReportColumn]] = []
    for other in table.with_role("value"):
        declared = column_of(spec.names.get(other.source, other.source), table.of)
        number = finite_number(row.get(other.name))
        if declared is not None and number is not None and other.by in ("", column.by):
            if declared.gap_of == source:
                gaps.append(number)
            if declared.bound_of == source:
                bounds.append((number, other))
    # 3. The first bound that applies. If the value has gaps, a run to which a bound does not apply
    #    has none from it, so the gap must be in the row, too.
    for bound, other in bounds:
        if needs_gap and not any(isclose(value - bound, gap, abs_tol=1e-6) for gap in gaps):
            continue
        texts["bound"] = formats[other.name].text(bound)
        if bound:
            measured = column_of(source, table.of)
            is_upper_bound = measured is not None and measured.better == "higher"
            gap = bound - value if is_upper_bound else value - bound
            texts["distance"] = f"{100 * gap / abs(bound):.1f}"
        break
    return texts
