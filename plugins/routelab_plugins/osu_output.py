"""The output of a program of the OSU Micro-Benchmarks, versions 5 to 7.

A title with the version, the names of columns, and a row for each size. Version 7 adds the data
type, above or below the names of columns; programs for accelerators add where buffers are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from routelab.api import BenchmarkError
from routelab_plugins.benchmark_output import check_one
from routelab_plugins.osu_table import OsuTable, read_table
from routelab_plugins.quotes import quote_line

ANY_TITLE = re.compile(r"# OSU ")
DATATYPE = re.compile(r"# Datatype: \w+\. *")
BUFFERS = re.compile(r"# Send Buffer on [\w ()]+ and Receive Buffer on [\w ()]+")


def read_output(lines: Sequence[str], title: str, program: str) -> tuple[str, OsuTable]:
    """Return the version of a benchmark, and the table that it printed.

    Parameters
    ----------
    lines : sequence of str
        Whole lines of a successful run.
    title : str
        Title of the benchmark, such as ``Allreduce Latency Test``.
    program : str
        Its name, for messages.

    Raises
    ------
    BenchmarkError
        If there is not exactly one table of this benchmark, or a row may be damaged.
    """
    form = re.compile(rf"# OSU MPI(?:-[A-Z]+)? {re.escape(title)} v([0-9]+(?:\.[0-9]+)*) *")
    titles = [place for place, line in enumerate(lines) if ANY_TITLE.search(line)]
    check_one(len(titles), "OSU's header")
    top = titles[0]
    title_line = form.fullmatch(lines[top])
    if title_line is None:
        raise BenchmarkError(
            "wrong-benchmark" if ANY_TITLE.match(lines[top]) else "unreadable",
            f"expected {program}'s header, found {quote_line(lines[top])}",
        )
    below = lines[top + 1 :]
    if sum(bool(DATATYPE.fullmatch(line)) for line in below) > 1:
        raise BenchmarkError(
            "unreadable", "there are several data types: is it the output of one run?"
        )
    content = [
        line for line in below if not DATATYPE.fullmatch(line) and not BUFFERS.fullmatch(line)
    ]
    return title_line[1], read_table(content, lines[:top])
