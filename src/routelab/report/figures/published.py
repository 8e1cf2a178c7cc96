"""Published values on figures: marks beside our own values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from routelab.api import InputError
from routelab.report.figures.request import FigureRequest
from routelab.report.figures.styles import INK
from routelab.report.rows.row_set import key_text
from routelab.report.tables import parse_cell, published_lines

PUBLISHED = "published"
"""Column of a figure's data with the published values."""
PUBLISHED_MARKER: dict[str, Any] = {
    "marker": "D",
    "s": 22,
    "facecolor": "white",
    "edgecolor": INK,
    "linewidth": 1,
    "zorder": 4,
}
"""Look of published values."""


def published_legend_entry() -> Line2D:
    """Return the entry for published values in a legend."""
    return Line2D([], [], color=INK, linestyle="", marker="D", mfc="white", label="published value")


def published_values(request: FigureRequest, data: pd.DataFrame) -> list[float]:
    """Return the published value of ``y`` for each row of a figure's data; NaN if there is none.

    A row and a line of the published file belong together if they have equal texts in the columns
    that ``beside: on`` names, such as topology and routing.

    Raises
    ------
    InputError
        If the study cites no reference, or the figure or the file lacks a column.
    """
    spec, y, place = request.spec, request.y, request.place
    assert spec.beside is not None
    # 1. The columns that match our rows with those of the file. For a column of the file that has
    #    another name in the figure, ``names`` has this name.
    columns = {name: spec.names.get(name, name) for name in spec.beside.on}
    if absent_columns := set(columns.values()) - set(data.columns):
        raise InputError(
            f"{place}beside: on: the figure has no {', '.join(sorted(absent_columns))}"
        )
    # 2. The published number of each row. A word such as "saturated" is none.
    lines = published_lines(spec.beside, request.reference, columns=[y], place=place)
    keys = data[list(columns.values())].map(key_text).itertuples(index=False, name=None)
    numbers = (parse_cell(lines.get(key, {}).get(y, "")) for key in keys)
    return [float(number) if isinstance(number, int | float) else np.nan for number in numbers]
