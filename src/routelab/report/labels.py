"""Names and numbers as people read them."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from routelab.api import Column
from routelab.registry.columns import installed_columns
from routelab.registry.names import CompositionName, Name, parse_routing

STATISTIC_LABELS = {
    "mean": "mean",
    "median": "median",
    "min": "least",
    "max": "greatest",
    "sum": "sum",
    "share": "share",
    "total": "of the sums",
    "argmin": "least on",
    "argmax": "greatest on",
}
"""What a column of statistics has behind its name, after an underscore."""

_ENDINGS = {
    "ratio": "{}, ratio",
    "gain": "{}, less by (%)",
    "group": "{}, compared",
    "reference": "{}, of the other routing",
    **{key: f"{{}}: {text}" for key, text in STATISTIC_LABELS.items()},
}
"""Names of columns that are made from another one, by what stands behind its name."""


def label(column: str, of: str = "routes") -> str:
    """Return a column's name for people.

    Parameters
    ----------
    column : str
        A column of some rows, or one that a table makes of it, such as ``max_load_ratio``.
    of : str
        The rows; see `routelab.api.columns.Rows`.
    """
    found = column_of(column, of)
    if found is not None:
        return found.label
    base, _, ending = column.rpartition("_")
    if ending in _ENDINGS and (base_column := column_of(base, of)) is not None:
        return _ENDINGS[ending].format(base_column.label)
    if ending in STATISTIC_LABELS and (made := label(base, of)) != base.replace("_", " "):
        return f"{made}: {STATISTIC_LABELS[ending]}"
    return column.replace("_", " ")


def column_of(name: str, of: str = "") -> Column | None:
    """Return the column of some rows, of the routes that they are about, or of any rows."""
    columns = installed_columns()
    rows = dict.fromkeys((of, "routes", "channels", "")) if of else [""]
    return next((found for one in rows if (found := columns.find(name, one))), None)


def number_text(column: str, value: Any, digits: int = 4) -> str:
    """Return a value as tables show it.

    Integers as integers, nothing for a missing value, a fixed number of decimals where the column
    says so, other numbers with `digits` significant digits (never in exponent form where they are 1
    or more).

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
    decimals = _decimals(column)
    if decimals is not None:
        return f"{number:.{decimals}f}"
    if number.is_integer():
        return str(int(number))
    if abs(number) >= 10 ** (digits - 1):
        return f"{number:.1f}"
    return f"{number:.{digits}g}"


@cache
def _decimals(column: str) -> int | None:
    """Decimals of a column, or of the one that it is made from."""
    words = column.split("_")
    # a statistic has an ending, and a published number a prefix
    for first in range(len(words)):
        for last in range(len(words), first, -1):
            found = column_of("_".join(words[first:last]))
            if found is not None:
                return found.decimals
    return None


def without_parameters(name: str, left_out: Collection[str]) -> str:
    """A canonical instance name without some of its parameters.

    ``genetic~seed=3@angara~turns=exact`` without ``seed`` is ``genetic@angara~turns=exact``. A
    parameter that is qualified by its part (``selection.seed``) is left out of every part.

    Raises
    ------
    InputError
        If `name` is no instance name.
    """
    bare = {key.rpartition(".")[2] for key in left_out}
    parsed = parse_routing(name)
    parts = [parsed] if isinstance(parsed, Name) else [parsed.selection, parsed.rules]
    if isinstance(parsed, CompositionName) and parsed.layers:
        parts.append(parsed.layers)
    return "@".join(
        str(
            Name(
                part.key,
                tuple(pair for pair in part.parameters if pair[0].rpartition(".")[2] not in bare),
            )
        )
        for part in parts
    )
