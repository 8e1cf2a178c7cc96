"""Styles of series: a name has one colour and one marker in all figures of a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from routelab.api import InputError

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's colours, distinguishable with every common kind of colour blindness."""
DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)))
INK, FAINT = "#222222", "#8a8a8a"
"""Colours of text, and of axes and other secondary lines."""
MARKERS = "osD^v"
"""Markers of matplotlib: circle, square, diamond, two triangles."""
HATCHES = ("", "////", "....", "xxxx")
"""Patterns of bars and boxes, which have neither dashes nor markers, when colours run out."""
MAX_LINES = len(PALETTE) * len(DASHES)


@dataclass(frozen=True)
class SeriesStyle:
    """Style of one series.

    Attributes
    ----------
    color : str
    dashes : object
        A line style of matplotlib.
    width : float
        In points.
    marker : str
    hatch : str
        Pattern of an area.
    """

    color: str
    dashes: Any
    width: float
    marker: str
    hatch: str


class SeriesStyles:
    """The styles of all series of a report, assigned when a figure first needs them.

    A series is a value of the column that determines colours. It keeps its style, so that readers
    can compare figures. Only a report with more than `MAX_LINES` series of one column uses styles
    twice, never in one figure.
    """

    def __init__(self) -> None:
        # numbers of series in the order in which figures needed them, by column and name
        self._numbers: dict[str, dict[str, int]] = {}

    def assign(self, column: str, names: Sequence[str], place: str) -> dict[str, SeriesStyle]:
        """Return a style for each name of a figure, by name.

        Later lines are thinner, so that an equal line below stays visible.

        Parameters
        ----------
        column : str
            Column of the names.
        names : sequence of str
            Distinct.
        place : str
            Prefix of messages: where the figure is declared.

        Raises
        ------
        InputError
            If there are more names than styles.
        """
        if len(names) > MAX_LINES:
            raise InputError(
                f"{place}hue has {len(names)} values, more than {MAX_LINES} cannot be "
                "distinguished; choose with 'where' or pool with 'over'"
            )
        numbers = self._numbers.setdefault(column, {})
        for name in names:
            numbers.setdefault(name, len(numbers))
        # In a report with many series, two of a figure can have one style number. Then the one
        # that the report needed first keeps it, and the other takes the next free one.
        style_of: dict[str, int] = {}
        for name in sorted(names, key=numbers.__getitem__):
            style = numbers[name] % MAX_LINES
            while style in style_of.values():
                style = (style + 1) % MAX_LINES
            style_of[name] = style
        return {name: _style(style_of[name], position) for position, name in enumerate(names)}


def _style(number: int, position: int) -> SeriesStyle:
    """Return a style by its number below `MAX_LINES`, for the line at a position in its figure.

    Numbers 0 to 6 have the seven colours and no hatch, numbers 7 to 13 the colours again with the
    next dashes and hatch, and so on. The position in the figure determines the width only.
    """
    use, color = divmod(number, len(PALETTE))
    return SeriesStyle(
        color=PALETTE[color],
        dashes=DASHES[(color + use) % len(DASHES)],
        width=max(1.2, 3.2 - 0.4 * position),
        marker=MARKERS[number % len(MARKERS)],
        hatch=HATCHES[use],
    )
