"""Coloured fields: the colour scale of heat maps, their drawing, and their interactive form."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as attribute
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import ListedColormap, LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, LogLocator, MaxNLocator
from numpy.typing import ArrayLike

from routelab.report.figures.channel_looks import scale_colours
from routelab.report.figures.chart_rows import MAX_ROWS, coded, column_json, rows_json
from routelab.report.figures.marks import PANEL, field
from routelab.report.figures.styles import INK
from routelab.report.frames.view import key_text
from routelab.report.labels import label, number_text

ACROSS, UP = "@across", "@up"
"""Fields of rows: names of the places along both axes."""
TEXT, BEST = "@text", "@best"
"""Fields of rows: the text in a field, and whether it is bold."""
FIRST_DARK = 7
"""First step of the colour scale with white text on light pages, and dark text on dark ones."""
MAX_TICKS = 6
"""Largest number of ticks beside a logarithmic colour scale."""


@dataclass(frozen=True)
class ColourScale:
    """Even steps of colours between two numbers, or between their logarithms."""

    low: float
    high: float
    log: bool = False

    @classmethod
    def over(cls, values: pd.Series[Any], *, log: bool = False) -> ColourScale:
        """Return a scale over some values: a linear one includes zero, a logarithmic one not."""
        high = float(values.max())
        if log:
            positive = values[values > 0]
            low = float(positive.min())
            return cls(low, max(high, 2 * low), log=True)
        low = min(0.0, float(values.min()))
        return cls(low, high if high > low else low + 1.0)

    @property
    def norm(self) -> Normalize:
        """The scale for matplotlib."""
        return (LogNorm if self.log else Normalize)(self.low, self.high)

    @property
    def edges(self) -> list[float]:
        """The numbers at which the next colour begins."""
        steps = len(scale_colours(dark=False))
        shares = np.arange(1, steps) / steps
        return [float(f"{edge:.10g}") for edge in np.asarray(self.norm.inverse(shares)).tolist()]

    def is_dark(self, value: float) -> bool:
        """Return whether a field of this value has white text on light pages."""
        return value >= self.edges[FIRST_DARK - 1]

    @property
    def ticks(self) -> tuple[tuple[float, str], ...]:
        """Places on the scale, from 0 to 100, and their texts."""
        if self.log:
            text = EngFormatter(sep="")
            fine = np.asarray(LogLocator(subs=(1, 2, 5)).tick_values(self.low, self.high))
            at = [tick for tick in fine.tolist() if self.low <= tick <= self.high]
            if len(at) > MAX_TICKS:
                at = [tick for tick in at if round(np.log10(tick), 9).is_integer()]
                at = at[:: -(-len(at) // MAX_TICKS)]
            texts = [text(tick).replace("µ", "u") for tick in at]
        else:
            round_numbers = np.asarray(
                MaxNLocator(5, steps=[1, 2, 5, 10]).tick_values(self.low, self.high)
            )
            at = [tick for tick in round_numbers.tolist() if self.low <= tick <= self.high]
            texts = [number_text("", tick) for tick in at]
        places = np.asarray(self.norm(at)) * 100
        return tuple(
            (round(float(place), 2), one) for place, one in zip(places, texts, strict=True)
        )


def field_colours() -> ListedColormap:
    """Return the colours of fields on light pages; SVG files replace each on dark ones."""
    return ListedColormap(scale_colours(dark=False))


def draw_fields(axis: Axes, grid: ArrayLike, scale: ColourScale, line: float) -> None:
    """Draw a grid of numbers as coloured fields with white lines of this width between them."""
    axis.pcolormesh(grid, norm=scale.norm, cmap=field_colours(), edgecolor="white", linewidth=line)
    axis.grid(visible=False)
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)


def add_colour_bar(figure: Figure, axes: Sequence[Axes], scale: ColourScale, title: str) -> None:
    """Draw the colour scale above all panels."""
    mappable = ScalarMappable(scale.norm, field_colours())
    bar = figure.colorbar(mappable, ax=axes, location="top", shrink=0.5, aspect=40)
    bar.set_label(title)
    bar.outline.set_visible(False)
    bar.minorticks_off()
    places = [place / 100 for place, _ in scale.ticks]
    bar.set_ticks(np.asarray(scale.norm.inverse(places)).tolist())
    bar.set_ticklabels([text for _, text in scale.ticks])


@dataclass(frozen=True)
class FieldChart:
    """The interactive form of fields.

    Attributes
    ----------
    x, y : str
        Columns of the places.
    names : mapping
        Texts of the places along each axis, from the left and from the top; empty if the columns
        are numbers of equal steps.
    colour : str
        Column of the numbers.
    title : str
        What the colours mean.
    scale : ColourScale
    col : str or None
        Column of the panels.
    panels : mapping
        Title of each panel, by the text of its value in `col`.
    of : str
        The rows, which decide the labels of columns.
    texts : sequence of str
        Text in the field of each row, or nothing.
    best : sequence of bool
        Whether the text of each row is bold.
    step : int
        Distance between numbers along both axes, if the places have no names.
    """

    x: str
    y: str
    names: Mapping[str, Sequence[str]]
    colour: str
    title: str
    scale: ColourScale
    col: str | None = None
    panels: Mapping[str, str] = attribute(default_factory=dict)
    of: str = "routes"
    texts: Sequence[str] = ()
    best: Sequence[bool] = ()
    step: int = 1

    def content(self, data: pd.DataFrame) -> dict[str, Any] | None:
        """Return what the page's script needs; see `routelab.report.figures.chart.chart_json`."""
        if len(data) > MAX_ROWS:
            return None
        rows = rows_json(data, self.col, self.panels)
        for name, column in ((ACROSS, self.x), (UP, self.y)):
            if self.names:
                rows[name] = coded(data[column].map(key_text))
        if self.texts:
            rows[TEXT] = coded(pd.Series(self.texts))
            rows[BEST] = coded(pd.Series(self.best).map(key_text))
        sizes = [len(self.names.get(name, ())) for name in ("x", "y")]
        return {
            "spec": self._spec(data),
            "rows": rows,
            "columns": [column_json(name, self.of) for name in data.columns],
            "hue": "",
            "series": [],
            "scale": {"title": self.title, "ticks": self.scale.ticks},
            "fields": {
                "across": sizes[0],
                "down": sizes[1],
                "letters": max(map(len, self.texts), default=0),
            },
            "axes": {
                name: {
                    "title": label(column, self.of),
                    "column": column,
                    "log": False,
                    "fixed": True,
                    "letters": max(map(len, names), default=0) * len(names),
                }
                for name, column, names in (
                    ("x", self.x, self.names.get("x", ())),
                    ("y", self.y, self.names.get("y", ())),
                )
            },
        }

    def _spec(self, data: pd.DataFrame) -> dict[str, Any]:
        colour = {
            "field": field(self.colour),
            "type": "quantitative",
            "legend": None,
            "scale": {
                "type": "threshold",
                "domain": self.scale.edges,
                "range": scale_colours(dark=False),
            },
        }
        places = self._named() if self.names else self._numbered(data)
        layers: list[dict[str, Any]] = [
            {
                "mark": {
                    "type": "rect",
                    "clip": True,
                    "aria": False,
                    "tooltip": {"content": "data"},
                    **_edge(self.names),
                },
                "encoding": {**places, "color": colour},
            }
        ]
        if self.texts:
            bold = f"datum['{BEST}'] === 'true' ? 'bold' : 'normal'"
            dark = f"datum[{json.dumps(self.colour)}] >= {self.scale.edges[FIRST_DARK - 1]!r}"
            ink = {"condition": {"test": dark, "value": "#ffffff"}, "value": INK}
            shown = {"text": {"field": TEXT}, "color": ink}
            mark = {
                "type": "text",
                "fontSize": 11.5,
                "fontWeight": {"expr": bold},
                "aria": False,
                "tooltip": {"content": "data"},
            }
            layers.append({"mark": mark, "encoding": {**places, **shown}})
        if not self.names:
            zoom = {"type": "interval", "encodings": ["x", "y"], "zoom": "wheel![event.ctrlKey]"}
            layers[0]["params"] = [{"name": "zoom", "bind": "scales", "select": zoom}]
        return {
            "facet": {
                "field": PANEL,
                "type": "nominal",
                "sort": list(self.panels.values()),
                "header": {"title": None, "labelAnchor": "start"},
            },
            "spec": {"transform": [] if self.names else self._edges(), "layer": layers},
            "resolve": {"axis": {"x": "independent", "y": "independent"}},
        }

    def _named(self) -> dict[str, Any]:
        return {
            axis: {
                "field": name,
                "type": "nominal",
                "sort": None,
                "title": label(column, self.of),
                "scale": {"domain": list(self.names[axis])},
            }
            for axis, name, column in (("x", ACROSS, self.x), ("y", UP, self.y))
        }

    def _edges(self) -> list[dict[str, Any]]:
        """Return transforms that compute the edges of each field."""
        return [
            {"calculate": f"datum[{json.dumps(column)}] + {by}", "as": name}
            for start, column in ((ACROSS, self.x), (UP, self.y))
            for name, by in ((start, -0.5), (f"{start}_end", self.step - 0.5))
        ]

    def _numbered(self, data: pd.DataFrame) -> dict[str, Any]:
        most = float(data[[self.x, self.y]].max().max()) + self.step - 0.5
        places: dict[str, Any] = {}
        for axis, name, column in (("x", ACROSS, self.x), ("y", UP, self.y)):
            places[axis] = {
                "field": name,
                "type": "quantitative",
                "title": label(column, self.of),
                "axis": {"grid": False, "tickMinStep": 1},
                "scale": {
                    "domain": [-0.5, most],
                    "nice": False,
                    "zero": False,
                    "reverse": axis == "y",
                },
            }
            places[f"{axis}2"] = {"field": f"{name}_end"}
        return places


def _edge(names: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return white lines around fields with names."""
    return {"stroke": "#ffffff", "strokeWidth": 1} if names else {}
