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
"""Heading and unit of columns that are computed from another column, by their suffix. ``{}`` stands
for the heading of the other column, and None for its unit."""

_PARAMETERS = {
    "allocate": "allocated nodes",
    "fail_links": "failed links",
    "fail_switches": "failed switches",
}
"""Headings of parameters of networks whose names are commands."""

_PUBLISHED = "paper_"
"""Prefix of columns with published numbers."""


def label(column: str, of: str = "routes") -> str:
    """Return a column's name for people, with its unit.

    Parameters
    ----------
    column : str
        A column of the rows, or one that a table computes from it, such as ``max_load_ratio``.
    of : str
        Kind of the rows that the table or figure shows, such as ``routes`` or ``simulations``.
    """
    return with_unit(*heading_parts(column, of))


def with_unit(heading: str, unit: str) -> str:
    """Return a heading with its unit in brackets, if there is one."""
    return f"{heading} ({unit})" if unit else heading


def heading_parts(column: str, of: str = "routes") -> tuple[str, str]:
    """Return the name of a column for people and its unit, such as ``mean latency`` and ``cycles``.

    The unit is empty if there is none, or if the heading names it. `of` is the kind of the rows.
    """
    # 1. A property of the machine that a flow simulation sets, such as its link bandwidth. A column
    #    of packet simulations with this name is something else.
    if of == "flows" and column in UNITS:
        return column.replace("_", " "), UNITS[column]
    # 2. A column that a plugin or the pipeline declares.
    declared = column_of(column, of)
    if declared is not None:
        return declared.heading_parts
    # 3. A column that is computed from a declared one (``max_load_ratio``), or has its published
    #    numbers (``paper_max_load``).
    base, _, suffix = column.rpartition("_")
    if suffix in _ENDINGS and has_heading(base, of):
        text, unit = _ENDINGS[suffix]
        base_text, base_unit = heading_parts(base, of)
        return text.format(base_text), base_unit if unit is None else unit
    source = column.removeprefix(_PUBLISHED)
    if source != column and has_heading(source, of):
        text, unit = heading_parts(source, of)
        return f"published {text}", unit
    # 4. A parameter of a plugin, whose name is its heading.
    return _PARAMETERS.get(column, column.replace("_", " ")), ""


def has_heading(column: str, of: str = "routes") -> bool:
    """Whether a column is declared, or computed from one that is."""
    base, _, suffix = column.rpartition("_")
    return column_of(column, of) is not None or (suffix in _ENDINGS and has_heading(base, of))


def column_of(name: str, of: str = "") -> Column | None:
    """Return the declared column of this name; None if there is none.

    Several kinds of rows can declare a column of one name. The column of the kind `of` is returned
    if there is one, otherwise that of routes or channels, because other rows show these columns,
    too, otherwise that of any kind.
    """
    return _find_column(installed_columns(), name, of)


def _find_column(columns: Columns, name: str, of: str = "") -> Column | None:
    """Find a column among `columns` as `column_of` does among the installed ones."""
    # `find` looks among the columns of all rows if the kind is empty
    row_kinds = dict.fromkeys((of, "routes", "channels", "")) if of else [""]
    return next(
        (column for row_kind in row_kinds if (column := columns.find(name, row_kind))), None
    )


def count_text(number: int, noun: str) -> str:
    """Return a number of things: ``1 network``, ``3 numbers of dimensions``."""
    # the plural is formed before "of": numbers of dimensions
    head, *qualifier = noun.split(" of ", 1)
    return " of ".join([f"{number} {head}{'' if number == 1 else 's'}", *qualifier])


def number_text(column: str, value: Any, digits: int = 4) -> str:
    """Return a value as tables show it.

    A missing value is empty. A column that declares its decimals has these. In others, integers are
    shown as integers, and other numbers with `digits` significant digits (1.23456 as ``1.235``), or
    with one decimal if at least `digits` digits are before it (1234.56 as ``1234.6``). Only numbers
    below 0.0001 have an exponent.

    Parameters
    ----------
    column : str
        Column of the value, or a statistic of a column; only its decimals are looked up, so that
        ``""`` stands for a column without declared decimals.
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
    decimals = _declared_decimals(column, installed_columns())
    if decimals is not None:
        return f"{number:.{decimals}f}"
    if number.is_integer():
        return str(int(value))  # a seed may have more digits than a float
    if abs(number) >= 10 ** (digits - 1):
        # from 1000 up if there are four digits; the format below would write 12345.6 as 1.235e+04
        return f"{number:.1f}"
    return f"{number:.{digits}g}"


def duration_text(seconds: float) -> str:
    """Return a CPU time such as ``95 s``, ``12 min`` or ``3 h``, at least ``1 s``.

    It is empty for 0 and NaN: no time is recorded.
    """
    for limit, unit_seconds, unit in ((120, 1, "s"), (7200, 60, "min"), (float("inf"), 3600, "h")):
        if seconds < limit:
            return f"{max(seconds / unit_seconds, 1):.0f} {unit}" if seconds else ""
    return ""  # NaN, which is below no limit


def shown_path(path: Path) -> str:
    """Return a path for readers: one below the current folder does not name the folders above."""
    current_folder = Path.cwd()
    return str(path.relative_to(current_folder) if path.is_relative_to(current_folder) else path)


@cache
def _declared_decimals(column: str, columns: Columns) -> int | None:
    """Return the decimals that a column declares, or the one from which it is computed; else None.

    `columns` are the installed ones: as an argument, they are a part of the cache's key.
    """
    words = column.split("_")
    # A published number has a prefix and a statistic a suffix, and the declared column is what
    # remains. So all sequences of words are tried, from each first word the longest one first:
    # paper_max_load, paper_max, paper, max_load.
    for start in range(len(words)):
        for end in range(len(words), start, -1):
            source = _find_column(columns, "_".join(words[start:end]))
            if source is not None:
                return source.decimals
    return None
