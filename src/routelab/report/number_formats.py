"""Number formats of table columns: heading, unit, scale and decimals."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from routelab.report.labels import column_of, heading_parts, number_text, with_unit
from routelab.report.table import ReportTable

SECOND: Final = "s"
TIMES: Final = ((1.0, SECOND), (1e-3, "ms"), (1e-6, "µs"))
"""Units of times, each with its length in seconds, the longest first."""

DECIMALS: Final = {"%": 1}
"""Decimals by unit, unless a column declares its own."""

UPPER_BOUND: Final = "upper bound"
"""Words in the headings of columns that are rounded up."""

RATIO_DECIMALS: Final = 2
DIGITS: Final = 4
"""Significant digits of the largest value of a column whose unit has no fixed decimals."""

ROUNDING: Final = 1e-11
"""Sizes below this are rounding errors, such as the gap of a fractional load to its bound: no time,
load or share of ours is as small."""

LARGEST_SPREAD: Final = 100
"""Largest quotient of two values of a column with a common number of decimals. With more, the least
value would have too few significant digits: 0.1234 beside 123.4."""


@dataclass(frozen=True)
class ColumnFormat:
    """How readers see a column.

    Attributes
    ----------
    heading : str
        Name without the unit.
    unit : str
        Unit of the shown numbers; empty if they have none, or if the heading names it.
    scale : float
        One shown unit, in units of the column: 0.001 if seconds are shown as milliseconds.
    decimals : int or None
        Decimals of all numbers; None if each number has four significant digits instead.
    published_decimals : int or None
        Decimals of published numbers, as many as their most exact one has; None if the column has
        no published numbers.
    """

    heading: str
    unit: str = ""
    scale: float = 1.0
    decimals: int | None = None
    published_decimals: int | None = None

    @property
    def label(self) -> str:
        """Heading with the unit in brackets."""
        return with_unit(self.heading, self.unit)

    def text(self, value: Any) -> str:
        """Return a value of the column as text; empty if it is missing."""
        number = finite_number(value)
        if number is None:  # a word, a truth value or a missing value
            return number_text("", value)
        return self.scaled_text(number / self.scale)

    def as_published(self, value: Any) -> str:
        """Return a value of the column with the decimals of published numbers."""
        if self.decimals is None or self.published_decimals is None:
            return self.text(value)
        return replace(self, decimals=self.published_decimals).text(value)

    def scaled_text(self, number: float) -> str:
        """Return the text of a number that already is in the shown unit."""
        if self.decimals is None:
            return number_text("", number, DIGITS)
        if UPPER_BOUND in self.heading:
            # An upper bound is rounded up: rounded down, it would claim too much. `round` first, or
            # 0.07 with two decimals would become 0.08, as 0.07 * 100 is a little more than 7.
            number = math.ceil(round(number * 10**self.decimals, 6)) / 10**self.decimals
        text = f"{number:.{self.decimals}f}"
        # 0.0 and not -0.0
        return text if float(text) else text.removeprefix("-")


def column_format(
    column: str, of: str, values: Iterable[Any], published: Iterable[Any] = ()
) -> ColumnFormat:
    """Choose the format of a column.

    Percentages have one decimal and ratios two, unless the column declares decimals. Times have
    the unit of the largest one. Other columns show whole numbers if all values are whole, or
    else as many decimals as give the largest value four digits.

    Parameters
    ----------
    column : str
    of : str
        Kind of the rows, such as ``routes``.
    values : iterable
        Our values of the column; words and missing values have no influence.
    published : iterable
        Published values of the column. They keep their decimals, and ours have at least as many.
    """
    heading, unit = heading_parts(column, of)
    published_numbers = [
        number for value in published if (number := finite_number(value)) is not None
    ]
    our_numbers = [number for value in values if (number := finite_number(value)) is not None]
    numbers = our_numbers + published_numbers
    # 1. The unit. Times have the largest unit in which the largest of them is at least 1: 0.002 s
    #    is shown as 2 ms. Even smaller times have the smallest unit.
    largest = max(map(abs, numbers), default=0.0)
    scale, scaled_unit = 1.0, unit
    if unit == SECOND and largest:
        scale, scaled_unit = next(
            ((length, name) for length, name in TIMES if largest >= length), TIMES[-1]
        )
    # 2. The decimals that the column declares, or the one of which it is a statistic; else those of
    #    a ratio or of its unit; else those that its values need.
    declared_column = column_of(column, of)
    fixed_decimals = (
        _base_decimals(column, of) if declared_column is None else declared_column.decimals
    )
    if fixed_decimals is None:
        fixed_decimals = RATIO_DECIMALS if column.endswith("_ratio") else DECIMALS.get(unit)
    if fixed_decimals is None:
        decimals = _common_decimals([number / scale for number in numbers])
    else:
        # ours are at least as exact as the published ones beside them
        decimals = max([fixed_decimals, *map(_num_decimals, published_numbers)])
    # 3. Published numbers as they were printed: 1.6 and not 1.60 beside 1.61.
    published_decimals = max(
        (_num_decimals(number / scale) for number in published_numbers), default=None
    )
    if published_decimals is not None and decimals is not None:
        published_decimals = min(published_decimals, decimals)
    return ColumnFormat(
        heading, scaled_unit, scale, decimals=decimals, published_decimals=published_decimals
    )


def column_formats(table: ReportTable) -> dict[str, ColumnFormat]:
    """Return the format of each column of a table, by name.

    A value, the ends of its range and its published numbers share a format, and so do all columns
    of a pivot with this value.
    """
    # 1. The numbers below each source, which is the column of the runs that a table's column shows:
    #    `max_load` for `max_load`, `max_load_low`, `paper_max_load` and `max_load (dor)`.
    by_name = {column.name: column for column in table.columns}
    sources = {
        column.name: by_name[column.of].source if column.of else column.source
        for column in table.columns
    }
    computed: dict[str, list[Any]] = {source: [] for source in sources.values()}
    published: dict[str, list[Any]] = {source: [] for source in sources.values()}
    for column in table.columns:
        # Published numbers without a value of ours (`of` is empty) are formatted like a value.
        is_published = column.role == "reference" and column.of != ""
        values = published if is_published else computed
        values[sources[column.name]] += [row.get(column.name) for row in table.rows]
    # 2. One format for each source.
    formats = {
        source: column_format(source, table.of, computed[source], published[source])
        for source in computed
    }
    return {name: formats[source] for name, source in sources.items()}


def finite_number(value: Any) -> float | None:
    """Return a finite number as float, 0 for a rounding error; None for other values."""
    if isinstance(value, bool | np.bool_):
        return None
    if not isinstance(value, int | float | np.integer | np.floating):
        return None
    number = float(value)
    if not math.isfinite(number):
        return None
    return number if abs(number) >= ROUNDING else 0.0


def _base_decimals(column: str, of: str) -> int | None:
    """Return the declared decimals of the column from which a statistic is computed, if any.

    For ``max_load_median`` and ``max_load_median_low``, these are the decimals of ``max_load``:
    suffixes are removed until the column is declared.
    """
    base, _, suffix = column.rpartition("_")
    # a quotient or a reduction in percent has another unit, and so other decimals
    if not base or suffix in ("ratio", "gain"):
        return None
    base_column = column_of(base, of)
    return _base_decimals(base, of) if base_column is None else base_column.decimals


def _common_decimals(numbers: list[float]) -> int | None:
    """Return how many decimals suit all numbers of a column; None if none do.

    None means that the numbers are too different in size, so that each one gets its own decimals.
    """
    if all(number.is_integer() for number in numbers):
        return 0  # also without any number
    sizes = [abs(number) for number in numbers if number]
    if max(sizes) > LARGEST_SPREAD * min(sizes):
        return None
    # As many as give the largest number four digits: one for 123.4, three for 1.234; but fewer if
    # the last ones are zero in all numbers.
    max_decimals = max(0, DIGITS - 1 - math.floor(math.log10(max(sizes))))
    return max(_num_decimals(round(number, max_decimals)) for number in numbers)


def _num_decimals(number: float) -> int:
    """Return how many decimals the shortest text of a number has."""
    return len(np.format_float_positional(number, trim="-").partition(".")[2])
