"""Coloured fields: the colour scale of heat maps, and their drawing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, LogLocator, MaxNLocator
from numpy.typing import ArrayLike

from routelab.report.figures.channel_styles import scale_colours, scale_map
from routelab.report.labels import number_text

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
            (round(float(place), 2), tick_text)
            for place, tick_text in zip(places, texts, strict=True)
        )


def draw_fields(axis: Axes, grid: ArrayLike, scale: ColourScale, line: float) -> None:
    """Draw a grid of numbers as coloured fields with white lines of this width between them."""
    axis.pcolormesh(grid, norm=scale.norm, cmap=scale_map(), edgecolor="white", linewidth=line)
    axis.grid(visible=False)
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)


def add_colour_bar(figure: Figure, axes: Sequence[Axes], scale: ColourScale, title: str) -> None:
    """Draw the colour scale above all panels."""
    mappable = ScalarMappable(scale.norm, scale_map())
    bar = figure.colorbar(mappable, ax=axes, location="top", shrink=0.5, aspect=40)
    bar.set_label(title)
    bar.outline.set_visible(False)
    bar.minorticks_off()
    places = [place / 100 for place, _ in scale.ticks]
    bar.set_ticks(np.asarray(scale.norm.inverse(places)).tolist())
    bar.set_ticklabels([text for _, text in scale.ticks])
