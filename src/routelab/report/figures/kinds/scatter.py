"""Points: one value against another, with one point for each run, and their Pareto front."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import seaborn as sns

from routelab.api import InputError
from routelab.report.figures.drawing import Drawing
from routelab.report.figures.panels import (
    add_legend,
    label_axes,
    make_panels,
    ranks,
    scale_axis,
    series_of_panel,
)
from routelab.report.figures.request import FigureRequest
from routelab.report.figures.styles import INK
from routelab.report.figures.whiskers import draw_whiskers, interval_columns, value_label
from routelab.report.labels import column_of
from routelab.report.rows.row_set import key_text

FRONT = "front"
"""Column that is true for the points of the Pareto front."""
MAX_VECTOR_POINTS = 2000
"""Largest number of points that are drawn as vectors; more are drawn as one image."""


def draw_points(request: FigureRequest) -> Drawing | None:
    """Draw ``y`` against ``x`` as points for every ``hue``, in one panel for each ``col``.

    With ``front``, a line joins the Pareto front of each panel, and its points are named.

    Raises
    ------
    InputError
        If a column of a front has no preferred direction.
    """
    spec, x, y, hue = request.spec, request.x, request.y, request.hue
    data = points_of(request)
    if data.empty:
        return None
    styles = request.series_styles(data)
    figure, panels = make_panels(request, data)
    if spec.front:
        x_sign, y_sign = _cost_sign(request, "x", x), _cost_sign(request, "y", y)
        data = data.assign(**{FRONT: False})
    for axis, panel_rows in panels:
        if spec.front:
            costs = list(zip(x_sign * panel_rows[x], y_sign * panel_rows[y], strict=True))
            front = panel_rows[pareto_front(costs)].sort_values(x)
            data.loc[front.index, FRONT] = True
            # The line bounds what the front dominates. If less of x is better, a point dominates
            # what is to its right, so the line runs from it to the right until the next point
            # ("post"); otherwise from it to the left ("pre").
            steps = "steps-post" if x_sign > 0 else "steps-pre"
            axis.plot(front[x], front[y], drawstyle=steps, color=INK, linewidth=1.0, zorder=1)
            # only the first point of a series is named, or names would cover the line
            for name, group in front.groupby(front[hue].map(key_text), sort=False):
                axis.annotate(
                    str(name),
                    xy=(group.iloc[0][x], group.iloc[0][y]),
                    xytext=(4, 4),
                    textcoords="offset points",
                    fontsize=7,
                )
            axis.margins(0.12)  # room for the names
        for style, series in series_of_panel(request, panel_rows, styles):
            sns.scatterplot(
                x=series[x].to_numpy(float),
                y=series[y].to_numpy(float),
                ax=axis,
                color=style.color,
                marker=style.marker,
                s=14,
                alpha=0.5,
                linewidth=0,
                rasterized=len(data) > MAX_VECTOR_POINTS,
            )
            if f"{y}_low" in series:
                draw_whiskers(axis, series[x].tolist(), series, y, style.color)
        scale_axis(axis, spec)
    label_axes(panels, value_label(request, x), value_label(request, y))
    add_legend(figure, request, styles, markers=True, lines=False)
    text = f"{request.label(y)} against {request.label(x)}, a point per run, by {hue}."
    if spec.front:
        text += (
            " The line is the Pareto front: no other run is better in one value and at least as "
            "good in the other."
        )
    return Drawing(figure, data, text)


def points_of(request: FigureRequest) -> pd.DataFrame:
    """Return the points of a figure: a row for each run that has a value for both axes."""
    x, y, facets = request.x, request.y, request.facets
    rows = request.rows()
    columns = request.columns(rows, facets) | request.numbers(rows, x, y)
    if (ends := interval_columns(request.spec.of, y)) is not None:
        low, high = request.numbers(rows, *ends).values()
        columns |= {f"{y}_low": low, f"{y}_high": high}
    data = pd.DataFrame(columns).dropna(subset=[x, y])
    return data.sort_values([*facets, x], key=ranks, ignore_index=True)


def pareto_front(costs: Sequence[tuple[float, float]]) -> list[bool]:
    """Return which points no other point dominates; lower is better in both values.

    A point dominates another one if it is at least as good in both values and better in one. So
    equal points do not dominate each other.
    """
    on_front = [False] * len(costs)
    # The least y of all points so far, and of those with a smaller x.
    least_y = least_y_before = float("inf")
    current_x = None
    for point in sorted(range(len(costs)), key=lambda point: costs[point]):
        x, y = costs[point]
        if x != current_x:
            current_x, least_y_before = x, least_y
        # A point with a smaller x dominates this one if its y is not larger; a point with the same
        # x does only if its y is smaller.
        on_front[point] = y < least_y_before and y <= least_y
        least_y = min(least_y, y)
    return on_front


def _cost_sign(request: FigureRequest, key: str, column: str) -> int:
    """Return the factor that makes a column a cost: 1 if less is better, −1 if more is better.

    `key`: the key of the figure that names the column, for the message.

    Raises
    ------
    InputError
        If the column has no preferred direction.
    """
    declared = column_of(column, request.spec.of)
    direction = request.row_set.better.get(column) or (declared.better if declared else "")
    if not direction:
        raise InputError(
            f"{request.place}{key}: column {column!r} has no preferred direction, so there is no "
            "Pareto front; leave out 'front'"
        )
    return 1 if direction == "lower" else -1
