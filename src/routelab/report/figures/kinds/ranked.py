"""Values in descending order, which show how evenly a network is used."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pandas as pd
from matplotlib.ticker import PercentFormatter

from routelab.config import Figure as FigureSpec
from routelab.report.figures.drawing import Drawing
from routelab.report.figures.lines import COUNT, lines_of, share_column
from routelab.report.figures.panels import (
    add_legend,
    label_axes,
    ordered_texts,
    panels_of,
    scale_axis,
)
from routelab.report.figures.styles import Looks
from routelab.report.frames.view import View, key_text
from routelab.report.labels import label


def draw_ranked(
    spec: FigureSpec, frames: View, pooled: Collection[str], place: str, looks: Looks
) -> Drawing | None:
    """Draw ``y`` of all channels (or terminals, runs), the largest first, for every ``hue``.

    The horizontal axis is the share of items with at least this value; pooled runs form one
    line. See `routelab.report.figures.draw_figure` for the parameters.
    """
    y, hue, col = spec.y or "", spec.hue or "routing", spec.col
    facets = list(dict.fromkeys([hue, *([col] if col else [])]))
    lines, things = lines_of(spec, frames, pooled, facets, {"y": y}, place)
    return None if lines.empty else ranked_drawing(lines, things, spec, place, looks)


def ranked_drawing(
    lines: pd.DataFrame, things: str, spec: FigureSpec, place: str, looks: Looks
) -> Drawing:
    """Draw lines in descending order; see `draw_ranked`.

    Parameters
    ----------
    lines : DataFrame
        Columns ``hue`` (and ``col``), ``y``, and `COUNT`, the number of items of a line.
    things : str
        Noun for the items, in the plural.
    spec : FigureSpec
    place : str
        Prefix of messages: where the figure is declared.
    looks : Looks
    """
    y, hue, col = spec.y or "", spec.hue or "routing", spec.col
    facets = list(dict.fromkeys([hue, *([col] if col else [])]))
    data = pd.concat(
        [
            _in_descending_order(group, y)
            for _, group in lines.groupby(facets, sort=False, dropna=False)
        ],
        ignore_index=True,
    )[[*facets, y, COUNT, share_column(y)]]
    look = looks.of(hue, ordered_texts(data[hue]), place)
    figure, panels = panels_of(data, col, place, spec.of)
    for axis, here in panels:
        for name, one in look.items():
            mine = here[here[hue].map(key_text) == name]
            if mine.empty:
                continue
            axis.step(
                np.concatenate(([0.0], mine[share_column(y)])),
                np.concatenate((mine[y].iloc[:1], mine[y])),
                where="pre",
                color=one.color,
                linestyle=one.dashes,
                linewidth=one.width,
            )
        scale_axis(axis, spec)
    first = panels[0][0]
    first.set_xlim(0, 1)
    if "y" not in spec.log:
        first.set_ylim(bottom=min(0.0, float(data[y].min())))
    for axis, _ in panels:
        axis.xaxis.set_major_formatter(PercentFormatter(1))
    across = f"share of {things}, highest first"
    label_axes(panels, across, label(y, spec.of))
    add_legend(figure, look, hue, of=spec.of)
    text = f"{label(y, spec.of)} of all {things} in descending order, by {hue}."
    return Drawing(figure, data, text)


def _in_descending_order(group: pd.DataFrame, y: str) -> pd.DataFrame:
    group = group.sort_values(y, ascending=False, kind="stable")
    return group.assign(**{share_column(y): group[COUNT].cumsum() / group[COUNT].sum()})
