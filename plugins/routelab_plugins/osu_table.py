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
    """What a column contains."""

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

_PERCENTILE = re.compile(r"P([1-9][0-9]?) Tail (Lat\(us\)|BW\(MB/s\))")

_NAME = re.compile(rf" +({'|'.join(map(re.escape, _QUANTITIES))}|{_PERCENTILE.pattern})(?= |$)")


@dataclass(frozen=True)
class OsuHeading:
    """The columns of a table.

    Attributes
    ----------
    sized : bool
        Whether the first column is the size of messages.
    quantities : tuple of _Quantity
        Of the other columns.
    ends : tuple of int
        Number of characters of a line up to the end of each of these.
    """

    sized: bool
    quantities: tuple[_Quantity, ...]
    ends: tuple[int, ...]

    @property
    def validates(self) -> bool:
        """Whether the program compared what was received with what was sent."""
        return any(quantity.metric == "validation" for quantity in self.quantities)

    def row(self, line: str) -> Row | None:
        """Return the content of a line; None if it is not a row of this table.

        Raises
        ------
        BenchmarkError
            ``verification-failed`` if the program says so in the row.
        """
        text = line.rstrip(" ")
        if len(text) != self.ends[-1]:
            return None
        size = re.match(rf"({WHOLE})(?=  )", text) if self.sized else None
        if self.sized and size is None:
            return None
        begin = 0 if size is None else size.end()
        bytes_ = None if size is None else int(size[1])
        figures = []
        for quantity, end in zip(self.quantities, self.ends, strict=True):
            value = re.fullmatch(rf" +({quantity.form})", text[begin:end])
            if value is None:
                return None
            begin = end
            if value[1] == "Fail":
                raise BenchmarkError(
                    "verification-failed", f"the program printed: {quote_line(line)}"
                )
            if value[1] != "Pass":
                figures.append(
                    FigureOfMerit(
                        *(quantity.metric, float(value[1]), quantity.unit, quantity.better, bytes_)
                    )
                )
        return Row(bytes_, tuple(figures))


@dataclass(frozen=True)
class OsuTable:
    """A table.

    Attributes
    ----------
    rows : list of Row
    validated : bool
        Whether the program compared what was received with what was sent.
    foreign : list of str
        Other lines.
    """

    rows: list[Row]
    validated: bool
    foreign: list[str]


def read_table(lines: Sequence[str], above: Sequence[str], below: Sequence[str] = ()) -> OsuTable:
    """Read the only table of an output.

    Parameters
    ----------
    lines : sequence of str
        Between a program's title and its end.
    above, below : sequence of str
        Lines before and after, which must not contain a part of the table.

    Raises
    ------
    BenchmarkError
        If there is not exactly one table in the right place, or a row may be damaged.
    """
    places = [place for place, line in enumerate(lines) if HEADING.search(line)]
    outside = [line for line in (*above, *below) if HEADING.search(line)]
    check_one(len(places) + len(outside), "line with the names of columns")
    if outside:
        raise BenchmarkError("unreadable", f"in the wrong place: {quote_line(outside[0])}")
    place = places[0]
    heading = read_heading(lines[place])
    above = [*above, *lines[:place]]
    for line in (*above, *below):
        if heading.row(line) is not None:
            raise BenchmarkError("unreadable", f"a row in the wrong place: {quote_line(line)}")
    rows, foreign = read_rows(lines[place + 1 :], heading.row)
    foreign = [*filter(str.strip, above), *foreign, *filter(str.strip, below)]
    return OsuTable(rows, heading.validates, foreign)


def read_heading(line: str) -> OsuHeading:
    """Return the columns that a line names.

    Raises
    ------
    BenchmarkError
        If a name is unknown or missing.
    """
    text = line.rstrip(" ")
    sized = text.startswith(_SIZE)
    place = len(_SIZE) if sized else 1
    quantities: list[_Quantity] = []
    ends: list[int] = []
    while place < len(text):
        column = _NAME.match(text, place)
        if column is None:
            raise _unreadable(line)
        place = column.end()
        quantities.append(_quantity(column[1]))
        ends.append(place)
    metrics = {quantity.metric for quantity in quantities}
    if len(metrics) < len(quantities) or not metrics & {"latency_avg", "bandwidth"}:
        raise _unreadable(line)
    return OsuHeading(sized, tuple(quantities), tuple(ends))


def _quantity(name: str) -> _Quantity:
    percentile = _PERCENTILE.fullmatch(name)
    if percentile is None:
        return _QUANTITIES[name]
    if percentile[2].startswith("Lat"):
        return _Quantity(f"latency_p{percentile[1]}", "us", "lower")
    return _Quantity(f"bandwidth_p{percentile[1]}", "MB/s", "higher")


def _unreadable(line: str) -> BenchmarkError:
    return BenchmarkError("unreadable", f"unknown names of columns: {quote_line(line)}")
