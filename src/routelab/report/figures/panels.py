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
WIDTH = 10.5
"""Width of the panels of a row together, in inches; a page shows them at the width of its text."""
HEIGHTS = {1: 4.4, 2: 3.7, 3: 2.9}
"""Height of a panel in inches, by the number of panels in a row."""
LETTERS = 9.5
"""Letters of an axis label on an inch."""
EDGE = "white"
"""Of hatches."""


def ordered_texts(values: pd.Series[Any]) -> list[str]:
    """Return distinct values as text: numbers ascending, words in order of appearance."""
    return sort_texts(values.map(key_text))


def ranks(values: pd.Series[Any]) -> pd.Series[Any]:
    """Return the position of each value in `ordered_texts`, for sorting."""
    places = {text: place for place, text in enumerate(ordered_texts(values))}
    return values.map(lambda value: places[key_text(value)])


def panels_of(
    request: FigureRequest, data: pd.DataFrame
) -> tuple[Figure, list[tuple[Axes, pd.DataFrame]]]:
    """Make a figure with a titled panel and its rows for each value of its panels' column, if any.

    There are at most `PANELS_ACROSS` in a row, and all share their scales.

    Raises
    ------
    InputError
        If there would be too many.
    """
    col = request.col
    texts = ordered_texts(data[col]) if col else [""]
    if len(texts) > MAX_PANELS:
        raise InputError(
            f"{request.place}{len(texts)} panels are more than {MAX_PANELS}; choose with 'where'"
        )
    across = min(PANELS_ACROSS, len(texts))
    down = -(-len(texts) // across)
    figure = Figure(figsize=(WIDTH, HEIGHTS[across] * down + 0.6), layout="constrained")
    axes = list(np.atleast_1d(figure.subplots(down, across, squeeze=False)).flat)
    for spare in axes[len(texts) :]:
        spare.set_axis_off()
    panels = []
    for axis, text in zip(axes[: len(texts)], texts, strict=True):
        if axis is not axes[0]:
            axis.sharex(axes[0])
            axis.sharey(axes[0])
        axis.set_title(panel_title(col, text, request.spec.of))
        panels.append((axis, data[data[col].map(key_text) == text] if col else data))
    return figure, panels


def series_in(
    request: FigureRequest, panel_rows: pd.DataFrame, styles: Mapping[str, SeriesStyle]
) -> Iterator[tuple[SeriesStyle, pd.DataFrame]]:
    """Yield the style and the rows of each series in a panel, also of those without rows."""
    names = panel_rows[request.hue].map(key_text)
    for name, style in styles.items():
        yield style, panel_rows[names == name]


def places_beside(
    values: pd.Series[Any], places: Sequence[str], number: int, step: float, width: float
) -> NDArray[np.float64]:
    """Return where the marks of a series are, if series stand side by side at each place.

    Parameters
    ----------
    values : Series
        Places of the marks.
    places : sequence of str
        Texts of all places, from left to right.
    number : int
        Position of the series.
    step, width : float
        Widths of a series and of all series, in units of the distance between places.
    """
    at = np.array([places.index(key_text(value)) for value in values], dtype=float)
    return at - width / 2 + step * (number + 0.5)


def add_legend(
    figure: Figure,
    request: FigureRequest,
    styles: dict[str, SeriesStyle],
    markers: bool = False,
    lines: bool = True,
    more: Sequence[Artist] = (),
) -> None:
    """Add one legend above all panels: lines, markers or both, otherwise areas; and `more`."""
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
        else Patch(facecolor=style.color, edgecolor=EDGE, linewidth=0, hatch=style.hatch, label=hue)
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
    across = min(PANELS_ACROSS, len(panels))
    for number, (axis, _) in enumerate(panels):
        axis.set_xlabel(fill(x, int(LETTERS * WIDTH / across)))
        axis.set_ylabel("" if number % across else fill(y, int(LETTERS * HEIGHTS[across])))


def name_places(panels: Sequence[tuple[Axes, pd.DataFrame]], places: Sequence[str]) -> None:
    """Write names along the horizontal axes, rotated if they would overlap."""
    letters = LETTERS * WIDTH / min(PANELS_ACROSS, len(panels))
    is_crowded = len(places) * (max(map(len, places)) + 1) > letters
    for axis, _ in panels:
        axis.set_xticks(range(len(places)), places)
        if is_crowded:
            for text in axis.get_xticklabels():
                text.set(rotation=30, horizontalalignment="right", rotation_mode="anchor")


def scale_axis(axis: Axes, spec: FigureSpec) -> None:
    """Make axes logarithmic and draw the lines that the figure declares."""
    for name, scale, ticks in (
        ("x", axis.set_xscale, axis.xaxis),
        ("y", axis.set_yscale, axis.yaxis),
    ):
        if name in spec.log:
            scale("log")
            ticks.set_minor_locator(LogLocator(subs=(2, 5)))
            ticks.set_major_formatter(StrMethodFormatter("{x:g}"))
            ticks.set_minor_formatter(StrMethodFormatter("{x:g}"))
    if spec.mark is not None:
        axis.axhline(spec.mark, color=INK, linewidth=1.0, linestyle=(0, (4, 3)), zorder=1)
    for value in spec.lines:
        axis.axvline(value, color=INK, linewidth=1.0, linestyle=(0, (4, 3)), zorder=1)


def by_text(request: FigureRequest) -> str:
    """Return what the places along ``x`` and the colours stand for: ``by nodes``."""
    return f"by {' and '.join(dict.fromkeys(map(request.label, (request.x, request.hue))))}"


def panel_title(column: str, text: str, of: str = "routes") -> str:
    """Return a title such as ``32 nodes`` or ``dims 4x2``, or an empty text."""
    if not column:
        return ""
    if column == "nodes":
        return f"{text} nodes"
    if column in ("routing", "topology", "traffic", "workload", "benchmark"):
        return text
    heading, unit = heading_parts(column, of)
    return f"{heading} {text} {unit}".rstrip()
