"""Rows of interactive figures, as the page's script reads them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from routelab.report.figures.marks import PANEL
from routelab.report.frames.view import key_text
from routelab.report.labels import decimals_of, label

MAX_ROWS = 10_000
"""Largest number of rows of an interactive figure; with more, the page shows the picture."""


def rows_json(data: pd.DataFrame, col: str | None, panels: Mapping[str, str]) -> dict[str, Any]:
    """Return the columns of the data: numbers as such, texts as numbers of distinct texts.

    Parameters
    ----------
    data : DataFrame
    col : str or None
        Column of the panels.
    panels : mapping
        Title of each panel, by the text of its value in `col`.
    """
    rows: dict[str, Any] = {}
    numbers = data.select_dtypes("number").columns
    for name in data.columns:
        if name in numbers:
            values = data[name].astype(object).where(data[name].notna(), None)
            rows[name] = [
                float(f"{value:.10g}") if isinstance(value, float) else value
                for value in values.tolist()
            ]
        else:
            rows[name] = coded(data[name].map(key_text))
    titles = data[col].map(key_text).map(panels) if col else None
    rows[PANEL] = coded(pd.Series("", index=data.index) if titles is None else titles)
    return rows


def coded(texts: pd.Series[str]) -> dict[str, Any]:
    """Return the distinct texts, and the number of the text of each row."""
    codes, names = pd.factorize(texts)
    return {"texts": names.tolist(), "at": codes.tolist()}


def column_json(name: str, of: str, ends_of: str | None = None) -> dict[str, Any]:
    """Return how a tooltip shows a column.

    Parameters
    ----------
    name : str
    of : str
        The rows, which decide the labels of columns.
    ends_of : str, optional
        Column whose interval is in columns with the endings ``_low`` and ``_high``.
    """
    base, _, end = name.rpartition("_")
    is_end = end in ("low", "high") and base == ends_of
    title = f"{label(base, of)}, {end}" if is_end else label(name, of)
    return {"name": name, "title": title, "decimals": decimals_of(name)}
