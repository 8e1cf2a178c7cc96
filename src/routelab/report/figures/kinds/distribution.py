"""Distributions of channels, packets, ...: shares with at most a value, and histograms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, PercentFormatter

from routelab.report.figures.drawing import Drawing
from routelab.report.figures.lines import COUNT, lines_of, share_column
from routelab.report.figures.panels import (
    add_legend,
    label_axes,
    panels_of,
    ranks,
    scale_axis,
    series_in,
)
from routelab.report.figures.request import FigureRequest

BINS = 40
"""Bins of a histogram of numbers that are not whole."""


def draw_distribution(request: FigureRequest) -> Drawing | None:
    """Draw the distribution of ``x`` for every ``hue``, a panel per ``col``; pool the pooled runs.

    Kind ``ecdf`` shows the share of values that are not larger. Kind ``histogram`` shows the share
    of each value: whole numbers have a bin each, other numbers `BINS` of equal width.
    ``x: load`` of tables is the load of every channel of every run; another ``x`` is a column of
    the runs, or of what ``of`` names.
    """
    spec, x, hue, facets = request.spec, request.x, request.hue, request.facets
    # 1. Shares of the values of each series.
    values, noun = lines_of(request, facets, {"x": x})
    if values.empty:
        return None
    is_cumulative = spec.kind == "ecdf"
    data = _cumulative_shares(values, facets, x) if is_cumulative else _bins(values, facets, x)
    styles = request.series_styles(data)
    figure, panels = panels_of(request, data)
    for axis, panel_rows in panels:
        for style, series in series_in(request, panel_rows, styles):
            if not series.empty:
                line = {"color": style.color, "linestyle": style.dashes, "linewidth": style.width}
                (_draw_shares if is_cumulative else _draw_bins)(axis, series, x, line)
        scale_axis(axis, spec)
    # 2. Axes, whose limits all panels share with the first. A margin shows lines at the edge, also
    #    if all values are equal; a logarithmic axis has no room below its least value.
    if is_cumulative:
        first_axis = panels[0][0]
        low, high = float(values[x].min()), float(values[x].max())
        margin = max(0.04 * (high - low), 0.5 if low == high else 0.0)
        if "x" not in spec.log:
            first_axis.set_xlim(low - margin, high + margin)
        first_axis.set_ylim(0, 1.03)
    for axis, _ in panels:
        axis.yaxis.set_major_formatter(PercentFormatter(1))
        if "x" not in spec.log:
            axis.xaxis.set_major_locator(MaxNLocator(6, integer=_is_whole(values[x])))
    height = f"{'cumulative ' * is_cumulative}share of {noun}"
    label_axes(panels, request.label(x), height)
    add_legend(figure, request, styles)
    relation = "up to" if is_cumulative else "with"
    text = f"Distribution of {request.label(x)}: share of {noun} {relation} each value, by {hue}."
    return Drawing(figure, data, text)


def _draw_shares(axis: Axes, data: pd.DataFrame, x: str, style: dict[str, Any]) -> None:
    values, weights = (data[name].to_numpy(float) for name in (x, COUNT))
    sns.ecdfplot(x=values, weights=weights, **style, ax=axis)


def _draw_bins(axis: Axes, data: pd.DataFrame, x: str, style: dict[str, Any]) -> None:
    at, shares = (data[name].to_numpy(float) for name in (x, share_column(x)))
    sns.lineplot(x=at, y=shares, drawstyle="steps-mid", estimator=None, **style, ax=axis)


def _is_whole(values: pd.Series) -> bool:
    return bool((values % 1 == 0).all())


def _cumulative_shares(values: pd.DataFrame, facets: list[str], x: str) -> pd.DataFrame:
    """Return the count of each value and the share of values that are not larger."""
    counts = values.groupby([*facets, x], sort=False, dropna=False)[COUNT].sum().reset_index()
    counts = counts.sort_values([*facets, x], key=ranks, ignore_index=True)
    groups = counts.groupby(facets, sort=False, dropna=False)[COUNT]
    return counts.assign(**{share_column(x): groups.cumsum() / groups.transform("sum")})


def _bins(values: pd.DataFrame, facets: list[str], x: str) -> pd.DataFrame:
    """Return the count and the share of the values in each bin, by the middles of the bins.

    The bins of all series are the same; an empty one stands at both ends.
    """
    low, high = float(values[x].min()), float(values[x].max())
    if _is_whole(values[x]):
        width, number, lowest_middle = 1.0, int(high - low) + 1, low
    else:
        width, number = (high - low) / BINS or 1.0, BINS
        lowest_middle = low + width / 2
    middles = lowest_middle + width * np.arange(-1, number + 1)
    parts = []
    for key, group in values.groupby(facets, sort=False, dropna=False):
        at = (
            np.clip(np.floor((group[x] - lowest_middle) / width + 0.5).astype(int), 0, number - 1)
            + 1
        )
        counts = np.bincount(at, weights=group[COUNT], minlength=number + 2)
        shares = {x: middles, COUNT: counts, share_column(x): counts / counts.sum()}
        parts.append(pd.DataFrame({**dict(zip(facets, key, strict=True)), **shares}))
    return pd.concat(parts).sort_values([*facets, x], key=ranks, ignore_index=True)
