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

MARK_DISTANCE = 0.045
"""Distance between the marks of two lines at the top of a panel, relative to its height."""

STATE_MARKERS = {
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
    data = _curve_points(request)
    return None if data.empty else curve_drawing(request, data)


def curve_drawing(request: FigureRequest, data: pd.DataFrame) -> Drawing:
    """Draw a line with a band through the points of each ``hue``, and mark where it ends.

    Points without a ``y`` are not drawn. A mark above the panel shows the first ``x`` of a line
    without a ``y``, and the state of the simulation there, such as ``saturated``.

    Parameters
    ----------
    request : FigureRequest
    data : DataFrame
        Columns ``hue`` (and ``col``), ``x``, ``y``, ``<y>_low``, ``<y>_high`` and ``state``; a row
        per point, in the order of ``x``.
    """
    x, y, hue = request.x, request.y, request.hue
    figure, panels, styles = line_panels(request, data, request.label(y))
    # 1. Mark the ends of lines above the panels. Each line that ends in any panel has a height of
    #    its own, so that marks at the same load do not cover each other. Titles move up to make
    #    room for the marks.
    marked_states: list[str] = []
    series_without_value = set(data.loc[data[y].isna(), hue].map(key_text))
    ending_series = [name for name in styles if name in series_without_value]
    for axis, panel_rows in panels:
        for number, name in enumerate(ending_series):
            series = panel_rows[panel_rows[hue].map(key_text) == name]
            height = 1.02 + MARK_DISTANCE * number  # the top edge of the panel is at 1
            state = _mark_end(axis, series, x=x, y=y, style=styles[name], height=height)
            if state is not None:
                marked_states.append(state)
        if ending_series:
            axis.set_title(axis.get_title(loc="left"), pad=8 + 7 * len(ending_series))
    if "x" not in request.spec.log:
        panels[0][0].set_xlim(left=0)
    # 2. Explain the marks. They are formulas, which the house style prints as text.
    if marked_states:
        states = [state for state in STATE_MARKERS if state in marked_states]
        with mpl.rc_context({"text.parse_math": True}):
            handles = []
            for state in states:
                marker, text = STATE_MARKERS[state], f"from here {state}"
                handles.append(Line2D([], [], color=INK, marker=marker, linestyle="", label=text))
            figure.legend(handles=handles, loc="outside lower left", ncols=min(3, len(handles)))
    text = f"{request.label(y)} against {request.label(x)} with confidence intervals, by {hue}"
    if marked_states:
        ends = ", ".join(dict.fromkeys(marked_states))
        text += f"; a mark above: from there {ends}, and the line ends before"
    return Drawing(figure, data, f"{text}.")


def _mark_end(
    axis: Axes, series: pd.DataFrame, *, x: str, y: str, style: SeriesStyle, height: float
) -> str | None:
    """Mark the first ``x`` of a series without a value, and return the state there.

    Draw nothing and return None if there is no such ``x``, or if ``x`` is not a number. `height` is
    relative to the panel: 1 is its top.
    """
    without_value = series[series[y].isna()]
    if without_value.empty or not pd.api.types.is_numeric_dtype(series[x]):
        return None
    end_row = without_value.iloc[0]
    state = str(end_row["state"])
    # such as "stationary", which is no reason why a value is missing
    if state not in STATE_MARKERS:
        state = "undecided"
    with mpl.rc_context({"text.parse_math": True}):
        axis.plot(
            [float(end_row[x])],
            [height],
            transform=axis.get_xaxis_transform(),  # x in data, height in the panel
            clip_on=False,
            marker=STATE_MARKERS[state],
            color=style.color,
            markersize=7,
            linestyle="",
        )
    return state


def _curve_points(request: FigureRequest) -> pd.DataFrame:
    """Return a row for each point: keys, median, both ends, number of runs, and a state.

    Runs with the same keys are one point. Its median and ends are NaN if any of them has no value;
    its state is that of the first such run, or else of its first run.
    """
    x, y, keys = request.x, request.y, request.keys
    runs = request.rows()
    values = pd.DataFrame(request.columns(runs, keys))
    values[y] = request.row_set.numbers(runs, y, f"{request.place}y: ")
    for end in (f"{y}_low", f"{y}_high"):
        ends = request.numbers(runs, end)[end] if end in runs else values[y]
        values[end] = ends.fillna(values[y])  # no interval: a band of no height
    values["state"] = runs.get("state", "")
    rows = []
    for key, group in values.dropna(subset=[x]).groupby(keys, sort=False, dropna=False):
        without_value = group[group[y].isna()]
        if without_value.empty:
            median = median_low(group[y].tolist())
            low, high = group[f"{y}_low"].min(), group[f"{y}_high"].max()
            state = str(group["state"].iloc[0])
        else:
            median = low = high = np.nan
            state = str(without_value["state"].iloc[0])
        rows.append((*key, median, low, high, len(group), state))
    columns = [*keys, y, f"{y}_low", f"{y}_high", "runs", "state"]
    table = pd.DataFrame(rows, columns=columns)
    return table.sort_values(keys, key=ranks, ignore_index=True)
