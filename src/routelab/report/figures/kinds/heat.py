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
from routelab.report.figures.observations import COUNT, collect_observations
from routelab.report.figures.panels import PANELS_ACROSS, make_panels, ordered_texts, ranks
from routelab.report.figures.request import FigureRequest
from routelab.report.figures.styles import INK
from routelab.report.number_formats import column_format
from routelab.report.rows.row_set import key_text
from routelab.study.views import PAIRS

MAX_TICKS = 12
"""Largest number of names along an axis; with more categories, each second or third has a name."""

MAX_LINES = 24
"""Largest number of categories along an axis for which white lines separate the fields."""

LETTER_WIDTH, ROW_HEIGHT = 0.085, 0.27
"""Width of a letter and height of a row of fields with numbers, in inches."""


def draw_heat(request: FigureRequest) -> Drawing | None:
    """Draw the mean of ``colour`` at every ``x`` and ``y``, in one panel for each ``col``."""
    if request.spec.of == PAIRS:
        return draw_pairs(request)
    x, y, colour, keys = request.x, request.y, request.colour, request.grid_keys
    # Rows that are runs give few fields, each with its number. Details, such as channels, give too
    # many fields for numbers.
    has_numbers = request.details_kind(colour) is None
    # 1. The mean of each field. A row can stand for several equal observations, `COUNT` of them.
    rows, noun = collect_observations(request, keys, {"colour": colour})
    if rows.empty:
        return None
    weighted = rows.assign(total=rows[colour] * rows[COUNT])
    fields = weighted.groupby(keys, sort=False, dropna=False)
    data = fields[["total", COUNT]].sum().reset_index()
    data[colour] = data.pop("total") / data[COUNT]
    data = data.sort_values(keys, key=ranks, ignore_index=True)
    data = data[[*keys, colour] if has_numbers else [*keys, colour, COUNT]]
    # 2. One grid for all panels: a field that has no value in one of them stays white there.
    x_texts, y_texts = ordered_texts(data[x]), ordered_texts(data[y])
    scale = ColourScale.over(data[colour])
    figure, panels = make_panels(request, data)
    if has_numbers:
        line_width = 0.6
    else:  # many small fields have no lines between them
        line_width = 0.3 if max(len(x_texts), len(y_texts)) <= MAX_LINES else 0.0
    for axis, panel_rows in panels:
        grid = np.full((len(y_texts), len(x_texts)), np.nan)
        grid_rows = [y_texts.index(key_text(value)) for value in panel_rows[y]]
        grid_columns = [x_texts.index(key_text(value)) for value in panel_rows[x]]
        grid[grid_rows, grid_columns] = panel_rows[colour]
        draw_fields(axis, grid, scale, line_width)
    # 3. A table with a number in each field, or names along both axes.
    title, row, column = map(request.label, (colour, y, x))
    if has_numbers:
        _fit_size_to_numbers(figure, len(panels), x_texts, y_texts)
        # the best is marked among routings only
        better = request.row_set.better.get(colour, "") if y == "routing" else ""
        _write_numbers(request, data, panels, scale, better)
        text = f"Mean {title} of each {row} and {column}."
        if better:
            text += f" The best of each {column} is bold."
    else:
        for axis, _ in panels:
            axis.set_xticks(*_ticks(x_texts))
            axis.set_yticks(*_ticks(y_texts))
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

    `data` has a row for each field, numbered from 0. `better`: preferred direction, ``lower`` or
    ``higher``, to make the best value of each ``x`` bold; empty if none is bold.
    """
    x, y, colour = request.x, request.y, request.colour
    x_texts, y_texts = ordered_texts(data[x]), ordered_texts(data[y])
    number_format = column_format(colour, request.spec.of, data[colour])
    texts = [number_format.text(value) for value in data[colour]]
    is_best = [False] * len(data)
    if better:
        # The best row of each `x` is given to all its rows. Texts are compared, so that values that
        # look equal to the best one are bold, too.
        column_keys = [x, request.col] if request.col else [x]
        columns = data.groupby(column_keys, sort=False, dropna=False)[colour]
        best_row = columns.transform("idxmin" if better == "lower" else "idxmax")
        is_best = [text == texts[best] for text, best in zip(texts, best_row, strict=True)]
    for axis, panel_rows in panels:
        # matplotlib counts the edges of fields, so the middle of field k is at k + 0.5
        fields = (panel_rows.index, panel_rows[x], panel_rows[y], panel_rows[colour])
        for index, column, row, value in zip(*fields, strict=True):
            axis.text(
                x_texts.index(key_text(column)) + 0.5,
                y_texts.index(key_text(row)) + 0.5,
                texts[index],
                ha="center",
                va="center",
                fontsize=7,
                fontweight="bold" if is_best[index] else "normal",
                color="white" if scale.is_dark(value) else INK,
            )
        axis.set_ylim(len(y_texts), 0)  # the first row on top
        axis.set_xticks(np.arange(len(x_texts)) + 0.5, x_texts, rotation=30, ha="right")
        axis.set_yticks(np.arange(len(y_texts)) + 0.5, y_texts)
        axis.tick_params(labelsize=8)


def _fit_size_to_numbers(
    figure: Figure, num_panels: int, x_texts: Sequence[str], y_texts: Sequence[str]
) -> None:
    """Make the figure so large that all fields have room for their numbers, and axes for names."""
    # A field is 6.5 letters wide. Names along x are rotated by 30°, so they need half their length
    # as height, and a little more: 0.6.
    panel_width = len(x_texts) * 6.5 * LETTER_WIDTH + max(map(len, y_texts)) * LETTER_WIDTH
    names_height = max(map(len, x_texts)) * LETTER_WIDTH * 0.6
    panel_height = len(y_texts) * ROW_HEIGHT + names_height + 0.4
    columns = min(num_panels, PANELS_ACROSS)
    rows = -(-num_panels // columns)  # rounded up
    figure.set_size_inches(panel_width * columns + 0.4, panel_height * rows + 0.8)


def _ticks(texts: list[str]) -> tuple[list[float], list[str]]:
    """Return positions and texts of at most `MAX_TICKS` names, evenly spaced."""
    step = -(-len(texts) // MAX_TICKS)  # rounded up
    return [number + 0.5 for number in range(0, len(texts), step)], texts[::step]
