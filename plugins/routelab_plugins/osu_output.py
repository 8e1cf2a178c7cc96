"""The output of a program of the OSU Micro-Benchmarks, versions 5 to 7.

A title with the version, the names of columns, and a row for each size (one row if there are no
sizes). Version 7 adds the data type, above or below the names of columns; `osu_mbw_mr` prints the
number of pairs, and in some versions its title twice; programs for accelerators add where buffers
are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from routelab.api import BenchmarkError
from routelab_plugins.benchmark_output import WHOLE, check_one
from routelab_plugins.osu_table import OsuTable, read_table
from routelab_plugins.quotes import quote_line

ANY_TITLE = re.compile(r"# OSU ")
DATATYPE = re.compile(r"# Datatype: \w+\. *")
BUFFERS = re.compile(r"# Send Buffer on [\w ()]+ and Receive Buffer on [\w ()]+")
PAIRS = re.compile(rf"# \[ pairs: (?P<pairs>{WHOLE}) \] \[ window size: (?P<window>{WHOLE}) \] *")


@dataclass(frozen=True)
class OsuOutput:
    """What a program printed.

    Attributes
    ----------
    version : str
        Version of the program, such as ``7.4``.
    table : OsuTable
    pairs, window : int or None
        Pairs of processes, and messages in flight; None for all programs but ``osu_mbw_mr``.
    """

    version: str
    table: OsuTable
    pairs: int | None = None
    window: int | None = None


def read_output(lines: Sequence[str], title: str, program: str) -> OsuOutput:
    """Read the output of a benchmark.

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
    # 1. The title. Some versions of osu_mbw_mr print it twice, one line below the other; then the
    #    second one counts.
    expected_title = re.compile(
        rf"# OSU MPI(?:-[A-Z]+)? {re.escape(title)} v(?P<version>[0-9]+(?:\.[0-9]+)*) *"
    )
    title_line_numbers = [number for number, line in enumerate(lines) if ANY_TITLE.search(line)]
    if program == "osu_mbw_mr" and len(title_line_numbers) == 2:
        first, second = title_line_numbers
        if second == first + 1 and lines[first] == lines[second]:
            del title_line_numbers[0]
    check_one(len(title_line_numbers), "OSU's header")
    title_line_number = title_line_numbers[0]
    title_line = lines[title_line_number]
    header = expected_title.fullmatch(title_line)
    if header is None:
        # a line that begins as a title is that of another program; any other one is damaged
        raise BenchmarkError(
            "wrong-benchmark" if ANY_TITLE.match(title_line) else "unreadable",
            f"expected {program}'s header, found {quote_line(title_line)}",
        )
    # 2. Lines that some versions print among those of the table, at changing places.
    table_lines: list[str] = []
    pairs_lines: list[re.Match[str]] = []
    num_datatype_lines = 0
    for line in lines[title_line_number + 1 :]:
        if pairs_line := PAIRS.fullmatch(line):
            pairs_lines.append(pairs_line)
        elif DATATYPE.fullmatch(line):
            num_datatype_lines += 1
        elif not BUFFERS.fullmatch(line):
            table_lines.append(line)
    if num_datatype_lines > 1 or len(pairs_lines) > 1:
        what = "data types" if num_datatype_lines > 1 else "numbers of pairs"
        raise BenchmarkError(
            "unreadable", f"there are several {what}: is it the output of one run?"
        )
    # 3. The table. Lines before the title are from other programs, except for the first of two
    #    equal titles.
    lines_above = [line for line in lines[:title_line_number] if line != title_line]
    output = OsuOutput(version=header["version"], table=read_table(table_lines, lines_above))
    if not pairs_lines:
        return output
    numbers = pairs_lines[0]
    return replace(output, pairs=int(numbers["pairs"]), window=int(numbers["window"]))
