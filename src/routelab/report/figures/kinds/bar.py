"""Bars: a statistic of many runs, with the number of their networks."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from routelab.config import Figure as FigureSpec
from routelab.config.views import BENCHMARKS
from routelab.report.figures.drawing import Drawing
from routelab.report.figures.panels import (
    EDGE,
    add_legend,
    by_text,
    label_axes,
    name_places,
    ordered_texts,
    panels_of,
    ranks,
    scale_axis,
)
from routelab.report.figures.styles import Look, Looks
from routelab.report.figures.whiskers import (
    NOISE,
    SIGN,
    draw_whiskers,
    interval_and_noise,
    interval_columns,
    value_label,
)
from routelab.report.frames.statistics import SYSTEMS, statistics_of
from routelab.report.frames.view import OK, View, key_text
from routelab.report.labels import STATISTIC_LABELS, label

WIDTH = 0.8
"""Total width of the bars at one place, in units of the distance between places."""


def draw_bars(
    spec: FigureSpec, frames: View, pooled: Collection[str], place: str, looks: Looks
) -> Drawing | None:
    """Draw a statistic of ``y`` at every ``x`` for every ``hue``, in one panel for each ``col``.

    See `routelab.report.figures.draw_figure` for the parameters.
    """
    x, y = spec.x or "", spec.y or ""
    hue, col = spec.hue or "routing", spec.col
    data = _heights(spec, frames, pooled, [hue, *([col] if col else []), x], place)
    if data.empty:
        return None
    look = looks.of(hue, ordered_texts(data[hue]), place)
    places = ordered_texts(data[x])
    figure, panels = panels_of(data, col, place, spec.of)
    height = label(f"{y}_{spec.statistic or 'mean'}", spec.of)
    if spec.of in BENCHMARKS:
        name = value_label(y, spec, frames, pooled, place)
        height = f"{name}, {STATISTIC_LABELS[spec.statistic]}" if spec.statistic else name
    for axis, here in panels:
        _draw_panel(axis, here, (x, y, hue), places, look)
        axis.margins(y=0.12)
        scale_axis(axis, spec)
    name_places(panels, places)
    label_axes(panels, label(x, spec.of), height)
    add_legend(figure, look, hue, lines=False, of=spec.of)
    what = f"{height} {by_text(x, hue, spec.of)}"
    if spec.of in BENCHMARKS:
        what = f"{label(y, spec.of)} {by_text(x, hue, spec.of)}"
        legend = f"; lines are 95 % intervals, {SIGN} stands for: within noise."
        text = what + (legend if interval_columns(spec.of, y) else ".")
        return Drawing(figure, data, text)
    return Drawing(figure, data, f"{what}; above each bar the number of networks.")


def _draw_panel(
    axis: Axes,
    data: pd.DataFrame,
    names: tuple[str, str, str],
    places: list[str],
    look: dict[str, Look],
) -> None:
    x, y, hue = names
    heights = pd.DataFrame(
        {
            "x": data[x].map(key_text),
            "y": data[y].to_numpy(float),
            "hue": data[hue].map(key_text),
        }
    )
    sns.barplot(
        data=heights,
        x="x",
        y="y",
        hue="hue",
        order=places,
        hue_order=list(look),
        palette={name: one.color for name, one in look.items()},
        width=WIDTH,
        errorbar=None,
        saturation=1,
        legend=False,
        ax=axis,
    )
    for areas, one in zip(axis.containers, look.values(), strict=True):
        for area in areas:
            area.set(hatch=one.hatch, edgecolor=EDGE, linewidth=0)
    step = WIDTH / len(look)
    at = [
        places.index(bar["x"]) - WIDTH / 2 + step * (list(look).index(bar["hue"]) + 0.5)
        for _, bar in heights.iterrows()
    ]
    tops = heights["y"].to_numpy(float)
    if f"{y}_high" in data:
        draw_whiskers(axis, at, data, y)
        tops = np.fmax(np.fmax(tops, 0), data[f"{y}_high"].to_numpy(float))
    texts = data[NOISE].map({True: SIGN, False: ""}) if NOISE in data else data[SYSTEMS].map(str)
    for place, top, text in zip(at, tops, texts, strict=True):
        axis.text(place, top, text, ha="center", va="bottom", fontsize=7)


def _heights(
    spec: FigureSpec, frames: View, pooled: Collection[str], keys: list[str], place: str
) -> pd.DataFrame:
    jobs = frames.select(spec.where, pooled, place, spec.relative)
    jobs = jobs[jobs["status"] == OK].reset_index()
    for name in keys:
        jobs[name] = frames.column(jobs, name, place)
    y, statistic = spec.y or "", spec.statistic or "mean"
    rows = []
    is_measurement = spec.of in BENCHMARKS
    # a benchmark without messages has no size
    for key, mine in jobs.groupby(list(dict.fromkeys(keys)), sort=False, dropna=not is_measurement):
        row = statistics_of(mine, {y: [statistic]}, spec.over, frames, place)
        if (value := row.get(f"{y}_{statistic}")) is not None:
            extras = interval_and_noise(mine, y) if is_measurement else (row[SYSTEMS],)
            rows.append((*key, value, *extras))
    more = (f"{y}_low", f"{y}_high", NOISE) if is_measurement else (SYSTEMS,)
    data = pd.DataFrame(rows, columns=[*dict.fromkeys(keys), y, *more])
    return data.sort_values(list(dict.fromkeys(keys)), key=ranks, ignore_index=True)
