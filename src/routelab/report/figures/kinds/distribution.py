"""Distributions of channels, packets, ...: shares with at most a value, and histograms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, PercentFormatter

from routelab.report.figures.drawing import Drawing
from routelab.report.figures.observations import COUNT, collect_observations, share_column
from routelab.report.figures.panels import (
    add_legend,
    label_axes,
    make_panels,
    ranks,
    scale_axis,
    series_of_panel,
)
from routelab.report.figures.request import FigureRequest

BINS = 40
"""Bins of a histogram of numbers that are not whole."""


def draw_distribution(request: FigureRequest) -> Drawing | None:
    """Draw the distribution of ``x`` for every ``hue``, in one panel for each ``col``.

    Kind ``ecdf`` shows the share of observations that are not larger. Kind ``histogram`` shows the
    share of each value: whole numbers have a bin each, other numbers `BINS` of equal width. The
    observations of pooled runs form one distribution.
    """
    spec, x, hue, facets = request.spec, request.x, request.hue, request.facets
    # 1. Shares of the values of each series.
    observations, noun = collect_observations(request, facets, {"x": x})
    if observations.empty:
        return None
    is_cumulative = spec.kind == "ecdf"
    compute_shares = _cumulative_shares if is_cumulative else _bin_shares
    draw_series = _draw_cumulative_shares if is_cumulative else _draw_bins
    data = compute_shares(observations, facets, x)
    styles = request.series_styles(data)
    figure, panels = make_panels(request, data)
    for axis, panel_rows in panels:
        for style, series in series_of_panel(request, panel_rows, styles):
            if not series.empty:
                line = {"color": style.color, "linestyle": style.dashes, "linewidth": style.width}
                draw_series(axis, series, x, line)
        scale_axis(axis, spec)
    # 2. Axes, whose limits all panels share with the first. A margin shows lines at the edge, also
    #    if all values are equal; but a margin could reach below 0, so none on a logarithmic axis.
    if is_cumulative:
        first_axis = panels[0][0]
        low, high = float(observations[x].min()), float(observations[x].max())
        margin = 0.04 * (high - low) if low < high else 0.5
        if "x" not in spec.log:
            first_axis.set_xlim(low - margin, high + margin)
        first_axis.set_ylim(0, 1.03)
    for axis, _ in panels:
        axis.yaxis.set_major_formatter(PercentFormatter(1))
        if "x" not in spec.log:
            axis.xaxis.set_major_locator(MaxNLocator(6, integer=_is_whole(observations[x])))
    y_label = f"cumulative share of {noun}" if is_cumulative else f"share of {noun}"
    label_axes(panels, request.label(x), y_label)
    add_legend(figure, request, styles)
    relation = "up to" if is_cumulative else "with"
    text = f"Distribution of {request.label(x)}: share of {noun} {relation} each value, by {hue}."
    return Drawing(figure, data, text)


def _draw_cumulative_shares(axis: Axes, data: pd.DataFrame, x: str, style: dict[str, Any]) -> None:
    values, weights = (data[name].to_numpy(float) for name in (x, COUNT))
    sns.ecdfplot(x=values, weights=weights, **style, ax=axis)


def _draw_bins(axis: Axes, data: pd.DataFrame, x: str, style: dict[str, Any]) -> None:
    middles, shares = (data[name].to_numpy(float) for name in (x, share_column(x)))
    sns.lineplot(x=middles, y=shares, drawstyle="steps-mid", estimator=None, **style, ax=axis)


def _is_whole(values: pd.Series) -> bool:
    return bool((values % 1 == 0).all())


def _cumulative_shares(observations: pd.DataFrame, facets: list[str], x: str) -> pd.DataFrame:
    """Return a row for each value of a series: its count, and the share that is not larger."""
    counts = observations.groupby([*facets, x], sort=False, dropna=False)[COUNT].sum().reset_index()
    counts = counts.sort_values([*facets, x], key=ranks, ignore_index=True)
    series_counts = counts.groupby(facets, sort=False, dropna=False)[COUNT]
    shares = series_counts.cumsum() / series_counts.transform("sum")
    return counts.assign(**{share_column(x): shares})


def _bin_shares(observations: pd.DataFrame, facets: list[str], x: str) -> pd.DataFrame:
    """Return a row for each bin of a series: its middle, its count and its share.

    The bins of all series are the same. An empty one at both ends brings the line down to 0.
    """
    # 1. The bins. Each whole number has a bin of width 1 with the number in its middle. Bins of
    #    other numbers divide the range of values. An empty bin is added below (−1) and above.
    low, high = float(observations[x].min()), float(observations[x].max())
    if _is_whole(observations[x]):
        width, num_bins, lowest_middle = 1.0, int(high - low) + 1, low
    else:
        width, num_bins = (high - low) / BINS or 1.0, BINS  # 1 if all values are equal
        lowest_middle = low + width / 2
    middles = lowest_middle + width * np.arange(-1, num_bins + 1)
    # 2. The observations in each bin of each series.
    histograms = []
    for key, series in observations.groupby(facets, sort=False, dropna=False):
        # The greatest value is the upper edge of the last bin, and belongs to it.
        bin_number = np.floor((series[x] - lowest_middle) / width + 0.5).astype(int)
        bin_number = np.clip(bin_number, 0, num_bins - 1)
        # Moved up by 1, because entry 0 is the empty bin below. A row may stand for several
        # observations, COUNT of them.
        counts = np.bincount(bin_number + 1, weights=series[COUNT], minlength=num_bins + 2)
        columns = {x: middles, COUNT: counts, share_column(x): counts / counts.sum()}
        histograms.append(pd.DataFrame({**dict(zip(facets, key, strict=True)), **columns}))
    return pd.concat(histograms).sort_values([*facets, x], key=ranks, ignore_index=True)
