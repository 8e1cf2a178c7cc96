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
    # 1. All that identifies the value: conditions of the table that select one value, columns of
    #    its row, the name of the pivot's column, and the baseline if the value depends on it. (In a
    #    table with `max_load_gain`, the column `max_load` itself does not.)
    spec = study.tables[table.name]
    conditions: dict[str, Any] = {
        key: value for key, value in spec.where.items() if not isinstance(value, list | Between)
    }
    conditions |= {key.name: row.get(key.name) for key in table.with_role("row")}
    if spec.pivot and column.by:
        conditions[spec.pivot.by] = column.by
    # without its statistic: `max_load_gain` for `max_load_gain_mean`
    base_column = statistic_columns(spec).get(column.source, column.source)
    relative = spec.relative
    if relative and len(relative.routings) == 1 and base_column != relative.column:
        conditions[RELATIVE_TO] = relative.routings[0]
    # 2. The text of each condition, by what it describes. Names need no heading and come first;
    #    other conditions follow with theirs: "torus~dims=4x4, failed links 3".
    label = formats[column.name].label
    names: dict[str, list[str]] = {"network": [], "traffic": [], "routing": [], "label": [label]}
    headed_texts: dict[str, list[str]] = {part: [] for part in names}
    for key, value in conditions.items():
        source = spec.names.get(key, key)
        form = formats.get(key) or column_format(key, table.of, [value])
        if text := form.text(value):
            part = _described_part(study, source, table.of)
            if source in NAMES:
                names[part].append(text)
            else:
                headed_texts[part].append(" ".join(filter(None, (form.heading, text, form.unit))))
    # 3. If no condition names the network, the traffic or the routing, it is the only one of the
    #    study. Tables of flows have a workload as their traffic, those of benchmarks a benchmark,
    #    and those of route tables none.
    works = {"routes": [], "flows": study.workloads, "benchmarks": study.benchmarks}
    compared = study.headline.routings
    only_instances = {
        "network": _only_instance(study.topologies),
        "traffic": _only_instance(works.get(table.of, study.traffic)),
        "routing": compared[0] if len(compared) == 1 else _only_instance(study.routings),
    }
    if (row.get(SYSTEMS) or 0) > 1:  # a statistic over several networks
        headed_texts["network"].append(f"{row[SYSTEMS]} networks")
    descriptions = {}
    for part, part_names in names.items():
        texts = [*(part_names or [only_instances[part]]), *headed_texts[part]]
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
    # 2. A name that no column declares is that of a parameter: of a routing if an entry of the
    #    study's routings sets it, else of a network.
    declared = column_of(source, of)
    if declared is None:
        set_parameters = [
            choice.values or {} for entry in study.routings for choice in choices(entry)
        ]
        return "routing" if any(source in values for values in set_parameters) else "network"
    # 3. A declared column. Columns that route tables do not have describe the traffic. For others,
    #    the section of the reference page that lists them decides.
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
    """Return the texts ``bound``, ``distance`` and ``published`` of a value; see `study_values`."""
    # 1. The published number.
    texts = {"bound": "", "distance": "", "published": ""}
    for other in table.with_role("reference"):
        if other.of == column.name:
            texts["published"] = formats[other.name].as_published(row.get(other.name))
    source, value = spec.names.get(column.source, column.source), finite_number(row[column.name])
    if value is None:
        return texts
    # 2. The bounds of the value in this row, and its gaps. A gap is the distance of the value from
    #    one of its bounds; its column is empty in a row to which this bound does not apply.
    has_gap_columns = any(declared.gap_of == source for declared in installed_columns())
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
    # 3. The first bound that applies. A bound of a value that has gap columns applies only if one
    #    of the row's gaps is the distance from it.
    for bound, bound_column in bounds:
        is_gap_missing = not any(isclose(value - bound, gap, abs_tol=1e-6) for gap in gaps)
        if has_gap_columns and is_gap_missing:
            continue
        texts["bound"] = formats[bound_column.name].text(bound)
        if bound:  # no percentage of 0
            declared = column_of(source, table.of)
            is_upper_bound = declared is not None and declared.better == "higher"
            distance = bound - value if is_upper_bound else value - bound
            texts["distance"] = f"{100 * distance / abs(bound):.1f}"
        break
    return texts
