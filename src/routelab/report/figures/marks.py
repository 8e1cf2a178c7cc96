"""Marks of interactive figures: layers of Vega-Lite, to which `chart_spec` adds the common parts.

A mark names only what differs from the chart: an encoding that a mark sets replaces or extends the
chart's, and ``None`` removes it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from routelab.report.figures.styles import INK

Mark = dict[str, Any]

SERIES, PANEL, PLACE = "@series", "@panel", "@place"
"""Fields of rows: names of the series, the panel and the place along a horizontal axis of names."""
_FIRST = [
    {"window": [{"op": "row_number", "as": "@number"}], "groupby": [SERIES, PANEL]},
    {"filter": "datum['@number'] === 1"},
]
"""Transforms that select the first row of each series in each panel."""


_TEXT = {"type": "text", "dy": -7, "fontSize": 11}


def field(column: str) -> str:
    """Return a column's name as Vega-Lite expects it: with dots and brackets escaped."""
    return "".join(f"\\{letter}" if letter in ".[]\\'\"" else letter for letter in column)


def value_of(column: str) -> str:
    """Return Vega's expression for the value of a column in a row."""
    return f"datum[{json.dumps(column)}]"


def lines(shape: str = "linear") -> Mark:
    """Return lines through the points of each series, of a shape that Vega-Lite interpolates."""
    return {"mark": {"type": "line", "interpolate": shape}}


def rises() -> Mark:
    """Return vertical lines from the horizontal axis up to the first point of each series."""
    return {
        "transform": _FIRST,
        "mark": {"type": "rule"},
        "encoding": {"y2": {"value": "height"}},
    }


def starts() -> Mark:
    """Return horizontal lines from the vertical axis to the first point of each series."""
    return {"transform": _FIRST, "mark": {"type": "rule"}, "encoding": {"x2": {"value": 0}}}


def points(size: int = 45, opacity: float = 1.0) -> Mark:
    """Return a point for each row, with the shapes of the series."""
    return {"mark": {"type": "point", "filled": True, "size": size, "opacity": opacity}}


def targets() -> Mark:
    """Return invisible points, at which readers see the values of a line."""
    return {"mark": {"type": "circle", "size": 160, "opacity": 0}}


def bands(low: str, high: str) -> Mark:
    """Return areas between two columns."""
    return {
        "mark": {"type": "area", "opacity": 0.15},
        "encoding": {"y": {"field": field(low)}, "y2": {"field": field(high)}},
    }


def whiskers(low: str, high: str, coloured: bool = False) -> list[Mark]:
    """Return vertical lines between two columns, with caps; in ink or in the series' colours."""
    ink = {} if coloured else {"color": {"value": INK}}
    cap = {"type": "tick", "size": 6, "thickness": 1, "orient": "horizontal"}
    rule = {"y": {"field": field(low)}, "y2": {"field": field(high)}}
    return [
        {"mark": {"type": "rule", "strokeWidth": 1}, "encoding": {**rule, **ink}},
        *({"mark": cap, "encoding": {"y": {"field": field(end)}, **ink}} for end in (low, high)),
    ]


def bars() -> Mark:
    """Return bars from zero."""
    return {"mark": {"type": "bar"}}


def texts(column: str) -> Mark:
    """Return the texts of a column above the points of the chart."""
    ink = {"color": {"value": INK}, "text": {"field": field(column)}}
    return {"mark": _TEXT, "encoding": ink}


def signs(condition: str, sign: str, *tops: str) -> Mark:
    """Return a sign above the highest of some columns where a column holds the text ``true``."""
    values = [f"({value_of(top)} || 0)" for top in tops]
    transform = [
        {"filter": f"{value_of(condition)} === 'true'"},
        {"calculate": f"max({', '.join(values)}, 0)", "as": "@top"},
    ]
    shown = {"y": {"field": "@top"}, "color": {"value": INK}, "text": {"value": sign}}
    return {"transform": transform, "mark": _TEXT, "encoding": shown}


def line_ends(y: str, signs: Mapping[str, str], names: Sequence[str]) -> Mark:
    """Return a sign at the top where the line of a series ends because `y` has no value.

    Parameters
    ----------
    y : str
    signs : mapping
        Sign of each value of the column ``state``; others are shown as ``?``.
    names : sequence of str
        The series that may end; each has a row for its signs.
    """
    row = f"indexof({json.dumps(list(names))}, datum['{SERIES}'])"
    sign = f"({json.dumps(dict(signs))})[datum.state] || '?'"
    transform = [
        {"filter": f"!isValid({value_of(y)})"},
        *_FIRST,
        {"calculate": sign, "as": "@sign"},
    ]
    mark = {"type": "text", "fontSize": 13, "fontWeight": "bold", "y": {"expr": f"9 + 13 * {row}"}}
    return {
        "transform": transform,
        "mark": mark,
        "encoding": {"y": None, "text": {"field": "@sign"}},
    }


def headroom(column: str, factor: float) -> Mark:
    """Return invisible marks above the points, so that the axis has room for texts."""
    room = {"calculate": f"{factor} * {value_of(column)}", "as": "@room"}
    return {
        "transform": [room],
        "mark": {"type": "rule", "opacity": 0},
        "encoding": {"y": {"field": "@room"}},
    }


def boxes(low: str, first: str, median: str, third: str, high: str, mean: str) -> list[Mark]:
    """Return boxes between two columns with whiskers, a line at the median and a mean."""
    rule = {"y": {"field": field(low)}, "y2": {"field": field(high)}}
    middle = {"y": {"field": field(median)}, "y2": {"field": field(median)}}
    white = {"filled": True, "fill": "#ffffff", "size": 18, "shape": "diamond"}
    none = {"color": None, "shape": None}
    return [
        {"mark": {"type": "rule", "color": INK}, "encoding": {**rule, **none}},
        {
            "mark": {"type": "bar", "stroke": INK, "strokeWidth": 0.8},
            "encoding": {"y": {"field": field(first)}, "y2": {"field": field(third)}},
        },
        *(
            {
                "mark": {"type": "bar", "stroke": colour, "strokeWidth": width},
                "encoding": {**middle, **none},
            }
            for colour, width in ((INK, 3), ("#ffffff", 1.6))
        ),
        {
            "mark": {"type": "point", "stroke": INK, "strokeWidth": 0.8, **white},
            "encoding": {"y": {"field": field(mean)}, **none},
        },
    ]


def rules(across: Sequence[float], down: Sequence[float]) -> list[Mark]:
    """Return dashed lines at values of the vertical and of the horizontal axis."""
    dashed = {"type": "rule", "strokeDash": [4, 3], "color": INK}
    return [
        {
            "data": {"values": [{}]},
            "mark": dashed,
            "encoding": {
                **dict.fromkeys({"x", "y"} - {channel} | {"xOffset", "color"}),
                channel: {"datum": value},
            },
        }
        for channel, values in (("y", across), ("x", down))
        for value in values
    ]
