"""Reference page of columns, in Markdown."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import get_args

from routelab.api import Column
from routelab.api.columns import Rows

HEADINGS: dict[str, str] = {
    "routes": "Tables of routes",
    "simulations": "Packet simulations",
    "loads": "Offered loads of a packet simulation",
    "terminals": "Terminals of a packet simulation",
    "latencies": "Latencies of packets",
    "channels": "Channels",
    "flows": "Workload simulations",
    "flow-channels": "Channels of a workload simulation",
    "flow-ranks": "Ranks of a workload simulation",
    "flow-pairs": "Pairs of terminals of a workload simulation",
    "benchmarks": "Measurements",
}
"""Headings by kind of rows."""

_ARROWS = {"lower": "↓", "higher": "↑", "": ""}

INTRODUCTION = """\
Tables and figures of a study can name these columns. CSV and JSON output has them, too. Parameters
of plugins, and settings, are columns as well: `dims`, `seed`, `vcs`, or with their kind, such as
`topology.dims`. ↓ means that less is better, ↑ that more is better. *Needs* is the key or setting
that a study must have. This page lists the built-in columns; `routelab plugins columns` also lists
those of installed plugins.
"""


def column_page(columns: Iterable[Column]) -> str:
    """Return sections with tables of columns, by kind of rows and by group."""
    distinct = list({(column.name, column.of): column for column in columns}.values())
    lines = [INTRODUCTION]
    for rows in sorted(get_args(Rows), key=list(HEADINGS).index):
        row_columns = [column for column in distinct if rows in column.of]
        if row_columns:
            lines += [f"## {HEADINGS[rows]}", "", f"`of: {rows}`", "", *column_tables(row_columns)]
    return "\n".join(lines).rstrip() + "\n"


def column_tables(columns: Collection[Column]) -> Iterator[str]:
    """Yield the lines of a table for each group of columns."""
    for group in dict.fromkeys(column.group for column in columns):
        if group:
            yield from (f"### {group}", "")
        yield from (
            "| column | meaning | unit | better | needs |",
            "| --- | --- | --- | --- | --- |",
        )
        yield from (_row(column) for column in columns if column.group == group)
        yield ""


def _row(column: Column) -> str:
    needs = f"`{column.needs}`" if column.needs else ""
    meaning = column.meaning.replace("|", "\\|")
    cells = (f"`{column.name}`", meaning, column.unit, _ARROWS[column.better], needs)
    return "| " + " | ".join(cells) + " |"
