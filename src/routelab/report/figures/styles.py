"""How series are told apart: one name, one colour and one marker in all figures of a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from routelab.api import InputError
from routelab.report.figures.drawing import DASHES, PALETTE

MARKERS = "osD^v"
HATCHES = ("", "////", "....", "xxxx")
"""Of bars and boxes, which have neither dashes nor markers, once the colours are used up."""
MAX_LINES = len(PALETTE) * len(DASHES)


@dataclass(frozen=True)
class Look:
    """How one series is told from the others: a line by colour, dashes and marker.

    Attributes
    ----------
    color : str
    dashes : object
        A line style of matplotlib.
    width : float
        In points.
    marker : str
    hatch : str
        Of an area.
    """

    color: str
    dashes: Any
    width: float
    marker: str
    hatch: str


class Looks:
    """The looks of the series of a report, handed out as its figures ask for them.

    A series is a value of the column that tells colours apart. It keeps its look, so that figures
    can be read side by side; only a report with more than `MAX_LINES` series of one column has to
    use looks twice, never in one figure.
    """

    def __init__(self) -> None:
        self._numbers: dict[str, dict[str, int]] = {}

    def of(self, column: str, names: Sequence[str], place: str) -> dict[str, Look]:
        """A look for every name, in their order; later lines are thinner, so that equal ones show.

        Parameters
        ----------
        column : str
            What the names are values of.
        names : sequence of str
            Distinct.
        place : str
            Where the figure is declared, to begin messages with.

        Raises
        ------
        InputError
            If there are more names than looks.
        """
        if len(names) > MAX_LINES:
            raise InputError(
                f"{place}hue has {len(names)} values, more than {MAX_LINES} cannot be told apart; "
                "choose with 'where' or pool with 'over'"
            )
        known = self._numbers.setdefault(column, {})
        for name in names:
            known.setdefault(name, len(known))
        chosen: dict[str, int] = {}
        for name in sorted(names, key=known.__getitem__):
            number = known[name] % MAX_LINES
            while number in chosen.values():
                number = (number + 1) % MAX_LINES
            chosen[name] = number
        return {name: _look(chosen[name], position) for position, name in enumerate(names)}


def _look(number: int, position: int) -> Look:
    return Look(
        color=PALETTE[number % len(PALETTE)],
        dashes=DASHES[(number + number // len(PALETTE)) % len(DASHES)],
        width=max(1.2, 3.2 - 0.4 * position),
        marker=MARKERS[number % len(MARKERS)],
        hatch=HATCHES[number // len(PALETTE)],
    )
