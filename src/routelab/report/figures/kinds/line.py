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
    name_places,
    ordered_texts,
    panels_of,
    ranks,
    scale_axis,
    series_in,
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
    data = _pool_runs(request)
    if data.empty:
        return None
    figure, _, _ = line_panels(request, data, value_label(request, request.y))
    across, up = request.label(request.x), request.label(request.y)
    return Drawing(figure, data, f"{up} against {across}, by {request.hue}.")


def line_panels(
    request: FigureRequest, data: pd.DataFrame, height: str
) -> tuple[Figure, list[tuple[Axes, pd.DataFrame]], dict[str, SeriesStyle]]:
    """Draw lines with bands; return the figure, its panels with their data, and the looks.

    Parameters
    ----------
    request : FigureRequest
    data : DataFrame
        Facets, ``x``, ``y``, ``<y>_low`` and ``<y>_high``, in the order of ``x``; lines have a
        gap where ``y`` is missing.
    height : str
        Label of the vertical axis.
    """
    spec, x, y = request.spec, request.x, request.y
    styles = request.series_styles(data)
    # 1. Lines and bands. Words along the horizontal axis are at their positions.
    places = ordered_texts(data[x])
    words = not pd.api.types.is_numeric_dtype(data[x])
    is_integer = not words and bool((data[x] % 1 == 0).all())
    figure, panels = panels_of(request, data)
    for axis, panel_rows in panels:
        for style, series_rows in series_in(request, panel_rows, styles):
            series = series_rows[series_rows[y].notna()]
            if series.empty:
                continue
            at = series[x].map(key_text).map(places.index) if words else series[x]
            sns.lineplot(
                x=at.to_numpy(float),
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
            axis.fill_between(at.to_numpy(float), low, high, color=style.color, alpha=0.15, lw=0)
        if not words and "x" not in spec.log:
            axis.xaxis.set_major_locator(MaxNLocator(6, integer=is_integer))
    # 2. Axes: the vertical one includes zero, or the lowest end of a band below it.
    least = float(np.nanmin([0.0, data[f"{y}_low"].astype(float).min()]))
    for axis, _ in panels:
        if "y" not in spec.log and np.isfinite(axis.dataLim.x0):
            # the margin above is a share of the whole height; or marks at the top are cut
            axis.update_datalim([(axis.dataLim.x0, least)])
            axis.autoscale_view(scalex=False)
    for axis, _ in panels:
        if "y" not in spec.log:
            axis.set_ylim(bottom=least)
        scale_axis(axis, spec)
    if words:
        name_places(panels, places)
    label_axes(panels, request.label(x), height)
    add_legend(figure, request, styles, markers=True)
    return figure, panels, styles


def _pool_runs(request: FigureRequest) -> pd.DataFrame:
    """Return a line for each point: its keys, its value, both ends, and the number of its runs."""
    spec, keys, y = request.spec, request.keys, request.y
    jobs = request.rows()
    values = pd.DataFrame(request.columns(jobs, keys))
    values[y] = request.row_set.numbers(jobs, y, f"{request.place}y: ")
    is_measurement = spec.of in BENCHMARKS
    rows = []
    for key, group in values.dropna(subset=[y]).groupby(keys, sort=False, dropna=False):
        numbers = group[y].tolist()
        if "mean" in spec.over.values():
            rows.append((*key, fmean(numbers), fmean(numbers), fmean(numbers), len(numbers)))
        else:
            low, high, _ = interval_and_noise(jobs.loc[group.index], y if is_measurement else "")
            ends = (min(numbers), max(numbers)) if np.isnan(low) else (low, high)
            rows.append((*key, median_low(numbers), *ends, len(numbers)))
    table = pd.DataFrame(rows, columns=[*keys, y, f"{y}_low", f"{y}_high", "runs"])
    return table.sort_values(keys, key=ranks, ignore_index=True)
