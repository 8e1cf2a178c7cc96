"""Paired improvements over a baseline: a dot with an interval for each routing."""

from __future__ import annotations

from statistics import fmean, median

import pandas as pd

from routelab.report.figures.drawing import Drawing
from routelab.report.figures.panels import (
    add_legend,
    by_text,
    label_axes,
    name_places,
    ordered_texts,
    panels_of,
    places_beside,
    ranks,
    scale_axis,
    series_in,
)
from routelab.report.figures.published import MARK, PUBLISHED, published_values, sign
from routelab.report.figures.request import FigureRequest
from routelab.report.figures.styles import INK
from routelab.report.figures.whiskers import draw_whiskers, interval_and_noise, value_label
from routelab.report.rows.derivation import middle_of
from routelab.report.rows.row_set import key_text
from routelab.study.views import BENCHMARKS

PAIRS = "pairs"
"""Column with the number of pairs of runs that a dot stands for."""
WIDTH = 0.7
"""Width of the dots at one place, in units of the distance between places."""


def draw_improvements(request: FigureRequest) -> Drawing | None:
    """Draw the median of ``y`` over all pairs at every ``x`` for every ``hue``, with an interval.

    Measurements have their own intervals; other intervals reach over all pairs. Places are in
    descending order of their mean, numbers ascending, and the baseline is the line at 0.
    """
    spec, x, y = request.spec, request.x, request.y
    data = _medians(request)
    if data.empty:
        return None
    if spec.beside is not None:
        data[PUBLISHED] = published_values(request, data)
    styles = request.series_styles(data)
    places = _sorted_places(data, x, y)
    # 1. Dots of all series side by side, on the zero line of the baseline.
    figure, panels = panels_of(request, data)
    step = WIDTH / len(styles)
    for axis, panel_rows in panels:
        axis.axhline(0, color=INK, linewidth=1.0)
        for number, (style, series) in enumerate(series_in(request, panel_rows, styles)):
            middles = places_beside(series[x], places, number, step, WIDTH)
            axis.plot(middles, series[y], linestyle="", color=style.color, marker=style.marker)
            draw_whiskers(axis, middles.tolist(), series, y, style.color)
            if PUBLISHED in series:
                # beside the dot, which would cover a diamond of nearly the same value
                axis.scatter(middles + step / 3, series[PUBLISHED], **MARK)
        axis.grid(visible=False, axis="x")
        scale_axis(axis, spec)
    panels[0][0].set_xlim(-0.5, len(places) - 0.5)
    name_places(panels, places)
    title = value_label(request, y)
    label_axes(panels, request.label(x), title)
    more = [sign()] if spec.beside is not None else []
    add_legend(figure, request, styles, markers=True, lines=False, more=more)
    # 2. What the lines reach over. Each run has one pair if all are compared with a median.
    lines = "all runs" if spec.relative and spec.relative.median else "all pairs of runs"
    lines = "95 % intervals" if spec.of in BENCHMARKS else lines
    text = f"{title} {by_text(request)}: the median, and a line over {lines}."
    if spec.beside is not None:
        text += " Diamonds: published values."
    return Drawing(figure, data, text)


def _sorted_places(data: pd.DataFrame, x: str, y: str) -> list[str]:
    """Return the places by their mean value, the greatest first; numbers ascending."""
    texts = ordered_texts(data[x])
    if pd.api.types.is_numeric_dtype(data[x]):
        return texts
    means = {text: fmean(data.loc[data[x].map(key_text) == text, y]) for text in texts}
    return sorted(means, key=lambda text: -means[text])


def _medians(request: FigureRequest) -> pd.DataFrame:
    """Return a line for each point: its keys, the median of pairs, both ends, their number."""
    spec, keys, y = request.spec, request.keys, request.y
    jobs = request.rows().reset_index()
    is_measurement = spec.of in BENCHMARKS
    jobs = jobs.assign(**request.columns(jobs, keys) | request.numbers(jobs, y))
    # of pairs with one run there is a row in tables, too
    is_row = spec.relative is not None and spec.relative.median
    middle = middle_of(y, spec.relative, request.row_set.better) if is_row else median
    rows = []
    for key, group in jobs.dropna(subset=[y]).groupby(keys, sort=False):
        values = group[y].astype(float)
        ends = interval_and_noise(group, y)[:2] if is_measurement else (values.min(), values.max())
        rows.append((*key, middle(values.tolist()), *map(float, ends), len(values)))
    data = pd.DataFrame(rows, columns=[*keys, y, f"{y}_low", f"{y}_high", PAIRS])
    return data.sort_values(keys, key=ranks, ignore_index=True)
