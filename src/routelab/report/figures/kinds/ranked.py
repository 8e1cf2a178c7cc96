"""Values in descending order, which show how evenly a network is used."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.ticker import PercentFormatter

from routelab.report.figures.drawing import Drawing
from routelab.report.figures.lines import COUNT, lines_of, share_column
from routelab.report.figures.panels import (
    add_legend,
    label_axes,
    panels_of,
    scale_axis,
    series_in,
)
from routelab.report.figures.request import FigureRequest


def draw_ranked(request: FigureRequest) -> Drawing | None:
    """Draw ``y`` of all channels (or terminals, runs), the largest first, for every ``hue``.

    The horizontal axis is the share of items with at least this value; pooled runs form a line.
    """
    lines, noun = lines_of(request, request.facets, {"y": request.y})
    return None if lines.empty else ranked_drawing(request, lines, noun)


def ranked_drawing(request: FigureRequest, lines: pd.DataFrame, noun: str) -> Drawing:
    """Draw lines in descending order; see `draw_ranked`.

    Parameters
    ----------
    request : FigureRequest
    lines : DataFrame
        Columns ``hue`` (and ``col``), ``y``, and `COUNT`, the number of items of a line.
    noun : str
        Noun for the items, in the plural.
    """
    y, hue, facets = request.y, request.hue, request.facets
    ranked = []
    for _, group in lines.groupby(facets, sort=False, dropna=False):
        descending = group.sort_values(y, ascending=False, kind="stable")
        shares = descending[COUNT].cumsum() / descending[COUNT].sum()
        ranked.append(descending.assign(**{share_column(y): shares}))
    data = pd.concat(ranked, ignore_index=True)[[*facets, y, COUNT, share_column(y)]]
    styles = request.series_styles(data)
    figure, panels = panels_of(request, data)
    for axis, panel_rows in panels:
        for style, series in series_in(request, panel_rows, styles):
            if series.empty:
                continue
            # An item covers the width from the share before it to its own, so the line begins
            # at 0 with the greatest value.
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
    across = f"share of {noun}, highest first"
    label_axes(panels, across, request.label(y))
    add_legend(figure, request, styles)
    text = f"{request.label(y)} of all {noun} in descending order, by {hue}."
    return Drawing(figure, data, text)
