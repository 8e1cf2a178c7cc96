"""Bars: a statistic of many runs, with the number of their networks."""

from __future__ import annotations

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from routelab.report.figures.drawing import Drawing
from routelab.report.figures.panels import (
    HATCH_COLOUR,
    add_legend,
    by_text,
    label_axes,
    label_categories,
    make_panels,
    ordered_texts,
    ranks,
    scale_axis,
)
from routelab.report.figures.request import FigureRequest
from routelab.report.figures.styles import SeriesStyle
from routelab.report.figures.whiskers import (
    NOISE_SIGN,
    WITHIN_NOISE,
    draw_whiskers,
    interval_and_noise,
    interval_columns,
    value_label,
)
from routelab.report.labels import STATISTIC_LABELS
from routelab.report.rows.row_set import key_text
from routelab.report.rows.statistics import SYSTEMS, statistics_of
from routelab.study.views import BENCHMARKS

TOTAL_WIDTH = 0.8
"""Total width of the bars of one category, in units of the distance between categories."""


def draw_bars(request: FigureRequest) -> Drawing | None:
    """Draw a statistic of ``y`` at every ``x`` for every ``hue``, in one panel for each ``col``.

    Above each bar is the number of networks of its runs. Bars of benchmarks have no such numbers,
    but error bars if ``y`` has intervals, and a sign above an improvement that may be noise.
    """
    spec, x, y, hue = request.spec, request.x, request.y, request.hue
    data = _bar_data(request)
    if data.empty:
        return None
    styles = request.series_styles(data)
    categories = ordered_texts(data[x])
    figure, panels = make_panels(request, data)
    for axis, panel_rows in panels:
        _draw_panel(axis, panel_rows, x=x, y=y, hue=hue, categories=categories, styles=styles)
        axis.margins(y=0.12)  # room for the texts above the bars
        scale_axis(axis, spec)
    label_categories(panels, categories)
    if spec.of in BENCHMARKS:
        y_label = value_label(request, y)
        if spec.statistic:
            y_label = f"{y_label}, {STATISTIC_LABELS[spec.statistic]}"
        description = f"{request.label(y)} {by_text(request)}"
        if interval_columns(spec.of, y):
            description += f"; lines are 95 % intervals, {NOISE_SIGN} stands for: within noise"
    else:
        # the name that tables give the statistic, such as max_load_mean, has a label of its own
        y_label = request.label(f"{y}_{spec.statistic or 'mean'}")
        description = f"{y_label} {by_text(request)}; above each bar the number of networks"
    label_axes(panels, request.label(x), y_label)
    add_legend(figure, request, styles, lines=False)
    return Drawing(figure, data, f"{description}.")


def _draw_panel(
    axis: Axes,
    data: pd.DataFrame,
    *,
    x: str,
    y: str,
    hue: str,
    categories: list[str],
    styles: dict[str, SeriesStyle],
) -> None:
    """Draw the bars of one panel, with whiskers, and a text above each.

    The text is the number of networks that the bar stands for; above a measurement, a sign if its
    difference may be noise. `categories`: the texts of `x` from left to right.
    """
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
        order=categories,
        hue_order=list(styles),
        palette={name: style.color for name, style in styles.items()},
        width=TOTAL_WIDTH,
        errorbar=None,
        saturation=1,
        legend=False,
        ax=axis,
    )
    # seaborn draws bars without patterns, and does not return where they are
    for areas, style in zip(axis.containers, styles.values(), strict=True):
        for area in areas:
            area.set(hatch=style.hatch, edgecolor=HATCH_COLOUR, linewidth=0)
    # The middle of each bar: category k is at x = k, and its series stand side by side there.
    width = TOTAL_WIDTH / len(styles)
    series_number = {name: number for number, name in enumerate(styles)}
    middles = [
        categories.index(bar["x"]) - TOTAL_WIDTH / 2 + width * (series_number[bar["hue"]] + 0.5)
        for _, bar in heights.iterrows()
    ]
    # The text is above the whisker, also of a bar that points downwards. `fmax` takes the bar if
    # the end of its interval is missing.
    tops = heights["y"].to_numpy(float)
    if f"{y}_high" in data:
        draw_whiskers(axis, middles, data, y)
        tops = np.fmax(np.fmax(tops, 0), data[f"{y}_high"].to_numpy(float))
    if WITHIN_NOISE in data:
        texts = data[WITHIN_NOISE].map({True: NOISE_SIGN, False: ""})
    else:
        texts = data[SYSTEMS].map(str)
    for middle, top, text in zip(middles, tops, texts, strict=True):
        axis.text(middle, top, text, ha="center", va="bottom", fontsize=7)


def _bar_data(request: FigureRequest) -> pd.DataFrame:
    """Return a row for each bar: its keys, its height, and its interval or number of networks.

    The keys are its series, panel and category. Bars without a height are left out.
    """
    spec, keys, y = request.spec, request.keys, request.y
    # a single measurement is its own mean
    statistic = spec.statistic or "mean"
    runs = request.rows().reset_index()
    runs = runs.assign(**request.columns(runs, keys))
    bars = []
    is_measurement = spec.of in BENCHMARKS
    # The message size can be a key, and a benchmark without messages has none. `dropna` keeps its
    # rows: by default, pandas drops rows whose key is missing.
    for key, group in runs.groupby(keys, sort=False, dropna=not is_measurement):
        row = statistics_of(group, {y: [statistic]}, spec.over, request.row_set, request.place)
        height = row.get(f"{y}_{statistic}")
        if height is not None:
            extra_values = interval_and_noise(group, y) if is_measurement else (row[SYSTEMS],)
            bars.append((*key, height, *extra_values))
    extra_columns = (f"{y}_low", f"{y}_high", WITHIN_NOISE) if is_measurement else (SYSTEMS,)
    data = pd.DataFrame(bars, columns=[*keys, y, *extra_columns])
    return data.sort_values(keys, key=ranks, ignore_index=True)
