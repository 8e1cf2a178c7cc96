"""Overview of runs: a number in each field of a grid, such as routings × traffic patterns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from routelab.report.figures.drawing import Drawing
from routelab.report.figures.fields import ColourScale, add_colour_bar, draw_fields
from routelab.report.figures.panels import (
    PANELS_ACROSS,
    ordered_texts,
    panels_of,
    ranks,
)
from routelab.report.figures.request import FigureRequest
from routelab.report.figures.styles import INK
from routelab.report.number_formats import column_format
from routelab.report.rows.row_set import key_text

LETTER, LINE = 0.085, 0.27
"""Width of a letter and height of a row of fields, in inches."""


def draw_overview(request: FigureRequest) -> Drawing | None:
    """Draw the mean of ``colour`` at every ``x`` and ``y`` as a coloured field with the number.

    The best number of each ``x`` is bold, if ``y`` are routings. One panel for each ``col``.
    """
    x, y, colour = request.x, request.y, request.colour
    data = _means(request)
    if data.empty:
        return None
    across, down = ordered_texts(data[x]), ordered_texts(data[y])
    form = column_format(colour, request.spec.of, data[colour])
    scale = ColourScale.over(data[colour])
    figure, panels = panels_of(request, data)
    _resize(figure, len(panels), across, down)
    texts = [form.text(value) for value in data[colour]]
    better = request.row_set.better.get(colour, "") if y == "routing" else ""
    best = _best(data, [x, *filter(None, [request.col])], colour, texts, better)
    for axis, panel_rows in panels:
        grid = np.full((len(down), len(across)), np.nan)
        rows = [down.index(key_text(value)) for value in panel_rows[y]]
        columns = [across.index(key_text(value)) for value in panel_rows[x]]
        grid[rows, columns] = panel_rows[colour]
        draw_fields(axis, grid, scale, 0.6)
        for row, column, line in zip(rows, columns, panel_rows.index, strict=True):
            axis.text(
                column + 0.5,
                row + 0.5,
                texts[line],
                ha="center",
                va="center",
                fontsize=7,
                fontweight="bold" if best[line] else "normal",
                color="white" if scale.is_dark(grid[row, column]) else INK,
            )
        axis.set_ylim(len(down), 0)
        axis.set_xticks(np.arange(len(across)) + 0.5, across, rotation=30, ha="right")
        axis.set_yticks(np.arange(len(down)) + 0.5, down)
        axis.tick_params(labelsize=8)
    title = request.label(colour)
    add_colour_bar(figure, [axis for axis, _ in panels], scale, title)
    text = f"Mean {title} of each {request.label(y)} and {request.label(x)}."
    if better:
        text += f" The best of each {request.label(x)} is bold."
    return Drawing(figure, data, text)


def _best(
    data: pd.DataFrame, keys: list[str], colour: str, texts: list[str], better: str
) -> list[bool]:
    """Return whether each value is the best one with its keys, as printed."""
    if not better:
        return [False] * len(data)
    groups = data.groupby(keys, sort=False, dropna=False)[colour]
    best = groups.transform("idxmin" if better == "lower" else "idxmax")
    return [text == texts[at] for text, at in zip(texts, best, strict=True)]


def _resize(figure: Figure, panels: int, across: Sequence[str], down: Sequence[str]) -> None:
    """Give all fields room for their numbers, and panels for their names."""
    names = max(map(len, down))
    width = len(across) * 6.5 * LETTER + names * LETTER
    height = len(down) * LINE + max(map(len, across)) * LETTER * 0.6 + 0.4
    columns = min(panels, PANELS_ACROSS)
    figure.set_size_inches(width * columns + 0.4, height * -(-panels // columns) + 0.8)


def _means(request: FigureRequest) -> pd.DataFrame:
    keys, colour = request.grid_keys, request.colour
    rows = request.rows()
    columns = request.columns(rows, keys) | request.numbers(rows, colour)
    values = pd.DataFrame(columns).dropna(subset=[colour])
    data = values.groupby(keys, sort=False, dropna=False)[[colour]].mean().reset_index()
    return data.sort_values(keys, key=ranks, ignore_index=True)
