"""Heat maps of traffic: a field for each pair of terminals that exchange messages.

Rows send and columns receive, and the colour scale is logarithmic. In large networks, a field is
that of two blocks of consecutive terminals. Above `MAX_VECTORS` fields the file has an image
instead of squares, which keeps it small.
"""

from __future__ import annotations

import numpy as np
from matplotlib.collections import PolyCollection

from routelab.report.figures.channel_styles import scale_map
from routelab.report.figures.drawing import Drawing
from routelab.report.figures.fields import ColourScale, add_colour_bar
from routelab.report.figures.observations import collect_observations
from routelab.report.figures.panels import make_panels, ranks
from routelab.report.figures.request import FigureRequest

SENDER, RECEIVER, BLOCK_SIZE = "sender", "receiver", "block"
"""Columns with the first terminal of the block that sends, of the one that receives, and the number
of terminals in each."""
MAX_VECTORS = 10_000
"""Largest number of fields that are drawn as vectors; more are drawn as one image."""


def draw_pairs(request: FigureRequest) -> Drawing | None:
    """Draw the mean of ``colour`` over the runs of each ``col`` for all pairs of terminals."""
    col, colour = request.col, request.colour
    # 1. The mean over the runs of a panel. A run in which a pair exchanges nothing counts as zero,
    #    so the sum of the pair is divided by the number of all runs that have any messages.
    keys = [col, SENDER, RECEIVER, BLOCK_SIZE]
    rows, _ = collect_observations(request, keys, {"colour": colour})
    rows = rows[rows[colour] > 0]
    if rows.empty:
        return None
    num_runs = rows.groupby(col, sort=False, dropna=False)["run"].nunique()
    data = rows.groupby(keys, sort=False, dropna=False)[colour].sum().reset_index()
    data[colour] /= data[col].map(num_runs)
    data = data.sort_values(keys, key=ranks, ignore_index=True)
    # 2. A square for each pair, and not a grid: most pairs of a large network are blank, and
    #    networks of different sizes have blocks of different sizes.
    scale = ColourScale.over(data[colour], log=True)
    is_large = len(data) > MAX_VECTORS
    # Terminal k reaches from k - 0.5 to k + 0.5, and a block from the beginning of its first
    # terminal to the end of its last one.
    largest_block = int(data[BLOCK_SIZE].max())
    axis_end = int(data[[SENDER, RECEIVER]].max().max()) + largest_block - 0.5
    unit_square = np.array([(0, 0), (1, 0), (1, 1), (0, 1)])
    figure, panels = make_panels(request, data)
    for axis, panel_rows in panels:
        # first corner and length of the side of each square; squares have shape (k, 4 corners, 2)
        corners = panel_rows[[RECEIVER, SENDER]].to_numpy(float)[:, np.newaxis, :] - 0.5
        sides = panel_rows[BLOCK_SIZE].to_numpy(float)[:, np.newaxis, np.newaxis]
        squares = PolyCollection(
            list(corners + sides * unit_square),
            array=panel_rows[colour].to_numpy(float),
            cmap=scale_map(),
            norm=scale.norm,
            linewidth=0,
            rasterized=is_large,
        )
        axis.add_collection(squares)
        axis.grid(visible=False)
        axis.tick_params(length=0)
        axis.set(xlim=(-0.5, axis_end), ylim=(axis_end, -0.5), aspect="equal")  # sender 0 on top
        axis.set(xlabel=request.label(RECEIVER), ylabel=request.label(SENDER))
    title = request.label(colour)
    add_colour_bar(figure, [axis for axis, _ in panels], scale, title)
    text = (
        f"Mean {title} from each terminal (row) to each other one (column), by "
        f"{request.label(col)}. Pairs without messages are blank."
    )
    if largest_block > 1:
        text += f" A field stands for blocks of {largest_block} terminals."
    return Drawing(figure, data, text, on_paper=is_large)
