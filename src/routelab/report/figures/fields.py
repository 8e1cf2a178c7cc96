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
from matplotlib.ticker import EngFormatter, Locator, LogLocator, MaxNLocator
from numpy.typing import ArrayLike

from routelab.report.figures.channel_styles import scale_colours, scale_map
from routelab.report.labels import number_text

FIRST_DARK_STEP = 7
"""First step of the colour scale with white text on light pages, and dark text on dark ones."""
MAX_TICKS = 6
"""Largest number of ticks beside a logarithmic colour scale."""


@dataclass(frozen=True)
class ColourScale:
    """Even steps of colours between the numbers `low` and `high`, or between their logarithms."""

    low: float
    high: float
    log: bool = False

    @classmethod
    def over(cls, values: pd.Series[Any], *, log: bool = False) -> ColourScale:
        """Return a scale over some values; a linear one includes zero."""
        high = float(values.max())
        # a scale of no length has no steps, so equal values get some: a factor 2, or 1
        if log:
            low = float(values[values > 0].min())
            return cls(low, max(high, 2 * low), log=True)
        low = min(0.0, float(values.min()))
        return cls(low, high if high > low else low + 1.0)

    @property
    def norm(self) -> Normalize:
        """The scale for matplotlib."""
        return (LogNorm if self.log else Normalize)(self.low, self.high)

    @property
    def edges(self) -> list[float]:
        """The numbers at which the next colour begins, one less than colours."""
        steps = len(scale_colours(dark=False))
        shares = np.arange(1, steps) / steps
        # ten digits, without the rounding errors of the inverse
        return [float(f"{edge:.10g}") for edge in np.asarray(self.norm.inverse(shares)).tolist()]

    def is_dark(self, value: float) -> bool:
        """Return whether a field of this value has white text on light pages."""
        # edge k is between colours k and k + 1
        return value >= self.edges[FIRST_DARK_STEP - 1]

    @property
    def ticks(self) -> tuple[tuple[float, str], ...]:
        """Positions of the ticks on the scale, in percent of its length, and their texts."""
        # On a short scale of logarithms, such as from 2.1 to 4.3, there may be no 1, 2, 5, 10, ...
        numbers = self._numbers_at(LogLocator(subs=(1, 2, 5))) if self.log else []
        if len(numbers) < 2:
            numbers = self._numbers_at(MaxNLocator(5, steps=[1, 2, 5, 10]))
        if len(numbers) > MAX_TICKS:
            # The powers of ten among them, if any; if these are still too many, every second, third
            # or k-th. Rounded, as the logarithm of a power of ten can differ in the last bits.
            powers = [number for number in numbers if round(np.log10(number), 9).is_integer()]
            numbers = powers or numbers
            numbers = numbers[:: -(-len(numbers) // MAX_TICKS)]  # divided and rounded up
        if self.log:
            # 10k, 1M, 1u: with a letter instead of zeros
            engineering_text = EngFormatter(sep="")
            texts = [engineering_text(number).replace("µ", "u") for number in numbers]
        else:
            # the column is empty, as no column decides how many decimals ticks have
            texts = [number_text(column="", value=number) for number in numbers]
        positions = np.asarray(self.norm(numbers)) * 100
        return tuple(
            (round(float(position), 2), text)
            for position, text in zip(positions, texts, strict=True)
        )

    def _numbers_at(self, locator: Locator) -> list[float]:
        """Return the numbers at which a locator of matplotlib puts ticks on the scale."""
        candidates = np.asarray(locator.tick_values(self.low, self.high)).tolist()
        return [number for number in candidates if self.low <= number <= self.high]


def draw_fields(axis: Axes, grid: ArrayLike, scale: ColourScale, line_width: float) -> None:
    """Draw a grid of numbers as coloured fields with white lines of this width between them."""
    axis.pcolormesh(
        grid, norm=scale.norm, cmap=scale_map(), edgecolor="white", linewidth=line_width
    )
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
    shares = [percent / 100 for percent, _ in scale.ticks]
    bar.set_ticks(np.asarray(scale.norm.inverse(shares)).tolist())
    bar.set_ticklabels([text for _, text in scale.ticks])
