"""Heat maps: a mean in every field of a grid, one colour scale for all panels."""

from __future__ import annotations

import numpy as np

from routelab.report.figures.drawing import Drawing
from routelab.report.figures.fields import ColourScale, add_colour_bar, draw_fields
from routelab.report.figures.lines import COUNT, lines_of
from routelab.report.figures.panels import ordered_texts, panels_of, ranks
from routelab.report.figures.request import FigureRequest
from routelab.report.rows.row_set import key_text

MAX_TICKS = 12
"""Largest number of places named along an axis; with more, every second, third, ... is named."""

MAX_LINES = 24
"""Largest number of places along an axis for which white lines separate the fields."""


def draw_heat(request: FigureRequest) -> Drawing | None:
    """Draw the mean of ``colour`` at every ``x`` and ``y``, in one panel for each ``col``."""
    x, y, colour, keys = request.x, request.y, request.colour, request.grid_keys
    lines, noun = lines_of(request, keys, {"colour": colour})
    if lines.empty:
        return None
    sums = lines.assign(total=lines[colour] * lines[COUNT]).groupby(keys, sort=False, dropna=False)
    data = sums[["total", COUNT]].sum().reset_index()
    data[colour] = data.pop("total") / data[COUNT]
    data = data.sort_values(keys, key=ranks, ignore_index=True)[[*keys, colour, COUNT]]
    across, up = ordered_texts(data[x]), ordered_texts(data[y])
    scale = ColourScale.over(data[colour])
    figure, panels = panels_of(request, data)
    between = 0.3 if max(len(up), len(across)) <= MAX_LINES else 0
    for axis, panel_rows in panels:
        grid = np.full((len(up), len(across)), np.nan)
        rows = [up.index(key_text(value)) for value in panel_rows[y]]
        columns = [across.index(key_text(value)) for value in panel_rows[x]]
        grid[rows, columns] = panel_rows[colour]
        draw_fields(axis, grid, scale, between)
        axis.set_xticks(*_ticks(across))
        axis.set_yticks(*_ticks(up))
        axis.set_xlabel(request.label(x))
        axis.set_ylabel(request.label(y))
    title = f"mean {request.label(colour)}"
    add_colour_bar(figure, [axis for axis, _ in panels], scale, title)
    axes = f"{request.label(x)} and {request.label(y)}"
    text = (
        f"Mean {request.label(colour)} of the {noun} at each {axes}, by {request.label(keys[0])}."
    )
    return Drawing(figure, data, text)


def _ticks(texts: list[str]) -> tuple[list[float], list[str]]:
    step = -(-len(texts) // MAX_TICKS)
    return [at + 0.5 for at in range(0, len(texts), step)], texts[::step]
