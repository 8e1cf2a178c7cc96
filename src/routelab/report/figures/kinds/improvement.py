"""Paired improvements over a baseline: a dot with an interval for each routing."""

from __future__ import annotations

from statistics import fmean, median

import pandas as pd

from routelab.report.figures.drawing import Drawing
from routelab.report.figures.panels import (
    add_legend,
    by_text,
    label_axes,
    label_categories,
    make_panels,
    ordered_texts,
    ranks,
    scale_axis,
    series_of_panel,
    side_by_side_positions,
)
from routelab.report.figures.published import (
    PUBLISHED,
    PUBLISHED_MARKER,
    published_legend_entry,
    published_values,
)
from routelab.report.figures.request import FigureRequest
from routelab.report.figures.styles import INK
from routelab.report.figures.whiskers import draw_whiskers, interval_and_noise, value_label
from routelab.report.rows.derivation import middle_of
from routelab.report.rows.row_set import key_text
from routelab.study.views import BENCHMARKS

NUM_PAIRS = "pairs"
"""Column with the number of pairs of runs that a dot stands for."""
TOTAL_WIDTH = 0.7
"""Total width of the dots of one category, in units of the distance between categories."""


def draw_improvements(request: FigureRequest) -> Drawing | None:
    """Draw the median of ``y`` over all pairs at every ``x`` for every ``hue``, with an interval.

    A pair is a run and a run of the baseline under the same conditions; ``y`` compares them, such
    as the improvement in percent. Intervals reach over all pairs; benchmark measurements have
    confidence intervals instead. Categories are in descending order of their mean, numbers
    ascending. The baseline is the line at 0.
    """
    spec, x, y = request.spec, request.x, request.y
    data = _dot_data(request)
    if data.empty:
        return None
    if spec.beside is not None:
        data[PUBLISHED] = published_values(request, data)
    styles = request.series_styles(data)
    categories = _sorted_categories(data, x, y)
    # 1. Dots of all series side by side, on the zero line of the baseline.
    figure, panels = make_panels(request, data)
    width = TOTAL_WIDTH / len(styles)
    for axis, panel_rows in panels:
        axis.axhline(0, color=INK, linewidth=1.0)
        for number, (style, series) in enumerate(series_of_panel(request, panel_rows, styles)):
            middles = side_by_side_positions(
                series[x],
                categories,
                series_number=number,
                series_width=width,
                total_width=TOTAL_WIDTH,
            )
            axis.plot(middles, series[y], linestyle="", color=style.color, marker=style.marker)
            draw_whiskers(axis, middles.tolist(), series, y, style.color)
            if PUBLISHED in series:
                # beside the dot, which would cover a diamond of nearly the same value
                axis.scatter(middles + width / 3, series[PUBLISHED], **PUBLISHED_MARKER)
        axis.grid(visible=False, axis="x")
        scale_axis(axis, spec)
    panels[0][0].set_xlim(-0.5, len(categories) - 0.5)
    label_categories(panels, categories)
    y_label = value_label(request, y)
    label_axes(panels, request.label(x), y_label)
    more = [published_legend_entry()] if spec.beside is not None else []
    add_legend(figure, request, styles, markers=True, lines=False, more=more)
    # 2. The description says what the intervals reach over.
    if spec.of in BENCHMARKS:
        extent = "95 % intervals"
    elif spec.relative and spec.relative.median:
        extent = "all runs"  # each run has one pair, with the median of the baseline
    else:
        extent = "all pairs of runs"
    text = f"{y_label} {by_text(request)}: the median, and a line over {extent}."
    if spec.beside is not None:
        text += " Diamonds: published values."
    return Drawing(figure, data, text)


def _sorted_categories(data: pd.DataFrame, x: str, y: str) -> list[str]:
    """Return the categories of `x` by their mean of `y`, the greatest first; numbers ascending."""
    texts = ordered_texts(data[x])
    if pd.api.types.is_numeric_dtype(data[x]):
        return texts
    means = {text: fmean(data.loc[data[x].map(key_text) == text, y]) for text in texts}
    return sorted(means, key=lambda text: -means[text])


def _dot_data(request: FigureRequest) -> pd.DataFrame:
    """Return a row for each dot: its keys, the median of its pairs, both ends, number of pairs.

    The keys are its series, panel and category; the ends are those of its interval.
    """
    spec, keys, y = request.spec, request.keys, request.y
    runs = request.rows().reset_index()
    is_measurement = spec.of in BENCHMARKS
    runs = runs.assign(**request.columns(runs, keys) | request.numbers(runs, y))
    # With the median of the baseline, each run is in one pair. Then the dot shows the value of a
    # run, as tables do. Otherwise it shows the median of all pairs, which may be a mean of two.
    has_one_pair = spec.relative is not None and spec.relative.median
    median_of_pairs = (
        middle_of(y, spec.relative, request.row_set.better) if has_one_pair else median
    )
    rows = []
    for key, group in runs.dropna(subset=[y]).groupby(keys, sort=False):
        values = group[y].astype(float)
        ends = interval_and_noise(group, y)[:2] if is_measurement else (values.min(), values.max())
        rows.append((*key, median_of_pairs(values.tolist()), *map(float, ends), len(values)))
    data = pd.DataFrame(rows, columns=[*keys, y, f"{y}_low", f"{y}_high", NUM_PAIRS])
    return data.sort_values(keys, key=ranks, ignore_index=True)
