"""The output format of the OSU Micro-Benchmarks, which `mpi-patterns` also prints.

Comment lines, the names of the columns, then a row for each size: the size and the average, and in
the full form (``-f``) the minimum, the maximum and the iterations.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from routelab.api import BenchmarkError
from routelab_plugins.benchmark_output import DECIMAL, WHOLE, quote_line
from routelab_plugins.latency_table import Row

PLAIN = "# Size Avg Latency(us)"
FULL = f"{PLAIN} Min Latency(us) Max Latency(us) Iterations"
"""Names of columns, with single spaces."""

_SHORT_ROW = re.compile(rf"({WHOLE}) +({DECIMAL}) *")
_FULL_ROW = re.compile(rf"({WHOLE}) +({DECIMAL}) +({DECIMAL}) +({DECIMAL}) +({WHOLE}) *")


def read_table(lines: Sequence[str]) -> list[Row]:
    """Read the rows of a table whose first line names the columns.

    Raises
    ------
    BenchmarkError
        If this line is missing, or other lines than rows follow.
    """
    names = " ".join(lines[0].split()) if lines else ""
    if names not in (PLAIN, FULL):
        raise BenchmarkError(
            "unreadable" if names else "no-result",
            f"expected the names of columns after the header, found {quote_line(names)}",
        )
    form = _FULL_ROW if names == FULL else _SHORT_ROW
    return [_row(form, line) for line in lines[1:]]


def _row(form: re.Pattern[str], line: str) -> Row:
    found = form.fullmatch(line)
    if found is None:
        raise BenchmarkError("unreadable", f"expected a row of numbers, found {quote_line(line)}")
    size, average, *more = found.groups()
    if not more:
        return Row(int(size), float(average))
    least, greatest, iterations = more
    return Row(int(size), float(average), float(least), float(greatest), int(iterations))
