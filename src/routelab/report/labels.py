"""Names and numbers for people."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from routelab.api import Column
from routelab.registry.columns import Columns, installed_columns
from routelab.toolkit.machine import UNITS

STATISTIC_LABELS = {
    "mean": "mean",
    "median": "median",
    "min": "minimum",
    "max": "maximum",
    "sum": "total",
    "share": "share",
    "total": "overall",
}
"""Labels of statistics of numbers, by the suffix of their columns after the underscore."""

_ENDINGS = {
    **{key: (f"{{}}, {text}", None) for key, text in STATISTIC_LABELS.items()},
    "share": ("share {}", ""),
    "argmin": ("network with the lowest {}", ""),
    "argmax": ("network with the highest {}", ""),
    "low": ("{}, minimum", None),
    "high": ("{}, maximum", None),
    "ratio": ("{} relative to baseline", ""),
    "gain": ("reduction of {}", "%"),
    "group": ("{} compared with baseline", ""),
    "reference": ("{} of baseline", None),
}
"""Headings of columns that are computed from another column, by their suffix, and their units;
None: that of the other column."""

_PARAMETERS = {
    "allocate": "allocated nodes",
    "fail_links": "failed links",
    "fail_switches": "failed switches",
}
"""Headings of parameters of networks whose names are short orders."""

_PUBLISHED = "paper_"
"""Prefix of columns with published numbers."""


def label(column: str, of: str = "routes") -> str:
    """Return a column's name for people, with its unit.

    Parameters
    ----------
    column : str
        A column of the rows, or one that a table computes from it, such as ``max_load_ratio``.
    of : str
        The rows; see `routelab.api.columns.Rows`.
    """
    return with_unit(*heading_parts(column, of))


def with_unit(heading: str, unit: str) -> str:
    """Return a heading with its unit in brackets, if there is one."""
    return f"{heading} ({unit})" if unit else heading


def heading_parts(column: str, of: str = "routes") -> tuple[str, str]:
    """Return a column's name for people and its unit; see `label`.

    The unit is empty if there is none, or if the heading names it.
    """
    if of == "flows" and column in UNITS:
        # a setting, not the column that packet simulations have under this name
        return column.replace("_", " "), UNITS[column]
    declared = column_of(column, of)
    if declared is not None:
        return declared.heading_parts
    base, _, suffix = column.rpartition("_")
    if suffix in _ENDINGS and has_heading(base, of):
        text, unit = _ENDINGS[suffix]
        base_text, base_unit = heading_parts(base, of)
        return text.format(base_text), base_unit if unit is None else unit
    source = column.removeprefix(_PUBLISHED)
    if source != column and has_heading(source, of):
        text, unit = heading_parts(source, of)
        return f"published {text}", unit
    return _PARAMETERS.get(column, column.replace("_", " ")), ""


def has_heading(column: str, of: str = "routes") -> bool:
    """Whether a column is declared, or computed from one that is."""
    base, _, suffix = column.rpartition("_")
    return column_of(column, of) is not None or (suffix in _ENDINGS and has_heading(base, of))


def column_of(name: str, of: str = "") -> Column | None:
    """Return the column of some rows, of the routes that they are about, or of any rows."""
    return _column_of(installed_columns(), name, of)


def _column_of(columns: Columns, name: str, of: str = "") -> Column | None:
    rows = dict.fromkeys((of, "routes", "channels", "")) if of else [""]
    return next((column for row_kind in rows if (column := columns.find(name, row_kind))), None)


def count_text(number: int, noun: str) -> str:
    """Return a number of things: ``1 network``, ``3 numbers of dimensions``."""
    head, *qualifier = noun.split(" of ", 1)
    return " of ".join([f"{number} {head}{'' if number == 1 else 's'}", *qualifier])


def number_text(column: str, value: Any, digits: int = 4) -> str:
    """Return a value as tables show it.

    Integers are shown as integers, and a missing value is empty. Some columns have a fixed number
    of decimals. Other numbers have `digits` significant digits, without an exponent from 1 up.

    Parameters
    ----------
    column : str
        Its name, or that of a statistic of it, decides how many decimals are shown.
    """
    if value is None or value is pd.NA:
        return ""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if not isinstance(value, int | float | np.integer | np.floating):
        return str(value)
    number = float(value)
    if np.isnan(number):
        return ""
    decimals = decimals_of(column)
    if decimals is not None:
        return f"{number:.{decimals}f}"
    if number.is_integer():
        return str(int(value))  # a seed may have more digits than a float
    if abs(number) >= 10 ** (digits - 1):
        return f"{number:.1f}"
    return f"{number:.{digits}g}"


def duration_text(seconds: float) -> str:
    """Return a CPU time in words, in seconds, minutes or hours; empty if none is recorded."""
    for limit, size, unit in ((120, 1, "s"), (7200, 60, "min"), (float("inf"), 3600, "h")):
        if seconds < limit:
            return f"{max(seconds / size, 1):.0f} {unit}" if seconds else ""
    return ""


def shown_path(path: Path) -> str:
    """Return a path for readers: one below the current folder does not name the folders above."""
    current_folder = Path.cwd()
    return str(path.relative_to(current_folder) if path.is_relative_to(current_folder) else path)


def decimals_of(column: str) -> int | None:
    """Return the fixed decimals of a column, or of the column from which it is computed, if any."""
    return _decimals_of(column, installed_columns())


@cache
def _decimals_of(column: str, columns: Columns) -> int | None:
    words = column.split("_")
    # a statistic has a suffix, a published number a prefix
    for start in range(len(words)):
        for end in range(len(words), start, -1):
            source = _column_of(columns, "_".join(words[start:end]))
            if source is not None:
                return source.decimals
    return None
