"""Interactive forms of figures: Vega-Lite specifications over the figures' own data.

A kind of figure returns a `Chart` with its `Drawing`: its axes, its series and its marks. This
module adds what all charts share: rows, colours, panels, tooltips, hidden series and zoom.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as attribute
from typing import Any

import pandas as pd
from matplotlib.colors import to_hex

from routelab.report.figures.chart_rows import MAX_ROWS, coded, column_json, rows_json
from routelab.report.figures.fields import FieldChart
from routelab.report.figures.marks import PANEL, PLACE, SERIES, Mark, field, rules
from routelab.report.figures.styles import HATCHES, Look
from routelab.report.frames.view import key_text
from routelab.report.labels import label

SHAPES = {"o": "circle", "s": "square", "D": "diamond", "^": "triangle-up", "v": "triangle-down"}
"""Vega's names of the markers of series."""
_CHANNELS = {
    "line": ("x", "y", "color", "strokeDash"),
    "area": ("x", "y", "color"),
    "bar": ("x", "y", "xOffset", "color"),
    "point": ("x", "y", "xOffset", "color", "shape"),
    "circle": ("x", "y", "xOffset", "color"),
    "rule": ("x", "y", "xOffset", "color"),
    "tick": ("x", "y", "xOffset", "color"),
    "text": ("x", "y", "xOffset", "color"),
}
"""Channels that each type of mark takes from its chart."""
_WITH_TOOLTIP = ("bar", "point", "circle", "text")


@dataclass(frozen=True)
class Axis:
    """An axis of a chart.

    Attributes
    ----------
    column : str
        Column of the figure's data.
    title : str
    names : sequence of str
        Texts along the axis, in order; empty if the column holds numbers.
    log : bool
        Whether the scale is logarithmic at first.
    is_fixed : bool
        Whether readers cannot change the scale between linear and logarithmic.
    zero : bool
        Whether a linear scale includes zero.
    percent : bool
        Whether the labels are percentages of 1.
    """

    column: str
    title: str
    names: Sequence[str] = ()
    log: bool = False
    is_fixed: bool = False
    zero: bool = False
    percent: bool = False


@dataclass(frozen=True)
class Chart:
    """The interactive form of a figure.

    Attributes
    ----------
    x, y : Axis
    hue : str
        Column of the series.
    looks : mapping
        Look of each series, by name.
    marks : sequence of mapping
        Layers of Vega-Lite, the lowest first; see `routelab.report.figures.marks`.
    col : str or None
        Column of the panels.
    panels : mapping
        Title of each panel, by the text of its value in `col`.
    of : str
        The rows, which decide the labels of columns.
    beside : bool
        Whether series are next to each other at each name along the horizontal axis.
    across, down : sequence of float
        Values of the vertical and of the horizontal axis at which dashed lines are drawn.
    """

    x: Axis
    y: Axis
    hue: str
    looks: Mapping[str, Look]
    marks: Sequence[Mark]
    col: str | None = None
    panels: Mapping[str, str] = attribute(default_factory=dict)
    of: str = "routes"
    beside: bool = False
    across: Sequence[float] = ()
    down: Sequence[float] = ()


def chart_json(chart: Chart | FieldChart, data: pd.DataFrame) -> dict[str, Any] | None:
    """Return what the page's script needs to draw a chart; None if it has too many rows.

    Parameters
    ----------
    chart : Chart or FieldChart
    data : DataFrame
        The numbers in the figure, as in its CSV file.

    Returns
    -------
    dict
        ``spec`` (Vega-Lite, without data), ``rows`` (columns of the data), ``columns`` (their
        titles and decimals), ``hue`` and ``series`` (their looks), and ``axes`` (how they may
        change). Fields have no series, but ``scale`` (of the colours) and ``fields`` (how many).
    """
    if isinstance(chart, FieldChart):
        return chart.content(data)
    if len(data) > MAX_ROWS:
        return None
    rows = rows_json(data, chart.col, chart.panels)
    rows[SERIES] = coded(data[chart.hue].map(key_text))
    if chart.x.names:
        rows[PLACE] = coded(data[chart.x.column].map(key_text))
    shared = _encoding(chart)
    marks = (*chart.marks, *rules(chart.across, chart.down))
    layers = [_layer(mark, shared, chart.looks) for mark in marks]
    axes = {"x": chart.x, "y": chart.y}
    numeric = [name for name, axis in axes.items() if not axis.names]
    # a wheel alone scrolls the page
    zoom = {"type": "interval", "encodings": numeric, "zoom": "wheel![event.ctrlKey]"}
    layers[0]["params"] = [{"name": "zoom", "bind": "scales", "select": zoom}]
    return {
        "spec": {
            "params": [{"name": "hidden", "value": []}],
            "facet": {
                "field": PANEL,
                "type": "nominal",
                "sort": list(chart.panels.values()),
                "header": {"title": None, "labelAnchor": "start"},
            },
            "spec": {
                "transform": [{"filter": f"indexof(hidden, datum['{SERIES}']) < 0"}],
                "layer": layers,
            },
            "resolve": {"axis": {"x": "independent", "y": "independent"}},
        },
        "rows": rows,
        "columns": [column_json(name, chart.of, chart.y.column) for name in data.columns],
        "hue": label(chart.hue, chart.of),
        "series": [
            {
                "name": name,
                "color": _color(look),
                "shape": SHAPES[look.marker],
                "opacity": _opacity(look),
                "width": look.width,
                "dash": _dash(look),
            }
            for name, look in chart.looks.items()
        ],
        "axes": {
            name: {
                "title": axis.title,
                "column": axis.column,
                "log": axis.log,
                "fixed": bool(axis.is_fixed or axis.names or not (data[axis.column] > 0).any()),
                "letters": max(map(len, axis.names), default=0) * len(axis.names),
            }
            for name, axis in axes.items()
        },
    }


