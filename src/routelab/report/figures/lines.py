"""The data of figures: rows of runs, or lines with their channels, terminals, ..."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from routelab.report.figures.request import LOAD, VALUE, FigureRequest
from routelab.report.rows.benchmarks import SINGLE
from routelab.report.rows.row_set import filter_rows

COUNT = "count"
"""Column with the number of items that a line stands for."""

THINGS = {
    "latencies": "packets",
    "loads": "loads",
    "simulations": "simulations",
    "flows": "simulations",
    "flow-channels": "channels",
    "flow-ranks": "ranks",
    "flow-pairs": "pairs of terminals",
    "benchmarks": "measurements",
    SINGLE: "runs",
}
"""Nouns for lines, where `of` is not the noun itself."""


def share_column(column: str) -> str:
    """Return the name for the share of items, which differs from a column of the figure."""
    return "share" if column != "share" else "cumulative_share"


def lines_of(
    request: FigureRequest, names: Sequence[str], numbers: Mapping[str, str]
) -> tuple[pd.DataFrame, str]:
    """Return the columns that a figure shows, without lines that have no number.

    Parameters
    ----------
    request : FigureRequest
        Selects the rows.
    names : sequence of str
        Columns.
    numbers : mapping of str to str
        Columns that must hold numbers, by key of the figure, such as ``x``.

    Returns
    -------
    lines : DataFrame
        With these columns, ``run``, and `COUNT`.
    noun : str
        Noun for the lines, in the plural.

    Raises
    ------
    InputError
        If a column does not exist or holds words where numbers are needed.
    """
    spec, row_set, place = request.spec, request.row_set, request.place
    of = request.details_of(*numbers.values())
    # 1. Rows of runs. Conditions on columns that only details have are left for the details.
    where = dict(spec.where)
    line_conditions = {key: where.pop(key) for key in list(where) if of and key not in row_set.jobs}
    jobs = request.rows(where)
    # 2. Lines of details have the columns of their run, if a line has no column of this name.
    columns_needed = list(dict.fromkeys([*names, *numbers.values()]))
    if of is None:
        lines = jobs.reset_index()
    else:
        lines = row_set.details(of, jobs.index, place)
        extra = [name for name in columns_needed if name not in lines and name in jobs]
        lines = lines.join(jobs[extra], on="run")
        for column, value in line_conditions.items():
            lines = filter_rows(lines, row_set.column(lines, column, f"{place}where: "), value)
    # 3. The columns of the figure. A line without a count stands for one item.
    if COUNT not in lines:
        lines = lines.assign(**{COUNT: 1})
    columns = request.columns(lines, names)
    value_names = {"routes": [LOAD], "benchmarks": [VALUE]}.get(spec.of, [])
    columns |= {
        name: row_set.numbers(lines, name, f"{place}{key}: ", value_names).astype(np.float64)
        for key, name in numbers.items()
    }
    data = pd.DataFrame({"run": lines["run"], **columns, COUNT: lines[COUNT]})
    return data.dropna(subset=list(numbers.values())), THINGS.get(of or spec.of, of or "runs")
