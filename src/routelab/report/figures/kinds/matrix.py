"""Traffic matrices: a field for each pair of terminals that exchange messages."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection

from routelab.report.figures.channel_styles import scale_map
from routelab.report.figures.drawing import Drawing
from routelab.report.figures.fields import (
    ColourScale,
    add_colour_bar,
)
from routelab.report.figures.lines import lines_of
from routelab.report.figures.panels import panels_of, ranks
from routelab.report.figures.request import FigureRequest

SENDER, RECEIVER, BLOCK = "sender", "receiver", "block"
MAX_VECTORS = 10_000
"""Largest number of fields that are drawn as vectors; more are drawn as one image."""


def draw_matrices(request: FigureRequest) -> Drawing | None:
    """Draw the mean of ``colour`` over the runs of each ``col`` for all pairs of terminals.

    Rows send and columns receive. Pairs without messages stay blank, and the colour scale is
    logarithmic. The default of ``col`` is the workload.
    """
    colour = request.colour
    data = _means(request)
    if data.empty:
        return None
    scale = ColourScale.over(data[colour], log=True)
    block = int(data[BLOCK].max())
    end = int(data[[SENDER, RECEIVER]].max().max()) + block - 0.5
    figure, panels = panels_of(request, data)
    is_large = len(data) > MAX_VECTORS
    for axis, panel_rows in panels:
        _draw_matrix(axis, panel_rows, colour, scale, as_image=is_large)
        axis.set(xlim=(-0.5, end), ylim=(end, -0.5), aspect="equal")
        axis.set_xlabel(request.label(RECEIVER))
        axis.set_ylabel(request.label(SENDER))
    title = request.label(colour)
    add_colour_bar(figure, [axis for axis, _ in panels], scale, title)
    text = (
        f"Mean {title} from each terminal (row) to each other one (column), by "
        f"{request.label(request.col)}. Pairs without messages are blank."
    )
    if block > 1:
        text += f" A field stands for blocks of {block} terminals."
    return Drawing(figure, data, text, on_paper=is_large)


def _draw_matrix(
    axis: Axes, data: pd.DataFrame, colour: str, scale: ColourScale, *, as_image: bool
) -> None:
    """Draw a square for each pair; an image of many squares keeps files small."""
    corners = data[[RECEIVER, SENDER]].to_numpy(float)[:, np.newaxis, :] - 0.5
    square = np.array([(0, 0), (1, 0), (1, 1), (0, 1)])
    sides = data[BLOCK].to_numpy(float)[:, np.newaxis, np.newaxis]
    fields = PolyCollection(
        list(corners + sides * square),
        array=data[colour].to_numpy(float),
        cmap=scale_map(),
        norm=scale.norm,
        linewidth=0,
        rasterized=as_image,
    )
    axis.add_collection(fields)
    axis.grid(visible=False)
    axis.tick_params(length=0)


def _means(request: FigureRequest) -> pd.DataFrame:
    """Return the mean over the runs of each panel; a run without a pair counts as zero."""
    col, colour = request.col, request.colour
    keys = [col, SENDER, RECEIVER, BLOCK]
    lines, _ = lines_of(request, keys, {"colour": colour})
    lines = lines[lines[colour] > 0]
    runs = lines.groupby(col, sort=False, dropna=False)["run"].nunique()
    data = lines.groupby(keys, sort=False, dropna=False)[colour].sum().reset_index()
    data[colour] /= data[col].map(runs)
    return data.sort_values(keys, key=ranks, ignore_index=True)
