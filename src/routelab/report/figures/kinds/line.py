"""Lines: one value against another, through pooled runs."""

from __future__ import annotations

from statistics import fmean, median_low

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from routelab.report.figures.drawing import Drawing
from routelab.report.figures.panels import (
    add_legend,
    label_axes,
    label_categories,
    make_panels,
    ordered_texts,
    ranks,
    scale_axis,
    series_of_panel,
)
from routelab.report.figures.request import FigureRequest
from routelab.report.figures.styles import SeriesStyle
from routelab.report.figures.whiskers import interval_and_noise, value_label
from routelab.report.rows.row_set import key_text
from routelab.study.views import BENCHMARKS


def draw_lines(request: FigureRequest) -> Drawing | None:
    """Draw ``y`` against ``x`` as lines for every ``hue``, in one panel for each ``col``.

    The line goes through the lower median of all runs with one ``x``, and the band is their
    range, or the interval of a single measurement. If a parameter is pooled to the mean, the line
    goes through the mean and has no band.
    """
    data = _line_points(request)
    if data.empty:
        return None
    figure, _, _ = line_panels(request, data, value_label(request, request.y))
    x_label, y_label = request.label(request.x), request.label(request.y)
    return Drawing(figure, data, f"{y_label} against {x_label}, by {request.hue}.")


def line_panels(
    request: FigureRequest, data: pd.DataFrame, y_label: str
) -> tuple[Figure, list[tuple[Axes, pd.DataFrame]], dict[str, SeriesStyle]]:
    """Draw lines with bands from ``<y>_low`` to ``<y>_high``, a panel per ``col``.

    Parameters
    ----------
    request : FigureRequest
    data : DataFrame
        Columns ``hue`` (and ``col``), ``x``, ``y``, ``<y>_low`` and ``<y>_high``, a row per point,
        in the order of ``x``. Points without ``y`` are left out.
    y_label : str
        Label of the vertical axis.

    Returns
    -------
    figure : Figure
    panels : list of (Axes, DataFrame)
        Each panel with its rows of `data`.
    styles : dict of str to SeriesStyle
        Style of each series, by name.
    """
    spec, x, y = request.spec, request.x, request.y
    styles = request.series_styles(data)
    # 1. Lines and bands. Words along the horizontal axis stand at 0, 1, 2, ...
    categories = ordered_texts(data[x])
    are_words = not pd.api.types.is_numeric_dtype(data[x])
    is_integer = not are_words and bool((data[x] % 1 == 0).all())
    figure, panels = make_panels(request, data)
    for axis, panel_rows in panels:
        for style, series_rows in series_of_panel(request, panel_rows, styles):
            series = series_rows[series_rows[y].notna()]
            if series.empty:
                continue
            values = series[x].map(key_text).map(categories.index) if are_words else series[x]
            x_positions = values.to_numpy(float)
            sns.lineplot(
                x=x_positions,
                y=series[y].to_numpy(float),
                ax=axis,
                estimator=None,
                color=style.color,
                linestyle=style.dashes,
                linewidth=style.width,
                marker=style.marker,
                markersize=6,
            )
            low, high = (series[f"{y}_{end}"].to_numpy(float) for end in ("low", "high"))
            axis.fill_between(x_positions, low, high, color=style.color, alpha=0.15, lw=0)
        if not are_words and "x" not in spec.log:
            axis.xaxis.set_major_locator(MaxNLocator(6, integer=is_integer))
    # 2. Axes: the vertical one includes zero, or the lowest end of a band below it.
    least = float(np.nanmin([0.0, data[f"{y}_low"].astype(float).min()]))
    for axis, _ in panels:
        # a panel without any line has infinite limits
        if "y" not in spec.log and np.isfinite(axis.dataLim.x0):
            # Include the lowest number before the margin above is computed, which is a share of the
            # whole height: with a smaller one, marks of points at the top would be cut.
            axis.update_datalim([(axis.dataLim.x0, least)])
            axis.autoscale_view(scalex=False)
    # A second loop: all panels share the vertical axis, and a limit set for one of them ends the
    # automatic limits of all.
    for axis, _ in panels:
        if "y" not in spec.log:
            axis.set_ylim(bottom=least)
        scale_axis(axis, spec)
    if are_words:
        label_categories(panels, categories)
    label_axes(panels, request.label(x), y_label)
    add_legend(figure, request, styles, markers=True)
    return figure, panels, styles


def _line_points(request: FigureRequest) -> pd.DataFrame:
    """Return a row for each point: its keys, its value, both ends, and the number of its runs.

    Runs with the same keys (series, panel and ``x``) are one point; the ends are those of its band.
    """
    spec, keys, y = request.spec, request.keys, request.y
    runs = request.rows()
    values = pd.DataFrame(request.columns(runs, keys))
    values[y] = request.row_set.numbers(runs, y, f"{request.place}y: ")
    is_measurement = spec.of in BENCHMARKS
    rows = []
    for key, group in values.dropna(subset=[y]).groupby(keys, sort=False, dropna=False):
        numbers = group[y].tolist()
        if "mean" in spec.over.values():
            value = low = high = fmean(numbers)  # a band of no height
        else:
            value = median_low(numbers)
            low, high = min(numbers), max(numbers)
            if is_measurement:
                interval_low, interval_high, _ = interval_and_noise(runs.loc[group.index], y)
                if not np.isnan(interval_low):  # NaN for several runs, or without an interval
                    low, high = interval_low, interval_high
        rows.append((*key, value, low, high, len(numbers)))
    table = pd.DataFrame(rows, columns=[*keys, y, f"{y}_low", f"{y}_high", "runs"])
    return table.sort_values(keys, key=ranks, ignore_index=True)
