"""Bars: a statistic of many runs, with the number of their networks."""

from __future__ import annotations

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

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
from routelab.report.figures.request import FigureRequest
from routelab.report.figures.styles import SeriesStyle
from routelab.report.figures.whiskers import (
    NOISE,
    SIGN,
    draw_whiskers,
    interval_and_noise,
    interval_columns,
    value_label,
)
from routelab.report.labels import STATISTIC_LABELS
from routelab.report.rows.row_set import key_text
from routelab.report.rows.statistics import SYSTEMS, statistics_of
from routelab.study.views import BENCHMARKS

WIDTH = 0.8
"""Total width of the bars at one place, in units of the distance between places."""


def draw_bars(request: FigureRequest) -> Drawing | None:
    """Draw a statistic of ``y`` at every ``x`` for every ``hue``, in one panel for each ``col``."""
    spec, x, y, hue = request.spec, request.x, request.y, request.hue
    data = _heights(request)
    if data.empty:
        return None
    styles = request.series_styles(data)
    places = ordered_texts(data[x])
    figure, panels = panels_of(request, data)
    height = request.label(f"{y}_{spec.statistic or 'mean'}")
    if spec.of in BENCHMARKS:
        name = value_label(request, y)
        height = f"{name}, {STATISTIC_LABELS[spec.statistic]}" if spec.statistic else name
    for axis, panel_rows in panels:
        _draw_panel(axis, panel_rows, (x, y, hue), places, styles)
        axis.margins(y=0.12)
        scale_axis(axis, spec)
    name_places(panels, places)
    label_axes(panels, request.label(x), height)
    add_legend(figure, request, styles, lines=False)
    caption = f"{height} {by_text(request)}"
    if spec.of in BENCHMARKS:
        caption = f"{request.label(y)} {by_text(request)}"
        legend = f"; lines are 95 % intervals, {SIGN} stands for: within noise."
        text = caption + (legend if interval_columns(spec.of, y) else ".")
        return Drawing(figure, data, text)
    return Drawing(figure, data, f"{caption}; above each bar the number of networks.")


def _draw_panel(
    axis: Axes,
    data: pd.DataFrame,
    names: tuple[str, str, str],
    places: list[str],
    styles: dict[str, SeriesStyle],
) -> None:
    """Draw the bars of one panel, with whiskers, and a text above each.

    `names`: the columns x, y and hue. `places`: the texts of x from left to right.
    """
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
        hue_order=list(styles),
        palette={name: style.color for name, style in styles.items()},
        width=WIDTH,
        errorbar=None,
        saturation=1,
        legend=False,
        ax=axis,
    )
    # seaborn draws bars without patterns, and does not return where they are
    for areas, style in zip(axis.containers, styles.values(), strict=True):
        for area in areas:
            area.set(hatch=style.hatch, edgecolor=EDGE, linewidth=0)
    step = WIDTH / len(styles)
    at = [
        places.index(bar["x"]) - WIDTH / 2 + step * (list(styles).index(bar["hue"]) + 0.5)
        for _, bar in heights.iterrows()
    ]
    # the text is above the whisker, also of a bar that points downwards
    tops = heights["y"].to_numpy(float)
    if f"{y}_high" in data:
        draw_whiskers(axis, at, data, y)
        tops = np.fmax(np.fmax(tops, 0), data[f"{y}_high"].to_numpy(float))
    texts = data[NOISE].map({True: SIGN, False: ""}) if NOISE in data else data[SYSTEMS].map(str)
    for place, top, text in zip(at, tops, texts, strict=True):
        axis.text(place, top, text, ha="center", va="bottom", fontsize=7)


def _heights(request: FigureRequest) -> pd.DataFrame:
    """Return a line for each bar: its keys, its height, and its interval or number of networks."""
    spec, keys, y = request.spec, request.keys, request.y
    statistic = spec.statistic or "mean"
    jobs = request.rows().reset_index()
    jobs = jobs.assign(**request.columns(jobs, keys))
    rows = []
    is_measurement = spec.of in BENCHMARKS
    # a benchmark without messages has no size
    for key, group in jobs.groupby(keys, sort=False, dropna=not is_measurement):
        row = statistics_of(group, {y: [statistic]}, spec.over, request.row_set, request.place)
        if (value := row.get(f"{y}_{statistic}")) is not None:
            extras = interval_and_noise(group, y) if is_measurement else (row[SYSTEMS],)
            rows.append((*key, value, *extras))
    more = (f"{y}_low", f"{y}_high", NOISE) if is_measurement else (SYSTEMS,)
    data = pd.DataFrame(rows, columns=[*keys, y, *more])
    return data.sort_values(keys, key=ranks, ignore_index=True)
