"""Points: one value against another, with one point for each run."""

from __future__ import annotations

from collections.abc import Collection

import pandas as pd
import seaborn as sns

from routelab.config import Figure as FigureSpec
from routelab.report.figures.drawing import Drawing
from routelab.report.figures.panels import (
    add_legend,
    label_axes,
    ordered_texts,
    panels_of,
    ranks,
    scale_axis,
)
from routelab.report.figures.styles import Looks
from routelab.report.figures.whiskers import draw_whiskers, interval_columns, value_label
from routelab.report.frames.view import OK, View, key_text
from routelab.report.labels import label

MAX_VECTORS = 2000
"""Largest number of points that are drawn as vectors; more are drawn as one image."""


def draw_points(
    spec: FigureSpec, frames: View, pooled: Collection[str], place: str, looks: Looks
) -> Drawing | None:
    """Draw ``y`` against ``x`` as points for every ``hue``, in one panel for each ``col``.

    See `routelab.report.figures.draw_figure` for the parameters.
    """
    x, y = spec.x or "", spec.y or ""
    hue, col = spec.hue or "routing", spec.col
    data = points_of(spec, frames, pooled, [hue, *([col] if col else [])], place)
    if data.empty:
        return None
    look = looks.of(hue, ordered_texts(data[hue]), place)
    figure, panels = panels_of(data, col, place, spec.of)
    for axis, here in panels:
        for name, one in look.items():
            mine = here[here[hue].map(key_text) == name]
            sns.scatterplot(
                x=mine[x].to_numpy(float),
                y=mine[y].to_numpy(float),
                ax=axis,
                color=one.color,
                marker=one.marker,
                s=14,
                alpha=0.5,
                linewidth=0,
                rasterized=len(data) > MAX_VECTORS,
            )
            if f"{y}_low" in mine:
                draw_whiskers(axis, mine[x].tolist(), mine, y, one.color)
        scale_axis(axis, spec)
    across, up = (value_label(name, spec, frames, pooled, place) for name in (x, y))
    label_axes(panels, across, up)
    add_legend(figure, look, hue, markers=True, lines=False, of=spec.of)
    text = f"{label(y, spec.of)} against {label(x, spec.of)}, a point per run, by {hue}."
    return Drawing(figure, data, text)


def points_of(
    spec: FigureSpec, frames: View, pooled: Collection[str], facets: list[str], place: str
) -> pd.DataFrame:
    """Return the points of a figure, a row for each run with both values."""
    jobs = frames.select(spec.where, pooled, place, spec.relative)
    jobs = jobs[jobs["status"] == OK]
    x, y = spec.x or "", spec.y or ""
    columns = {name: frames.column(jobs, name, place) for name in facets}
    columns |= {name: frames.numbers(jobs, name, place) for name in (x, y)}
    if (ends := interval_columns(spec.of, y)) is not None:
        low, high = (frames.numbers(jobs, end, place) for end in ends)
        columns |= {f"{y}_low": low, f"{y}_high": high}
    data = pd.DataFrame(columns).dropna(subset=[x, y])
    return data.sort_values([*facets, x], key=ranks, ignore_index=True)
