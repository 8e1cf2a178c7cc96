"""Bars that show the comparison of an answer at a glance, for the card of a study."""

from __future__ import annotations

from typing import Any

from routelab.report.figures.panels import panel_title
from routelab.report.number_formats import column_format
from routelab.report.page.comparison import Case, Comparison
from routelab.report.page.headline import (
    SMALLEST,
    distinguishing_keys,
    percent_text,
    size_text,
    two_digits,
)

MAX_PAIRS = 5
"""Largest number of cases with a bar for each routing; of more cases, bars show the difference."""
MAX_ROWS = 7
"""Largest number of cases that all have bars; of more, the extremes have bars."""
ENDS = 3
"""Number of the greatest and of the least values that are extremes."""


def answer_bars(comparison: Comparison, name: str, of: str) -> dict[str, Any]:
    """Return bars of a comparison in the form of ``summary.json``.

    Parameters
    ----------
    comparison : Comparison
    name : str
        Words for the value.
    of : str
        Rows of the table; see `config.Table`.

    Returns
    -------
    dict
        ``heading``: what the bars show; ``series``: names of the routing and of the baseline, in
        the order of the bars; ``rows``: for each case its ``name`` and ``bars``, each with its
        ``size`` in percent of the longest bar, its ``text``, and ``worse``: whether it is a
        negative improvement; ``more``: number of cases without bars, between the greatest and the
        least ones.
    """
    names = [
        ", ".join(panel_title(key, text, of) for key, text in keys.items())
        for keys in distinguishing_keys(comparison.cases)
    ]
    is_pair = comparison.measure in ("value", "ratio") and (
        len(names) <= MAX_PAIRS or comparison.ratios() is None
    )
    rows = _pair_rows(comparison, names, of) if is_pair else _difference_rows(comparison, names)
    more = 0
    if len(rows) > MAX_ROWS:
        rows.sort(key=lambda row: -row[1][0][0])
        more = len(rows) - 2 * ENDS
        rows = rows[:ENDS] + rows[-ENDS:]
    longest = max((abs(value) for _, bars in rows for value, _ in bars), default=0) or 1
    return {
        "heading": name if is_pair else f"{name}, compared with {comparison.baseline}",
        "series": [comparison.routing, *([comparison.baseline] if is_pair else [])],
        "rows": [
            {
                "name": row,
                "bars": [
                    {
                        "size": round(100 * abs(value) / longest, 1),
                        "text": text,
                        "worse": comparison.measure == "improvement" and value < 0,
                    }
                    for value, text in bars
                ],
            }
            for row, bars in rows
        ],
        "more": more,
    }


_Row = tuple[str, list[tuple[float, str]]]
"""Name of a case; value and text of each bar."""


def _pair_rows(comparison: Comparison, names: list[str], of: str) -> list[_Row]:
    """Return rows with the values of both routings."""
    values = [[case.mine.number, case.base.number] for case in comparison.cases]
    form = column_format(comparison.value, of, [value for pair in values for value in pair])
    unit = f" {form.unit}" if form.unit else ""
    return [
        (name, [(value, f"{form.text(value)}{unit}") for value in pair])
        for name, pair in zip(names, values, strict=True)
    ]


def _difference_rows(comparison: Comparison, names: list[str]) -> list[_Row]:
    """Return rows with the difference from the baseline: percentages, or factors of 2 and more."""
    if comparison.measure == "improvement":
        return [
            (name, [(case.mine.number, _better_text(case))])
            for name, case in zip(names, comparison.cases, strict=True)
        ]
    if comparison.measure == "gain":
        ratios = [1 - case.mine.number / 100 for case in comparison.cases]
    else:
        ratios = [case.mine.number / case.base.number for case in comparison.cases]
    if max(ratios) >= 2:
        return [
            (name, [(ratio, f"{two_digits(ratio)} times")])
            for name, ratio in zip(names, ratios, strict=True)
        ]
    percentages = [100 * (ratio - 1) for ratio in ratios]
    return [
        (name, [(value, percent_text(value) if abs(value) >= SMALLEST else "equal")])
        for name, value in zip(names, percentages, strict=True)
    ]


def _better_text(case: Case) -> str:
    value = case.mine.number
    if abs(value) < SMALLEST:
        return "equal"
    return f"{size_text(value)} {'better' if value > 0 else 'worse'}"
