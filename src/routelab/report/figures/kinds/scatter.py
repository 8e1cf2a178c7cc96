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
    panels_of,
    ranks,
    scale_axis,
    series_in,
)
from routelab.report.figures.request import FigureRequest
from routelab.report.figures.styles import INK
from routelab.report.figures.whiskers import draw_whiskers, interval_columns, value_label
from routelab.report.labels import column_of
from routelab.report.rows.row_set import key_text

FRONT = "front"
"""Column that is true for the points of the Pareto front."""
MAX_VECTORS = 2000
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
    figure, panels = panels_of(request, data)
    if spec.front:
        signs = [_sign(request, key, name) for key, name in (("x", x), ("y", y))]
        data = data.assign(**{FRONT: False})
    for axis, panel_rows in panels:
        if spec.front:
            costs = list(zip(signs[0] * panel_rows[x], signs[1] * panel_rows[y], strict=True))
            best = panel_rows[pareto_front(costs)].sort_values(x)
            data.loc[best.index, FRONT] = True
            # The line bounds what the front dominates: all to the right of a point if less of x
            # is better, else all to its left.
            steps = "steps-post" if signs[0] > 0 else "steps-pre"
            axis.plot(best[x], best[y], drawstyle=steps, color=INK, linewidth=1.0, zorder=1)
            # only the first point of a series is named, or names would cover the line
            for name, group in best.groupby(best[hue].map(key_text), sort=False):
                at = (group.iloc[0][x], group.iloc[0][y])
                axis.annotate(str(name), at, (4, 4), textcoords="offset points", fontsize=7)
            axis.margins(0.12)
        for style, series in series_in(request, panel_rows, styles):
            sns.scatterplot(
                x=series[x].to_numpy(float),
                y=series[y].to_numpy(float),
                ax=axis,
                color=style.color,
                marker=style.marker,
                s=14,
                alpha=0.5,
                linewidth=0,
                rasterized=len(data) > MAX_VECTORS,
            )
            if f"{y}_low" in series:
                draw_whiskers(axis, series[x].tolist(), series, y, style.color)
        scale_axis(axis, spec)
    across, up = (value_label(request, name) for name in (x, y))
    label_axes(panels, across, up)
    add_legend(figure, request, styles, markers=True, lines=False)
    text = f"{request.label(y)} against {request.label(x)}, a point per run, by {hue}."
    if spec.front:
        text += (
            " The line is the Pareto front: no other run is better in one value and at least as "
            "good in the other."
        )
    return Drawing(figure, data, text)


def points_of(request: FigureRequest) -> pd.DataFrame:
    """Return the points of a figure, a row for each run with both values."""
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

    A point dominates another one if it is at least as good in both values and better in one.
    """
    front = [False] * len(costs)
    least = previous = float("inf")
    reached = None
    for at in sorted(range(len(costs)), key=lambda at: costs[at]):
        primary, secondary = costs[at]
        if primary != reached:
            # points with equal first values do not count before
            reached, previous = primary, least
        front[at] = secondary < previous and secondary <= least
        least = min(least, secondary)
    return front


def _sign(request: FigureRequest, key: str, column: str) -> int:
    """Return 1 if less of a column is better, -1 if more is better."""
    declared = column_of(column, request.spec.of)
    direction = request.row_set.better.get(column) or (declared.better if declared else "")
    if not direction:
        raise InputError(
            f"{request.place}{key}: column {column!r} has no preferred direction, so there is no "
            "Pareto front; leave out 'front'"
        )
    return 1 if direction == "lower" else -1
