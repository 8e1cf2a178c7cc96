"""Common parts of figures: panels, legends, axes and titles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator, StrMethodFormatter
from numpy.typing import NDArray

from routelab.api import InputError
from routelab.report.figures.request import FigureRequest
from routelab.report.figures.styles import INK, SeriesStyle
from routelab.report.labels import heading_parts
from routelab.report.rows.row_set import key_text, sort_texts
from routelab.study import Figure as FigureSpec

MAX_PANELS = 24
PANELS_ACROSS = 3
ROW_WIDTH = 10.5
"""Width of the panels of a row together, in inches; a page shows them at the width of its text."""
PANEL_HEIGHTS = {1: 4.4, 2: 3.7, 3: 2.9}
"""Height of a panel in inches, by the number of panels in a row."""
LETTERS_PER_INCH = 9.5
"""Letters of an axis label on an inch."""
HATCH_COLOUR = "white"
"""Colour of the patterns of bars and boxes; matplotlib draws them in the colour of the edge."""


def ordered_texts(values: pd.Series[Any]) -> list[str]:
    """Return distinct values as text: numbers ascending, words in order of appearance."""
    return sort_texts(values.map(key_text))


def ranks(values: pd.Series[Any]) -> pd.Series[Any]:
    """Return the position of each value in `ordered_texts`, as the key of `sort_values`."""
    rank_of = {text: rank for rank, text in enumerate(ordered_texts(values))}
    return values.map(lambda value: rank_of[key_text(value)])


def make_panels(
    request: FigureRequest, data: pd.DataFrame
) -> tuple[Figure, list[tuple[Axes, pd.DataFrame]]]:
    """Make a figure with a panel for each value of the column ``col``; without it, with one panel.

    There are at most `PANELS_ACROSS` panels in a row, and all share their scales.

    Returns
    -------
    figure : Figure
    panels : list of (Axes, DataFrame)
        Each panel, empty but for its title, with its rows of `data`.

    Raises
    ------
    InputError
        If there would be too many panels.
    """
    col = request.col
    texts = ordered_texts(data[col]) if col else [""]
    if len(texts) > MAX_PANELS:
        raise InputError(
            f"{request.place}{len(texts)} panels are more than {MAX_PANELS}; choose with 'where'"
        )
    columns = min(PANELS_ACROSS, len(texts))
    rows = -(-len(texts) // columns)  # rounded up
    # 0.6 inches for the legend
    figure = Figure(figsize=(ROW_WIDTH, PANEL_HEIGHTS[columns] * rows + 0.6), layout="constrained")
    axes = list(np.atleast_1d(figure.subplots(rows, columns, squeeze=False)).flat)
    for unused in axes[len(texts) :]:
        unused.set_axis_off()
    panels = []
    for axis, text in zip(axes[: len(texts)], texts, strict=True):
        if axis is not axes[0]:
            axis.sharex(axes[0])
            axis.sharey(axes[0])
        axis.set_title(panel_title(col, text, request.spec.of))
        panels.append((axis, data[data[col].map(key_text) == text] if col else data))
    return figure, panels


def series_of_panel(
    request: FigureRequest, panel_rows: pd.DataFrame, styles: Mapping[str, SeriesStyle]
) -> Iterator[tuple[SeriesStyle, pd.DataFrame]]:
    """Yield the style and the rows of each series in a panel, also of those without rows."""
    names = panel_rows[request.hue].map(key_text)
    for name, style in styles.items():
        yield style, panel_rows[names == name]


def side_by_side_positions(
    values: pd.Series[Any],
    categories: Sequence[str],
    *,
    series_number: int,
    series_width: float,
    total_width: float,
) -> NDArray[np.float64]:
    """Return the x positions of the marks of a series, if the series of a category stand in a row.

    Category k has its middle at x = k. Two series of width 0.4 have their marks at k − 0.2 and
    k + 0.2.

    Parameters
    ----------
    values : Series
        Category of each mark.
    categories : sequence of str
        Texts of all categories, from left to right.
    series_number : int
        Position of the series among all series, from 0.
    series_width, total_width : float
        Widths of a series and of all series, in units of the distance between categories.
    """
    middles = np.array([categories.index(key_text(value)) for value in values], dtype=float)
    return middles - total_width / 2 + series_width * (series_number + 0.5)


def add_legend(
    figure: Figure,
    request: FigureRequest,
    styles: dict[str, SeriesStyle],
    *,
    markers: bool = False,
    lines: bool = True,
    more: Sequence[Artist] = (),
) -> None:
    """Add one legend above all panels, with an entry for each series.

    The entry shows its line, its marker or both; an area with its pattern if neither is wanted.
    `more` has further entries.
    """
    # entries are drawn as lines or areas that have no points in the figure itself
    handles: list[Artist] = [
        Line2D(
            [],
            [],
            color=style.color,
            linestyle=style.dashes if lines else "",
            linewidth=style.width,
            marker=style.marker if markers else "",
            markersize=5,
            label=hue,
        )
        if lines or markers
        else Patch(
            facecolor=style.color, edgecolor=HATCH_COLOUR, linewidth=0, hatch=style.hatch, label=hue
        )
        for hue, style in styles.items()
    ]
    handles += more
    figure.legend(
        handles=handles,
        title=request.label(request.hue),
        loc="outside upper left",
        ncols=min(3, len(handles)),
        alignment="left",
        handlelength=3.2,
    )


def label_axes(panels: Sequence[tuple[Axes, pd.DataFrame]], x: str, y: str) -> None:
    """Name the horizontal axis of every panel, and the vertical axis of the first in each row."""
    columns = min(PANELS_ACROSS, len(panels))
    # labels break where they would be longer than the panel is wide or high
    x_label = fill(x, int(LETTERS_PER_INCH * ROW_WIDTH / columns))
    y_label = fill(y, int(LETTERS_PER_INCH * PANEL_HEIGHTS[columns]))
    for number, (axis, _) in enumerate(panels):
        axis.set_xlabel(x_label)
        axis.set_ylabel(y_label if number % columns == 0 else "")


def label_categories(
    panels: Sequence[tuple[Axes, pd.DataFrame]], categories: Sequence[str]
) -> None:
    """Write the categories along the horizontal axes, rotated if they would overlap."""
    letters_per_panel = LETTERS_PER_INCH * ROW_WIDTH / min(PANELS_ACROSS, len(panels))
    # each has as much room as the longest one, and a space
    is_crowded = len(categories) * (max(map(len, categories)) + 1) > letters_per_panel
    for axis, _ in panels:
        axis.set_xticks(range(len(categories)), categories)
        if is_crowded:
            for text in axis.get_xticklabels():
                text.set(rotation=30, horizontalalignment="right", rotation_mode="anchor")


def scale_axis(axis: Axes, spec: FigureSpec) -> None:
    """Make the axes in ``log`` logarithmic; draw the lines that ``mark`` and ``lines`` declare."""
    for name, set_scale, ticks in (
        ("x", axis.set_xscale, axis.xaxis),
        ("y", axis.set_yscale, axis.yaxis),
    ):
        if name in spec.log:
            set_scale("log")
            # ticks at 1, 2, 5, 10, 20, ..., written as such and not as powers of ten
            ticks.set_minor_locator(LogLocator(subs=(2, 5)))
            ticks.set_major_formatter(StrMethodFormatter("{x:g}"))
            ticks.set_minor_formatter(StrMethodFormatter("{x:g}"))
    if spec.mark is not None:
        axis.axhline(spec.mark, color=INK, linewidth=1.0, linestyle=(0, (4, 3)), zorder=1)
    for value in spec.lines:
        axis.axvline(value, color=INK, linewidth=1.0, linestyle=(0, (4, 3)), zorder=1)


def by_text(request: FigureRequest) -> str:
    """Return what the categories along ``x`` and the colours stand for: ``by size and routing``."""
    return f"by {' and '.join(dict.fromkeys(map(request.label, (request.x, request.hue))))}"


def panel_title(column: str, text: str, of: str = "routes") -> str:
    """Return the title of the panel of one value, such as ``32 nodes``, ``dor`` or ``dims 4x2``.

    It is empty without a column: the figure has a single panel.
    """
    if not column:
        return ""
    if column == "nodes":
        return f"{text} nodes"
    # the values of these columns are names
    if column in ("routing", "topology", "traffic", "workload", "benchmark"):
        return text
    heading, unit = heading_parts(column, of)
    return f"{heading} {text} {unit}".rstrip()
