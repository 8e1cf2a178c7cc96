"""Traffic matrices: a field for each pair of terminals that exchange messages."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection

from routelab.config import Figure as FigureSpec
from routelab.report.figures.drawing import Drawing
from routelab.report.figures.fields import (
    ColourScale,
    add_colour_bar,
    field_colours,
)
from routelab.report.figures.lines import lines_of
from routelab.report.figures.panels import panels_of, ranks
from routelab.report.frames.view import View
from routelab.report.labels import label

SENDER, RECEIVER, BLOCK = "sender", "receiver", "block"
MAX_VECTORS = 10_000
"""Largest number of fields that are drawn as vectors; more are drawn as one image."""


def draw_matrices(
    spec: FigureSpec, frames: View, pooled: Collection[str], place: str
) -> Drawing | None:
    """Draw the mean of ``colour`` over the runs of each ``col`` for all pairs of terminals.

    Rows send and columns receive. Pairs without messages stay blank, and the colour scale is
    logarithmic. The default of ``col`` is the workload. See `routelab.report.figures.draw_figure`
    for the parameters.
    """
    col, colour = spec.col or "workload", spec.colour or ""
    data = _means(spec, frames, pooled, col, place)
    if data.empty:
        return None
    scale = ColourScale.over(data[colour], log=True)
    block = int(data[BLOCK].max())
    most = int(data[[SENDER, RECEIVER]].max().max()) + block - 0.5
    figure, panels = panels_of(data, col, place, spec.of)
    is_large = len(data) > MAX_VECTORS
    for axis, here in panels:
        _draw_matrix(axis, here, colour, scale, as_image=is_large)
        axis.set(xlim=(-0.5, most), ylim=(most, -0.5), aspect="equal")
        axis.set_xlabel(label(RECEIVER, spec.of))
        axis.set_ylabel(label(SENDER, spec.of))
    title = label(colour, spec.of)
    add_colour_bar(figure, [axis for axis, _ in panels], scale, title)
    text = (
        f"Mean {title} from each terminal (row) to each other one (column), by "
        f"{label(col, spec.of)}. Pairs without messages are blank."
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
        cmap=field_colours(),
        norm=scale.norm,
        linewidth=0,
        rasterized=as_image,
    )
    axis.add_collection(fields)
    axis.grid(visible=False)
    axis.tick_params(length=0)


def _means(
    spec: FigureSpec, frames: View, pooled: Collection[str], col: str, place: str
) -> pd.DataFrame:
    """Return the mean over the runs of each panel; a run without a pair counts as zero."""
    colour = spec.colour or ""
    keys = [col, SENDER, RECEIVER, BLOCK]
    lines, _ = lines_of(spec, frames, pooled, keys, {"colour": colour}, place)
    lines = lines[lines[colour] > 0]
    runs = lines.groupby(col, sort=False, dropna=False)["run"].nunique()
    data = lines.groupby(keys, sort=False, dropna=False)[colour].sum().reset_index()
    data[colour] /= data[col].map(runs)
    return data.sort_values(keys, key=ranks, ignore_index=True)
