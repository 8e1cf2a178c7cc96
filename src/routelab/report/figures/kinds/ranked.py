"""Values in descending order, which show how evenly a network is used."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.ticker import PercentFormatter

from routelab.report.figures.drawing import Drawing
from routelab.report.figures.observations import COUNT, collect_observations, share_column
from routelab.report.figures.panels import (
    add_legend,
    label_axes,
    make_panels,
    scale_axis,
    series_of_panel,
)
from routelab.report.figures.request import FigureRequest


def draw_ranked(request: FigureRequest) -> Drawing | None:
    """Draw ``y`` of all channels (or terminals, runs), the largest first, for every ``hue``.

    The horizontal axis is the share of observations with at least this value. The observations of
    pooled runs form one line.
    """
    observations, noun = collect_observations(request, request.facets, {"y": request.y})
    return None if observations.empty else ranked_drawing(request, observations, noun)


def ranked_drawing(request: FigureRequest, observations: pd.DataFrame, noun: str) -> Drawing:
    """Draw values in descending order, a line for each ``hue``, a panel per ``col``.

    Parameters
    ----------
    request : FigureRequest
    observations : DataFrame
        Columns ``hue`` (and ``col``), ``y``, and `COUNT`, the number of observations of a row.
    noun : str
        Noun for the observations, in the plural.
    """
    y, hue, facets = request.y, request.hue, request.facets
    ranked = []
    for _, group in observations.groupby(facets, sort=False, dropna=False):
        descending = group.sort_values(y, ascending=False, kind="stable")
        shares = descending[COUNT].cumsum() / descending[COUNT].sum()
        ranked.append(descending.assign(**{share_column(y): shares}))
    data = pd.concat(ranked, ignore_index=True)[[*facets, y, COUNT, share_column(y)]]
    styles = request.series_styles(data)
    figure, panels = make_panels(request, data)
    for axis, panel_rows in panels:
        for style, series in series_of_panel(request, panel_rows, styles):
            if series.empty:
                continue
            # An observation covers the width from the share before it to its own, so the line
            # begins at 0 with the greatest value.
            axis.step(
                np.concatenate(([0.0], series[share_column(y)])),
                np.concatenate((series[y].iloc[:1], series[y])),
                where="pre",
                color=style.color,
                linestyle=style.dashes,
                linewidth=style.width,
            )
        scale_axis(axis, request.spec)
    first_axis = panels[0][0]
    first_axis.set_xlim(0, 1)
    if "y" not in request.spec.log:
        first_axis.set_ylim(bottom=min(0.0, float(data[y].min())))
    for axis, _ in panels:
        axis.xaxis.set_major_formatter(PercentFormatter(1))
    label_axes(panels, f"share of {noun}, highest first", request.label(y))
    add_legend(figure, request, styles)
    text = f"{request.label(y)} of all {noun} in descending order, by {hue}."
    return Drawing(figure, data, text)
