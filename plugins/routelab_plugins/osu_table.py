"""Tables of the OSU Micro-Benchmarks, which `mpi-patterns` also prints.

The heading names the columns. Their number depends on the benchmark, its version and its options:
``-f`` adds minimum, maximum and iterations, ``-c`` the validation, ``-z`` percentiles, ``-D`` the
transmitted size. All columns but the first are right-aligned, so each value ends below its name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from routelab.api import BenchmarkError, FigureOfMerit
from routelab_plugins.benchmark_output import DECIMAL, WHOLE, check_one, read_rows
from routelab_plugins.message_table import Row
from routelab_plugins.quotes import quote_line

HEADING = re.compile(r"# *(?:Size|(?:Avg )?Latency|Bandwidth|MB/s|Overall)\b")
"""The beginning of a heading."""

_SIZE = "# Size"


@dataclass(frozen=True)
class _Quantity:
    """What a column contains; `form` is the regular expression of its values."""

    metric: str
    unit: str
    better: Literal["lower", "higher", ""]
    form: str = DECIMAL


_QUANTITIES = {
    "Avg Latency(us)": _Quantity("latency_avg", "us", "lower"),
    "Latency (us)": _Quantity("latency_avg", "us", "lower"),
    "Min Latency(us)": _Quantity("latency_min", "us", "lower"),
    "Max Latency(us)": _Quantity("latency_max", "us", "lower"),
    "Iterations": _Quantity("iterations", "", "", WHOLE),
    "Bandwidth (MB/s)": _Quantity("bandwidth", "MB/s", "higher"),
    "MB/s": _Quantity("bandwidth", "MB/s", "higher"),
    "Messages/s": _Quantity("message_rate", "1/s", "higher"),
    "Transmit Size": _Quantity("transmit_size", "B", "", WHOLE),
    "Validation": _Quantity("validation", "", "", "Pass|Fail"),
}

_PERCENTILE = re.compile(r"P(?P<percent>[1-9][0-9]?) Tail (?P<kind>Lat\(us\)|BW\(MB/s\))")

_COLUMN = re.compile(
    rf" +(?P<name>{'|'.join(map(re.escape, _QUANTITIES))}|{_PERCENTILE.pattern})(?= |$)"
)


@dataclass(frozen=True)
class OsuHeading:
    """The columns of a table.

    Attributes
    ----------
    sized : bool
        Whether the first column is the size of messages.
    quantities : tuple of _Quantity
        What each of the other columns contains.
    column_ends : tuple of int
        Where each of these columns ends: the number of characters of a line up to there.
    """

    sized: bool
    quantities: tuple[_Quantity, ...]
    column_ends: tuple[int, ...]

    @property
    def validates(self) -> bool:
        """Whether the program compared what was received with what was sent."""
        return any(quantity.metric == "validation" for quantity in self.quantities)

    def parse_row(self, line: str) -> Row | None:
        """Return the content of a line; None if it is not a row of this table.

        Raises
        ------
        BenchmarkError
            ``verification-failed`` if the row says ``Fail`` in the column of the validation.
        """
        text = line.rstrip(" ")
        # the last column is right-aligned, so a row is as long as the heading
        if len(text) != self.column_ends[-1]:
            return None
        # `begin` is where the next column begins
        message_size, begin = None, 0
        if self.sized:
            # at least two spaces follow the size, as in all rows
            size = re.match(rf"{WHOLE}(?=  )", text)
            if size is None:
                return None
            message_size, begin = int(size[0]), size.end()
        figures = []
        for quantity, end in zip(self.quantities, self.column_ends, strict=True):
            cell = re.fullmatch(rf" +(?P<value>{quantity.form})", text[begin:end])
            if cell is None:
                return None
            begin = end
            value = cell["value"]
            if value == "Fail":
                raise BenchmarkError(
                    "verification-failed", f"the program printed: {quote_line(line)}"
                )
            # "Pass" is no figure; `validates` says that the data was verified
            if value != "Pass":
                figures.append(
                    FigureOfMerit(
                        metric=quantity.metric,
                        value=float(value),
                        unit=quantity.unit,
                        better=quantity.better,
                        size=message_size,
                    )
                )
        return Row(message_size, tuple(figures))


@dataclass(frozen=True)
class OsuTable:
    """The rows of a table, and the lines around and among them.

    Attributes
    ----------
    rows : list of Row
    validated : bool
        Whether the program compared what was received with what was sent.
    other_lines : list of str
        Lines of other programs, above, inside and below the table.
    """

    rows: list[Row]
    validated: bool
    other_lines: list[str]


def read_table(lines: Sequence[str], above: Sequence[str], below: Sequence[str] = ()) -> OsuTable:
    """Read the only table of an output.

    Parameters
    ----------
    lines : sequence of str
        Lines between the title of a program and its end: they contain the table.
    above, below : sequence of str
        Lines before and after these, which must not contain a heading or a row.

    Raises
    ------
    BenchmarkError
        If there is not exactly one table in the right place, or a row may be damaged.
    """
    heading_numbers = [number for number, line in enumerate(lines) if HEADING.search(line)]
    outside = [line for line in (*above, *below) if HEADING.search(line)]
    check_one(len(heading_numbers) + len(outside), "line with the names of columns")
    if outside:
        raise BenchmarkError("unreadable", f"in the wrong place: {quote_line(outside[0])}")
    heading_number = heading_numbers[0]
    heading = read_heading(lines[heading_number])
    above = [*above, *lines[:heading_number]]
    for line in (*above, *below):
        if heading.parse_row(line) is not None:
            raise BenchmarkError("unreadable", f"a row in the wrong place: {quote_line(line)}")
    rows, lines_among_rows = read_rows(lines[heading_number + 1 :], heading.parse_row)
    other_lines = [*filter(str.strip, above), *lines_among_rows, *filter(str.strip, below)]
    return OsuTable(rows, heading.validates, other_lines)


def read_heading(line: str) -> OsuHeading:
    """Return the columns that a line names.

    Raises
    ------
    BenchmarkError
        If a name is unknown or missing.
    """
    text = line.rstrip(" ")
    sized = text.startswith(_SIZE)
    # without sizes, the first column begins behind the #
    position = len(_SIZE) if sized else 1
    quantities: list[_Quantity] = []
    column_ends: list[int] = []
    while position < len(text):
        column = _COLUMN.match(text, position)
        if column is None:
            raise _unreadable(line)
        position = column.end()
        quantities.append(_quantity(column["name"]))
        column_ends.append(position)
    metrics = {quantity.metric for quantity in quantities}
    has_repeated_column = len(metrics) < len(quantities)
    # every program of the suite measures one of these
    has_main_column = bool(metrics & {"latency_avg", "bandwidth"})
    if has_repeated_column or not has_main_column:
        raise _unreadable(line)
    return OsuHeading(sized, tuple(quantities), tuple(column_ends))


def _quantity(name: str) -> _Quantity:
    """Return what the column with a name contains; ``P99 Tail Lat(us)`` is ``latency_p99``."""
    percentile = _PERCENTILE.fullmatch(name)
    if percentile is None:
        return _QUANTITIES[name]
    if percentile["kind"].startswith("Lat"):
        return _Quantity(f"latency_p{percentile['percent']}", "us", "lower")
    return _Quantity(f"bandwidth_p{percentile['percent']}", "MB/s", "higher")


def _unreadable(line: str) -> BenchmarkError:
    return BenchmarkError("unreadable", f"unknown names of columns: {quote_line(line)}")
