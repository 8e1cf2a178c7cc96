"""What a figure is drawn from: its entry in a study, the rows that it shows, and its styles."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from routelab.report.figures.styles import SeriesStyle, SeriesStyles
from routelab.report.labels import label
from routelab.report.rows.benchmarks import SINGLE
from routelab.report.rows.row_set import OK, RowSet, key_text, sort_texts
from routelab.study import Figure as FigureSpec
from routelab.study import Reference
from routelab.study.views import BENCHMARKS, DETAILS, PAIRS

LOAD = "load"
"""Column of tables with the load of each channel."""
VALUE = "value"
"""Column of measurements with the value of each run."""


@dataclass(frozen=True)
class FigureRequest:
    """A figure of a study: its entry, its rows, and the styles of its series.

    A figure shows runs, or details of runs: what each run has many of, such as channels, terminals,
    ranks or packets.

    Attributes
    ----------
    spec : FigureSpec
        The figure as declared; its kind decides which columns it has.
    row_set : RowSet
        The runs that it shows, or whose details it shows: rows of ``spec.of``.
    pooled : collection of str
        Parameters that are pooled: runs that differ in these only are one series.
    place : str
        Prefix of messages: where the figure is declared.
    styles : SeriesStyles
        Styles of the series in the report (default: those of this figure only).
    reference : Reference or None
        Published numbers that the study cites.
    """

    spec: FigureSpec
    row_set: RowSet
    pooled: Collection[str] = ()
    place: str = ""
    styles: SeriesStyles = field(default_factory=SeriesStyles)
    reference: Reference | None = None

    @property
    def x(self) -> str:
        """Column along the horizontal axis."""
        return self.spec.x or ""

    @property
    def y(self) -> str:
        """Column along the vertical axis."""
        return self.spec.y or ""

    @property
    def colour(self) -> str:
        """Column of the numbers that colours stand for."""
        return self.spec.colour or ""

    @property
    def hue(self) -> str:
        """Column of the series."""
        return self.spec.hue or "routing"

    @property
    def col(self) -> str:
        """Column with a panel for each value; empty if there is one panel.

        The default is one panel, but for heat maps of details it is one for each routing (or for
        each workload, if they show pairs of terminals).
        """
        if self.spec.col or self.spec.kind != "heat":
            return self.spec.col or ""
        # A field of a heat map is the mean over all runs of its panel. With one panel, a field of
        # details would mix the channels of all routings, or the pairs of all workloads.
        details = self.details_kind(self.colour)
        if details is None:
            return ""
        return "workload" if details == PAIRS else "routing"

    @property
    def facets(self) -> list[str]:
        """Columns that separate series and panels."""
        return _distinct(self.hue, self.col)

    @property
    def keys(self) -> list[str]:
        """Columns that separate series, panels and categories along the horizontal axis."""
        return _distinct(self.hue, self.col, self.x)

    @property
    def grid_keys(self) -> list[str]:
        """Columns that separate panels and the fields of a heat map."""
        return _distinct(self.col, self.y, self.x)

    def details_kind(self, *numbers: str) -> str | None:
        """Return the kind of details that the figure shows, such as ``channels``; None for runs.

        A figure of routes that shows the column ``load`` shows the channels of each run, and a
        figure of benchmarks that shows ``value`` each single measurement. Other figures name the
        details in ``of``. `numbers` are the columns of numbers that the figure shows.
        """
        of = self.spec.of
        if of == "routes" and LOAD in numbers:
            return "channels"
        if of in BENCHMARKS and VALUE in numbers:
            return SINGLE
        return of if of in DETAILS else None

    def label(self, column: str) -> str:
        """Return a column's name for people, with its unit."""
        return label(column, self.spec.of)

    def rows(self, where: Mapping[str, Any] | None = None) -> pd.DataFrame:
        """Return the rows of runs with a result that match `where` (default: that of the figure).

        Raises
        ------
        InputError
            If a column does not exist.
        """
        where = self.spec.where if where is None else where
        frame = self.row_set.select(where, self.pooled, self.place, self.spec.relative)
        return frame[frame["status"] == OK]

    def columns(self, rows: pd.DataFrame, names: Sequence[str]) -> dict[str, pd.Series[Any]]:
        """Return columns of some rows, by name.

        Raises
        ------
        InputError
            If a column does not exist.
        """
        return {name: self.row_set.column(rows, name, self.place) for name in names}

    def numbers(self, rows: pd.DataFrame, *names: str) -> dict[str, pd.Series[Any]]:
        """Return columns that hold numbers, by name.

        Raises
        ------
        InputError
            If a column does not exist or holds words.
        """
        return {name: self.row_set.numbers(rows, name, self.place) for name in names}

    def series_styles(self, data: pd.DataFrame) -> dict[str, SeriesStyle]:
        """Return the style of each series in the figure's data.

        Raises
        ------
        InputError
            If there are more series than styles.
        """
        return self.styles.assign(self.hue, sort_texts(data[self.hue].map(key_text)), self.place)


def _distinct(*columns: str) -> list[str]:
    """Return the columns that are not empty, each once."""
    return [column for column in dict.fromkeys(columns) if column]