def _layer(mark: Mark, shared: Mapping[str, Any], looks: Mapping[str, Look]) -> dict[str, Any]:
    """Return a layer of Vega-Lite: the mark, with the shared encoding where it has none."""
    kind = mark["mark"]["type"]
    shape = {"clip": True, "aria": False, **mark["mark"]}
    if kind == "line":
        shape["strokeWidth"] = _by_series({name: look.width for name, look in looks.items()})
    if kind == "bar":
        shape["fillOpacity"] = _by_series({name: _opacity(look) for name, look in looks.items()})
    if kind in _WITH_TOOLTIP:
        shape["tooltip"] = {"content": "data"}
    encoding = {channel: shared[channel] for channel in _CHANNELS[kind] if channel in shared}
    for channel, own in mark.get("encoding", {}).items():
        if own is None:
            encoding.pop(channel, None)
        elif channel in encoding and not own.keys().isdisjoint(("field", "datum")):
            # other values on the same scale
            scale = {key: value for key, value in encoding[channel].items() if key != "field"}
            encoding[channel] = {**scale, **own}
        else:
            encoding[channel] = own
    return {**mark, "mark": shape, "encoding": encoding}


def _encoding(chart: Chart) -> dict[str, Any]:
    """Return the channels that marks share; the page's script makes scales logarithmic."""
    names = list(chart.looks)
    ranges = {
        "color": [_color(look) for look in chart.looks.values()],
        "shape": [SHAPES[look.marker] for look in chart.looks.values()],
        "strokeDash": [_dash(look) for look in chart.looks.values()],
    }
    series = {"field": SERIES, "type": "nominal", "legend": None}
    encoding: dict[str, Any] = {
        channel: {**series, "scale": {"domain": names, "range": values}}
        for channel, values in ranges.items()
    }
    for name, axis in (("x", chart.x), ("y", chart.y)):
        scale: dict[str, Any] = {"zero": axis.zero}
        shown: dict[str, Any] = {"field": field(axis.column), "type": "quantitative"}
        if axis.names:
            scale = {"domain": list(axis.names)}
            shown = {"field": PLACE, "type": "nominal", "sort": None}
        elif axis.percent:
            shown["axis"] = {"format": "%"}
        elif name == "x":
            # room for whole points at the edges
            scale |= {"padding": 10, "nice": False}
        encoding[name] = {"title": axis.title, "scale": scale, **shown}
    if chart.beside:
        beside = {"scale": {"domain": names}, "sort": None}
        encoding["xOffset"] = {"field": SERIES, "type": "nominal", **beside}
    return encoding


def _color(look: Look) -> str:
    return to_hex(look.color)


def _by_series(values: Mapping[str, float]) -> dict[str, str]:
    """Return a property of a mark that depends on the series."""
    return {"expr": f"({json.dumps(dict(values))})[datum['{SERIES}']]"}


def _opacity(look: Look) -> float:
    """Return the opacity of areas, which distinguishes series as patterns do on paper."""
    return (1.0, 0.6, 0.4, 0.25)[HATCHES.index(look.hatch)]


def _dash(look: Look) -> list[float]:
    """Return the lengths of a line's dashes and gaps, in pixels."""
    if isinstance(look.dashes, str):
        return [1, 0]
    return [round(part * look.width, 2) for part in look.dashes[1]]
