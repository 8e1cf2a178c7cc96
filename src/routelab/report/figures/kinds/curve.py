"""Curves over the offered load, marked where a load has no value."""

from __future__ import annotations

from statistics import median_low

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from routelab.report.figures.drawing import Drawing
from routelab.report.figures.kinds.line import line_panels
from routelab.report.figures.panels import ranks
from routelab.report.figures.request import FigureRequest
from routelab.report.figures.styles import INK, SeriesStyle
from routelab.report.rows.row_set import key_text

STEP = 0.045
"""Distance between the marks of two lines at the top of a panel, relative to its height."""

MARKS = {
    "saturated": "$\\uparrow$",
    "deadlock": "x",
    "livelock": "$\\circlearrowleft$",
    "no-route": "$\\varnothing$",
    "undecided": "$?$",
    "unfinished": "$\\dots$",
}
"""Marker of a load without a value, by the state of the simulation: strokes, because the markers
of series are filled."""


def draw_curves(request: FigureRequest) -> Drawing | None:
    """Draw ``y`` against ``x`` with confidence intervals for each ``hue``, a panel per ``col``.

    A line ends where ``y`` has no value: a saturated network has no latency. The first such
    ``x`` of each line is marked at the top edge of the panel. Pooled runs give their lower median,
    and the band reaches over the intervals of all.
    """
    data = _points(request)
    return None if data.empty else curve_drawing(request, data)


def curve_drawing(request: FigureRequest, data: pd.DataFrame) -> Drawing:
    """Draw the points of curves; see `draw_curves`.

    Parameters
    ----------
    request : FigureRequest
    data : DataFrame
        Columns ``hue`` (and ``col``), ``x``, ``y``, ``<y>_low``, ``<y>_high`` and ``state``; a row
        per point, in the order of ``x``.
    """
    x, y, hue = request.x, request.y, request.hue
    figure, panels, styles = line_panels(request, data, request.label(y))
    # 1. Mark the ends of lines above the panels: one height for each line that ends in any panel,
    #    so that marks at the same load do not cover each other, and titles move up by as much.
    states_seen: list[str] = []
    cut = set(data.loc[data[y].isna(), hue].map(key_text))
    cut_names = [name for name in styles if name in cut]
    for axis, panel_rows in panels:
        for number, name in enumerate(cut_names):
            series = panel_rows[panel_rows[hue].map(key_text) == name]
            states_seen += _mark_end(axis, series, (x, y), styles[name], 1.02 + STEP * number)
        if cut_names:
            axis.set_title(axis.get_title(loc="left"), pad=8 + 7 * len(cut_names))
    if "x" not in request.spec.log:
        panels[0][0].set_xlim(left=0)
    # 2. Explain the marks. They are formulas, which the house style prints as text.
    if states_seen:
        states = [state for state in MARKS if state in states_seen]
        with mpl.rc_context({"text.parse_math": True}):
            handles = [
                Line2D([], [], color=INK, marker=MARKS[s], ls="", label=f"from here {s}")
                for s in states
            ]
            figure.legend(handles=handles, loc="outside lower left", ncols=min(3, len(handles)))
    text = f"{request.label(y)} against {request.label(x)} with confidence intervals, by {hue}"
    ends = ", ".join(dict.fromkeys(states_seen))
    return Drawing(
        figure,
        data,
        text
        + (f"; a mark above: from there {ends}, and the line ends before." if states_seen else "."),
    )


def _mark_end(
    axis: Axes, series: pd.DataFrame, names: tuple[str, str], style: SeriesStyle, height: float
) -> list[str]:
    """Mark the first place of a line without a value; return the state there, if any."""
    x, y = names
    without = series[series[y].isna()]
    if without.empty or not pd.api.types.is_numeric_dtype(series[x]):
        return []
    end_row = without.iloc[0]
    state = str(end_row["state"]) if str(end_row["state"]) in MARKS else "undecided"
    with mpl.rc_context({"text.parse_math": True}):
        axis.plot(
            [float(end_row[x])],
            [height],
            transform=axis.get_xaxis_transform(),
            clip_on=False,
            marker=MARKS[state],
            color=style.color,
            markersize=7,
            linestyle="",
        )
    return [state]


def _points(request: FigureRequest) -> pd.DataFrame:
    """Return a line for each point: keys, median, both ends, number of runs, and a state."""
    x, y, keys = request.x, request.y, request.keys
    jobs = request.rows()
    values = pd.DataFrame(request.columns(jobs, keys))
    values[y] = request.row_set.numbers(jobs, y, f"{request.place}y: ")
    for end in (f"{y}_low", f"{y}_high"):
        ends = request.numbers(jobs, end)[end] if end in jobs else values[y]
        values[end] = ends.fillna(values[y])
    values["state"] = jobs.get("state", "")
    rows = []
    for key, group in values.dropna(subset=[x]).groupby(keys, sort=False, dropna=False):
        with_value = group[group[y].notna()]
        # a value that any of the runs lacks is missing for all
        without_value = group[group[y].isna()]
        state = str((group if without_value.empty else without_value)["state"].iloc[0])
        numbers = [np.nan] * 3
        if without_value.empty:
            low, high = with_value[f"{y}_low"].min(), with_value[f"{y}_high"].max()
            numbers = [median_low(with_value[y].tolist()), low, high]
        rows.append((*key, *numbers, len(group), state))
    columns = [*keys, y, f"{y}_low", f"{y}_high", "runs", "state"]
    table = pd.DataFrame(rows, columns=columns)
    return table.sort_values(keys, key=ranks, ignore_index=True)
