"""The data of figures: a row for each observation, such as a run, a channel or a packet.

Runs have one row each. Details of runs, such as the channels of a routing, have a table of their
own for each run, whose rows get the columns of their run. One row can stand for several equal
observations; `COUNT` says for how many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from routelab.report.figures.request import LOAD, VALUE, FigureRequest
from routelab.report.rows.benchmarks import SINGLE
from routelab.report.rows.row_set import filter_rows

COUNT = "count"
"""Column with the number of observations that a row stands for."""

NOUNS = {
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
"""Nouns for observations, by kind of the rows. Other kinds of details are their own nouns, and all
other rows are runs."""


def share_column(column: str) -> str:
    """Return a name for the column with shares of observations that is not `column` itself."""
    return "share" if column != "share" else "cumulative_share"


def collect_observations(
    request: FigureRequest, names: Sequence[str], numbers: Mapping[str, str]
) -> tuple[pd.DataFrame, str]:
    """Return the observations that a figure shows, without those that lack a number.

    Parameters
    ----------
    request : FigureRequest
        Selects the rows.
    names : sequence of str
        Columns of names or numbers, such as those of the series and the panels.
    numbers : mapping of str to str
        Columns that must hold numbers, by key of the figure, such as ``x``.

    Returns
    -------
    observations : DataFrame
        With these columns, ``run``, and `COUNT`.
    noun : str
        Noun for the observations, in the plural.

    Raises
    ------
    InputError
        If a column does not exist or holds words where numbers are needed.
    """
    spec, row_set, place = request.spec, request.row_set, request.place
    details = request.details_of(*numbers.values())
    # 1. Rows of runs. Conditions on columns that only details have are left for the details.
    run_conditions = dict(spec.where)
    detail_conditions = {}
    if details is not None:
        for column in spec.where:
            if column not in row_set.jobs:
                detail_conditions[column] = run_conditions.pop(column)
    jobs = request.rows(run_conditions)
    # 2. Rows of details have the columns of their run, if they have no column of this name.
    columns_needed = list(dict.fromkeys([*names, *numbers.values()]))
    if details is None:
        rows = jobs.reset_index()
    else:
        rows = row_set.details(details, jobs.index, place)
        run_columns = [name for name in columns_needed if name not in rows and name in jobs]
        rows = rows.join(jobs[run_columns], on="run")
        for column, condition in detail_conditions.items():
            values = row_set.column(rows, column, f"{place}where: ")
            rows = filter_rows(rows, values, condition)
    # 3. The columns of the figure. A row without a count stands for one observation.
    if COUNT not in rows:
        rows = rows.assign(**{COUNT: 1})
    columns = request.columns(rows, names)
    # Names to suggest if a column does not exist: runs do not have these, but their details do.
    value_names = {"routes": [LOAD], "benchmarks": [VALUE]}.get(spec.of, [])
    columns |= {
        name: row_set.numbers(rows, name, f"{place}{key}: ", value_names).astype(np.float64)
        for key, name in numbers.items()
    }
    data = pd.DataFrame({"run": rows["run"], **columns, COUNT: rows[COUNT]})
    noun = NOUNS.get(details or spec.of, details or "runs")
    return data.dropna(subset=list(numbers.values())), noun
