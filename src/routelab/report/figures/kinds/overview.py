"""Overview of runs: a number in each field of a grid, such as routings × traffic patterns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from routelab.config import Figure as FigureSpec
from routelab.report.figures.channel_looks import load_colours
from routelab.report.figures.drawing import Drawing
from routelab.report.figures.panels import PANELS_ACROSS, ordered_texts, panels_of, ranks
from routelab.report.figures.styles import INK
from routelab.report.frames.view import OK, View, key_text
from routelab.report.labels import label
from routelab.report.number_formats import column_format

LETTER, LINE = 0.085, 0.27
"""Width of a letter and height of a row of fields, in inches."""
DARK = 0.5
"""Largest brightness of a field with white text."""


def draw_overview(
    spec: FigureSpec, frames: View, pooled: Collection[str], place: str
) -> Drawing | None:
    """Draw the mean of ``colour`` at every ``x`` and ``y`` as a coloured field with the number.

    The best number of each ``x`` is bold, if ``y`` are routings. One panel for each ``col``. See
    `routelab.report.figures.draw_figure` for the parameters.
    """
    x, y, colour = spec.x or "", spec.y or "", spec.colour or ""
    data = _means(spec, frames, pooled, [*([spec.col] if spec.col else []), y, x], place)
    if data.empty:
        return None
    across, down = ordered_texts(data[x]), ordered_texts(data[y])
    form = column_format(colour, spec.of, data[colour])
    low = min(0.0, float(data[colour].min()))
    scale = Normalize(low, max(float(data[colour].max()), low + 1e-300))
    figure, panels = panels_of(data, spec.col, place, spec.of)
    _resize(figure, len(panels), across, down)
    better = frames.better.get(colour, "") if y == "routing" else ""
    for axis, here in panels:
        grid = np.full((len(down), len(across)), np.nan)
        rows = [down.index(key_text(value)) for value in here[y]]
        columns = [across.index(key_text(value)) for value in here[x]]
        grid[rows, columns] = here[colour]
        axis.pcolormesh(grid, norm=scale, cmap=load_colours(), edgecolor="white", linewidth=0.6)
        numbers = [[form.text(value) for value in line] for line in grid]
        best = {at: _best(grid[:, at], better, form.text) for at in set(columns)}
        for row, column in zip(rows, columns, strict=True):
            text = numbers[row][column]
            axis.text(
                column + 0.5,
                row + 0.5,
                text,
                ha="center",
                va="center",
                fontsize=7,
                fontweight="bold" if text == best[column] else "normal",
                color="white"
                if _brightness(load_colours()(scale(grid[row, column]))) < DARK
                else INK,
            )
        axis.set_ylim(len(down), 0)
        axis.grid(visible=False)
        axis.set_xticks(np.arange(len(across)) + 0.5, across, rotation=30, ha="right")
        axis.set_yticks(np.arange(len(down)) + 0.5, down)
        axis.tick_params(length=0, labelsize=8)
        axis.spines[:].set_visible(False)
    bar = figure.colorbar(
        ScalarMappable(scale, load_colours()),
        ax=[axis for axis, _ in panels],
        location="top",
        shrink=0.5,
        aspect=40,
    )
    bar.set_label(label(colour, spec.of))
    bar.outline.set_visible(False)
    axes = f"each {label(y, spec.of)} and {label(x, spec.of)}"
    text = f"Mean {label(colour, spec.of)} of {axes}."
    if better:
        text += f" The best of each {label(x, spec.of)} is bold."
    return Drawing(figure, data, text)


def _best(values: np.ndarray, better: str, text: Callable[[Any], str]) -> str | None:
    """Return the best of some values, as printed; None without a preferred direction."""
    if not better:
        return None
    return text(np.nanmin(values) if better == "lower" else np.nanmax(values))


def _brightness(colour: Sequence[float]) -> float:
    """Return the relative luminance of a colour, without gamma correction."""
    return float(np.dot(colour[:3], (0.299, 0.587, 0.114)))


def _resize(figure: Figure, panels: int, across: Sequence[str], down: Sequence[str]) -> None:
    """Give all fields room for their numbers, and panels for their names."""
    names = max(map(len, down))
    width = len(across) * 6.5 * LETTER + names * LETTER
    height = len(down) * LINE + max(map(len, across)) * LETTER * 0.6 + 0.4
    columns = min(panels, PANELS_ACROSS)
    figure.set_size_inches(width * columns + 0.4, height * -(-panels // columns) + 0.8)


def _means(
    spec: FigureSpec, frames: View, pooled: Collection[str], keys: list[str], place: str
) -> pd.DataFrame:
    jobs = frames.select(spec.where, pooled, place, spec.relative)
    jobs = jobs[jobs["status"] == OK].reset_index()
    colour = spec.colour or ""
    keys = list(dict.fromkeys(keys))
    columns = {name: frames.column(jobs, name, place) for name in keys}
    columns[colour] = frames.numbers(jobs, colour, place)
    found = pd.DataFrame(columns).dropna(subset=[colour])
    data = found.groupby(keys, sort=False, dropna=False)[[colour]].mean().reset_index()
    return data.sort_values(keys, key=ranks, ignore_index=True)
