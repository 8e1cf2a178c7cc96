"""Achieved values beside their bounds and published values."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

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
from routelab.report.figures.whiskers import draw_whiskers

GAP, GAP_TEXT = "gap_percent", "gap_text"
TOTAL_WIDTH = 0.8
"""Total width of the bars of one category, in units of the distance between categories."""
MAX_BARS = 12
"""Largest number of bars in a panel whose gaps are written horizontally."""


def draw_bounds(request: FigureRequest) -> Drawing | None:
    """Draw the median of ``y`` as bars, that of ``bound`` as lines, and the gap as text.

    The gap is the distance from the bound, in percent of the bound.
    """
    spec, x, y = request.spec, request.x, request.y
    bound = spec.bound or ""
    data = _bar_data(request)
    if data.empty:
        return None
    if spec.beside is not None:
        data[PUBLISHED] = published_values(request, data)
    styles = request.series_styles(data)
    categories = ordered_texts(data[x])
    figure, panels = make_panels(request, data)
    # 1. The bars of all series side by side, each with its bound as a line and its gap as text.
    width = TOTAL_WIDTH / len(styles)
    for axis, panel_rows in panels:
        for number, (style, series) in enumerate(series_of_panel(request, panel_rows, styles)):
            middles = side_by_side_positions(
                series[x],
                categories,
                series_number=number,
                series_width=width,
                total_width=TOTAL_WIDTH,
            )
            axis.bar(
                middles,
                series[y],
                width,
                color=style.color,
                hatch=style.hatch,
                edgecolor=HATCH_COLOUR,
                linewidth=0,
            )
            axis.hlines(series[bound], middles - width / 2, middles + width / 2, color=INK)
            # A whisker of no length would look like a mark of its own.
            has_range = (series[f"{y}_low"] < series[f"{y}_high"]).to_numpy()
            draw_whiskers(axis, middles[has_range].tolist(), series[has_range], y)
            # The gap is written above whatever is highest: whisker, bound or published value.
            # `fmax`, because a published value can be missing.
            tops = np.fmax(series[f"{y}_high"], series[bound])
            if PUBLISHED in series:
                axis.scatter(middles, series[PUBLISHED], **PUBLISHED_MARKER)
                tops = np.fmax(tops, series[PUBLISHED])
            for middle, top, text in zip(middles, tops, series[GAP_TEXT], strict=True):
                axis.annotate(
                    text,
                    xy=(middle, top),
                    xytext=(0, 3),
                    textcoords="offset points",
                    ha="center",
                    va="bottom",
                    fontsize=8 if len(panels) == 1 else 6,
                    rotation=90 if len(panel_rows) > MAX_BARS else 0,
                )
        axis.margins(y=0.25)  # room for the gaps above the bars
        axis.grid(visible=False, axis="x")
        scale_axis(axis, spec)
    # 2. Axes, which all panels share with the first, and legend.
    panels[0][0].set_xlim(-0.5, len(categories) - 0.5)
    label_categories(panels, categories)
    y_label = request.label(y)
    label_axes(panels, request.label(x), y_label)
    more = [Line2D([], [], color=INK, label=request.label(bound))]
    if spec.beside is not None:
        more.append(published_legend_entry())
    add_legend(figure, request, styles, lines=False, more=more)
    # 3. The description names only what occurs in the figure.
    text = (
        f"{y_label} {by_text(request)}. Lines: {request.label(bound)}. "
        "Numbers above bars are distances from the bound, in percent of it."
    )
    if (data[f"{y}_low"] < data[f"{y}_high"]).any():
        text += " Bars are medians of runs, thin lines their ranges."
    if spec.beside is not None:
        text += " Diamonds: published values."
    return Drawing(figure, data, text)


def _bar_data(request: FigureRequest) -> pd.DataFrame:
    """Return a row for each bar: its keys, medians of value and bound, range of the value, gap.

    The keys are its series, panel and category.
    """
    keys, y, bound = request.keys, request.y, request.spec.bound or ""
    rows = request.rows()
    columns = request.columns(rows, keys) | request.numbers(rows, y, bound)
    complete = pd.DataFrame(columns).dropna(subset=[y, bound])
    groups = complete.groupby(keys, sort=False, dropna=False)
    # the lower median, as in tables
    data = groups[[y, bound]].quantile(0.5, interpolation="lower").reset_index()
    data[[f"{y}_low", f"{y}_high"]] = groups[y].agg(["min", "max"]).to_numpy()
    # infinite if the bound is 0; then there is no text
    gap = 100 * (data[y] - data[bound]).abs() / data[bound].abs()
    data[GAP] = gap
    data[GAP_TEXT] = [f"{value:.0f} %" if np.isfinite(value) else "" for value in gap]
    return data.sort_values(keys, key=ranks, ignore_index=True)
