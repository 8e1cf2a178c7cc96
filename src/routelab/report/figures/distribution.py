"""Distributions of channels, packets, ...: shares with at most a value, and histograms."""

from __future__ import annotations

from collections.abc import Collection

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, PercentFormatter

from routelab.config import Figure as FigureSpec
from routelab.report.figures.drawing import Drawing
from routelab.report.figures.lines import COUNT, LOAD, lines_of
from routelab.report.figures.panels import (
    PANELS_ACROSS,
    add_legend,
    ordered_texts,
    panel_grid,
    panel_title,
    ranks,
    scale_axis,
)
from routelab.report.figures.styles import Looks
from routelab.report.frames.view import View, key_text
from routelab.report.labels import label

BINS = 40
"""Bins of a histogram of numbers that are not whole."""


def draw_distribution(
    spec: FigureSpec, frames: View, pooled: Collection[str], place: str, looks: Looks
) -> Drawing | None:
    """Draw the distribution of ``x`` for every ``hue``, a panel per ``col``; pool the pooled runs.

    Kind ``ecdf`` shows the share of values that are not larger. Kind ``histogram`` shows the share
    of each value: whole numbers have a bin each, other numbers `BINS` of equal width.
    ``x: load`` of tables is the load of every channel of every run; another ``x`` is a column of
    the runs, or of what ``of`` names.
    See `routelab.report.figures.draw_figure` for the parameters.
    """
    data, things = _shares(spec, frames, pooled, place)
    if data.empty:
        return None
    x = spec.x or LOAD
    hue, col = spec.hue or "routing", spec.col
    look = looks.of(hue, ordered_texts(data[hue]), place)
    texts = ordered_texts(data[col]) if col else [""]
    figure, axes = panel_grid(texts, place)
    whole = bool((data[x] % 1 == 0).all())
    is_cumulative = spec.kind == "ecdf"
    bins = {"binrange": (float(data[x].min()), float(data[x].max())), "bins": BINS}
    for i, (axis, text) in enumerate(zip(axes, texts, strict=True)):
        here = data[data[col].map(key_text) == text] if col else data
        for name, one in look.items():
            mine = here[here[hue].map(key_text) == name]
            if mine.empty:
                continue
            values = {"x": mine[x].to_numpy(float), "weights": mine[COUNT].to_numpy(float)}
            style = {"color": one.color, "linestyle": one.dashes, "linewidth": one.width}
            if is_cumulative:
                sns.ecdfplot(**values, **style, ax=axis)
            else:
                shape = {"stat": "probability", "element": "step", "fill": False}
                sns.histplot(**values, **style, **shape, **bins, discrete=whole, ax=axis)
        if is_cumulative:
            _limit(axis, here[x], spec)
        axis.set_title(panel_title(col, text, spec.of))
        axis.set_xlabel(f"{label(x, spec.of)}, at most" if is_cumulative else label(x, spec.of))
        axis.set_ylabel(f"share of {things}" if i % PANELS_ACROSS == 0 else "")
        axis.yaxis.set_major_formatter(PercentFormatter(1))
        if "x" not in spec.log:
            axis.xaxis.set_major_locator(MaxNLocator(6, integer=whole))
        scale_axis(axis, spec)
    add_legend(figure, look, hue, of=spec.of)
    which = "at most a given" if is_cumulative else "each"
    return Drawing(figure, data, f"Share of {things} with {which} {label(x, spec.of)}, by {hue}.")


def _limit(axis: Axes, values: pd.Series, spec: FigureSpec) -> None:
    """Set the limits of a cumulative share's axes, with a margin."""
    low, high = float(values.min()), float(values.max())
    margin = max(0.04 * (high - low), 0.5 if low == high else 0.0)
    if "x" not in spec.log:
        axis.set_xlim(low - margin, high + margin)
    axis.set_ylim(0, 1.03)


def _shares(
    spec: FigureSpec, frames: View, pooled: Collection[str], place: str
) -> tuple[pd.DataFrame, str]:
    """Return the count of each value, the share of values that are not larger, and their noun."""
    x = spec.x or LOAD
    facets = list(dict.fromkeys([spec.hue or "routing", *([spec.col] if spec.col else [])]))
    lines, things = lines_of(spec, frames, pooled, facets, {"x": x}, place)
    counts = lines.groupby([*facets, x], sort=False, dropna=False)[COUNT].sum().reset_index()
    counts = counts.sort_values([*facets, x], key=ranks, ignore_index=True)
    groups = counts.groupby(facets, sort=False, dropna=False)[COUNT]
    return counts.assign(share=groups.cumsum() / groups.transform("sum")), things
