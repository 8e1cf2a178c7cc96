"""The data of figures: a row for each observation, such as a run, a channel or a packet.

    figure shows   row           columns
    runs           one run       those of the run
    details        one channel   those of the details, and those of its run that they lack

Details are what each run has many of, such as channels, ranks or packets. One row can stand for
several equal observations; `COUNT` says for how many.
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
"""Nouns for observations, by kind of the rows. Other kinds of details, such as ``channels``, are
their own nouns, and all other rows are runs."""


def share_column(column: str) -> str:
    """Return a name for the column with shares of observations that is not `column` itself."""
    return "share" if column != "share" else "cumulative_share"


def collect_observations(
    request: FigureRequest, names: Sequence[str], numbers: Mapping[str, str]
) -> tuple[pd.DataFrame, str]:
    """Return the observations that a figure shows: runs, or details such as their channels.

    Observations that lack one of the numbers are left out.

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
    details = request.details_kind(*numbers.values())
    # 1. The runs. If the figure shows details, conditions on columns that runs lack are left for
    #    these.
    run_conditions = dict(spec.where)
    detail_conditions = {}
    if details is not None:
        for column in spec.where:
            if column not in row_set.frame:
                detail_conditions[column] = run_conditions.pop(column)
    frame = request.rows(run_conditions)
    # 2. The rows: the runs; or the details, with the columns of their run that they lack.
    columns_needed = list(dict.fromkeys([*names, *numbers.values()]))
    if details is None:
        rows = frame.reset_index()
    else:
        rows = row_set.details(details, frame.index, place)
        run_columns = [name for name in columns_needed if name not in rows and name in frame]
        rows = rows.join(frame[run_columns], on="run")
        for column, condition in detail_conditions.items():
            values = row_set.column(rows, column, f"{place}where: ")
            rows = filter_rows(rows, values, condition)
    # 3. The columns of the figure. A row without a count stands for one observation.
    if COUNT not in rows:
        rows = rows.assign(**{COUNT: 1})
    columns = request.columns(rows, names)
    # The message on a column that does not exist lists the existing ones. These two are valid too:
    # a figure that names one of them shows details, which have it.
    details_columns = {"routes": [LOAD], "benchmarks": [VALUE]}.get(spec.of, [])
    columns |= {
        name: row_set.numbers(
            rows, name, place=f"{place}{key}: ", other_names=details_columns
        ).astype(np.float64)
        for key, name in numbers.items()
    }
    data = pd.DataFrame({"run": rows["run"], **columns, COUNT: rows[COUNT]})
    noun = NOUNS.get(details or spec.of, details or "runs")
    return data.dropna(subset=list(numbers.values())), noun
