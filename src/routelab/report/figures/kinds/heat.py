"""Heat maps: a mean in every field of a grid, one colour scale for all panels.

    of            x and y            panels      a field shows
    runs          columns            one         its number; the best of each x is bold
    details       columns            routings    its colour only, as there can be thousands
    flow-pairs    receiver, sender   workloads   a logarithmic colour, nothing without messages

Runs are read from the top, like a table; details from the bottom, like coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from routelab.report.figures.drawing import Drawing
from routelab.report.figures.fields import ColourScale, add_colour_bar, draw_fields
from routelab.report.figures.kinds.pairs import draw_pairs
from routelab.report.figures.lines import COUNT, lines_of
from routelab.report.figures.panels import PANELS_ACROSS, ordered_texts, panels_of, ranks
from routelab.report.figures.request import FigureRequest
from routelab.report.figures.styles import INK
from routelab.report.number_formats import column_format
from routelab.report.rows.row_set import key_text
from routelab.study.views import PAIRS

MAX_TICKS = 12
"""Largest number of places named along an axis; with more, every second, third, ... is named."""

MAX_LINES = 24
"""Largest number of places along an axis for which white lines separate the fields."""

LETTER, LINE = 0.085, 0.27
"""Width of a letter and height of a row of fields with numbers, in inches."""


def draw_heat(request: FigureRequest) -> Drawing | None:
    """Draw the mean of ``colour`` at every ``x`` and ``y``, in one panel for each ``col``."""
    if request.spec.of == PAIRS:
        return draw_pairs(request)
    x, y, colour, keys = request.x, request.y, request.colour, request.grid_keys
    has_numbers = request.details_of(colour) is None
    # 1. The mean of each field. Lines of details stand for several items, lines of runs for one.
    lines, noun = lines_of(request, keys, {"colour": colour})
    if lines.empty:
        return None
    sums = lines.assign(total=lines[colour] * lines[COUNT]).groupby(keys, sort=False, dropna=False)
    data = sums[["total", COUNT]].sum().reset_index()
    data[colour] = data.pop("total") / data[COUNT]
    data = data.sort_values(keys, key=ranks, ignore_index=True)
    data = data[[*keys, colour] if has_numbers else [*keys, colour, COUNT]]
    # 2. One grid for all panels: a field that has no value in one of them stays white there.
    across, along = ordered_texts(data[x]), ordered_texts(data[y])
    scale = ColourScale.over(data[colour])
    figure, panels = panels_of(request, data)
    border = 0.6 if has_numbers else 0.3 if max(len(across), len(along)) <= MAX_LINES else 0
    for axis, panel_rows in panels:
        grid = np.full((len(along), len(across)), np.nan)
        rows = [along.index(key_text(value)) for value in panel_rows[y]]
        columns = [across.index(key_text(value)) for value in panel_rows[x]]
        grid[rows, columns] = panel_rows[colour]
        draw_fields(axis, grid, scale, border)
    # 3. A table in words, or places with their axes.
    title, row, column = map(request.label, (colour, y, x))
    if has_numbers:
        _make_room(figure, len(panels), across, along)
        better = request.row_set.better.get(colour, "") if y == "routing" else ""
        _write_numbers(request, data, panels, scale, better)
        text = f"Mean {title} of each {row} and {column}."
        if better:
            text += f" The best of each {column} is bold."
    else:
        for axis, _ in panels:
            axis.set_xticks(*_ticks(across))
            axis.set_yticks(*_ticks(along))
            axis.set(xlabel=column, ylabel=row)
        text = (
            f"Mean {title} of the {noun} at each {column} and {row}, by {request.label(keys[0])}."
        )
        title = f"mean {title}"
    add_colour_bar(figure, [axis for axis, _ in panels], scale, title)
    return Drawing(figure, data, text)


def _write_numbers(
    request: FigureRequest,
    data: pd.DataFrame,
    panels: Sequence[tuple[Axes, pd.DataFrame]],
    scale: ColourScale,
    better: str,
) -> None:
    """Write all values in their fields, and all names at the axes, the first row on top.

    `better`: the preferred direction, to make the best value of each column bold; or nothing.
    """
    x, y, colour = request.x, request.y, request.colour
    across, along = ordered_texts(data[x]), ordered_texts(data[y])
    form = column_format(colour, request.spec.of, data[colour])
    texts = [form.text(value) for value in data[colour]]
    is_best = [False] * len(data)
    if better:
        # Values that look equal are all best, so texts are compared.
        groups = data.groupby([x, *filter(None, [request.col])], sort=False, dropna=False)[colour]
        best = groups.transform("idxmin" if better == "lower" else "idxmax")
        is_best = [text == texts[line] for text, line in zip(texts, best, strict=True)]
    for axis, panel_rows in panels:
        columns, rows, values = (panel_rows[name] for name in (x, y, colour))
        for line, column, row, value in zip(panel_rows.index, columns, rows, values, strict=True):
            axis.text(
                across.index(key_text(column)) + 0.5,
                along.index(key_text(row)) + 0.5,
                texts[line],
                ha="center",
                va="center",
                fontsize=7,
                fontweight="bold" if is_best[line] else "normal",
                color="white" if scale.is_dark(value) else INK,
            )
        axis.set_ylim(len(along), 0)
        axis.set_xticks(np.arange(len(across)) + 0.5, across, rotation=30, ha="right")
        axis.set_yticks(np.arange(len(along)) + 0.5, along)
        axis.tick_params(labelsize=8)


def _make_room(figure: Figure, panels: int, across: Sequence[str], along: Sequence[str]) -> None:
    """Give all fields room for their numbers, and panels for their names."""
    width = len(across) * 6.5 * LETTER + max(map(len, along)) * LETTER
    height = len(along) * LINE + max(map(len, across)) * LETTER * 0.6 + 0.4
    columns = min(panels, PANELS_ACROSS)
    figure.set_size_inches(width * columns + 0.4, height * -(-panels // columns) + 0.8)


def _ticks(texts: list[str]) -> tuple[list[float], list[str]]:
    """Return places and texts of at most `MAX_TICKS` names, evenly spaced."""
    step = -(-len(texts) // MAX_TICKS)
    return [at + 0.5 for at in range(0, len(texts), step)], texts[::step]
