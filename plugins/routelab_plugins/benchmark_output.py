"""Output of benchmarks: whole lines, rows of tables, and lines of other programs among them.

A number counts only in a complete line: of the exact form, and with its end of line. Launchers,
libraries and shells also print lines into the output. They are kept and do no harm, unless they
look like a part of a row: then a row may be damaged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import TypeVar

from routelab.api import BenchmarkError, BenchmarkTask, RunOutput
from routelab.toolkit.launcher_reports import find_report
from routelab_plugins.quotes import quote_line

T = TypeVar("T")

_ERRORS = (
    r"^\W*(fatal )?error ?[:!]",
    r"^\W*error\W*$",
    r"\bAbort\([0-9]+\) on node\b",
    r"\bFatal error in \w+",
    r"\*\*\* An error occurred in MPI_",
    r"^application called MPI_Abort\b",
    r"^(forrtl: severe|At line [0-9]+ of file|Program received signal)\b",
    r"\berror while loading shared libraries\b",
    r"^Traceback \(most recent call last\):",
)
"""Lines of programs and their libraries about errors."""

WHOLE = "(?:0|[1-9][0-9]{0,14})"
DECIMAL = rf"{WHOLE}\.[0-9]{{2}}"
"""Numbers as benchmarks print them: ASCII digits without leading zeros, of limited length."""

_PART_OF_ROW = re.compile(r"\s*\d+(\s{2}|\s*$)|.*\s{2}\d+\.\d{2}(?!\d)|\s*\d*\.\d{2}(\s{2}|\s*$)")
"""The begin of a row (a number, then a gap or nothing), or a number with two decimals after a gap.

A row that is split anywhere, with or without text of other programs in between, leaves one of
these, because its columns have at least two spaces between them.
"""


def read_lines(output: RunOutput, errors: Sequence[str] = ()) -> list[str]:
    """Return the lines of a successful run, without empty ones at the end.

    Parameters
    ----------
    output : RunOutput
    errors : sequence of str
        Regular expressions of the benchmark's own errors.

    Raises
    ------
    BenchmarkError
        If the run printed an error or nothing, ended with an exit code other than 0, or its last
        line is incomplete.
    """
    _check_errors(output, errors)
    text = output.stdout.replace("\r\n", "\n")
    if not text.strip():
        raise BenchmarkError("no-result", "nothing was printed")
    *lines, unfinished = text.split("\n")
    if unfinished:
        raise BenchmarkError("incomplete", f"the last line has no end: {quote_line(unfinished)}")
    while lines and not lines[-1].strip():
        lines.pop()
    return lines


def _check_errors(output: RunOutput, errors: Sequence[str]) -> None:
    """Raise if the output has a line about an error, or the exit code is not 0."""
    streams = [text.replace("\r\n", "\n").split("\n") for text in (output.stdout, output.stderr)]
    patterns = (*errors, *_ERRORS)
    any_error = re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)
    for lines in streams:
        for number, line in enumerate(map(str.strip, lines)):
            if any_error.search(line):
                # after a colon, the error itself is on the next lines, up to an empty one
                paragraph = " ".join(takewhile(bool, map(str.strip, lines[number:])))
                text = paragraph if line.endswith(":") else line
                raise BenchmarkError("error-text", f"the output says: {quote_line(text)}")
    # A launcher reports that a run died. `routelab bench` has looked for such reports before it
    # calls a parser; other callers have not.
    report = find_report(output.stdout, output.stderr)
    if report:
        raise BenchmarkError("error-text", f"the output says: {quote_line(report)}")
    if output.exit_code:
        raise BenchmarkError("error-text", f"exit code {output.exit_code}")


def read_rows(
    lines: Sequence[str], parse_row: Callable[[str], T | None]
) -> tuple[list[T], list[str]]:
    """Return the contents of the rows among lines, and the lines of other programs.

    Parameters
    ----------
    lines : sequence of str
        Everything after the heading of a table.
    parse_row : callable
        Returns the content of a row; None for any other line.

    Raises
    ------
    BenchmarkError
        If a line that is not a row looks like a part of one.
    """
    rows: list[T] = []
    other_lines: list[str] = []
    for line in lines:
        content = parse_row(line)
        if content is not None:
            rows.append(content)
        # a damaged row must not pass for a line of another program: its numbers would be lost
        elif _PART_OF_ROW.match(line):
            raise BenchmarkError(
                "unreadable", f"expected a row of numbers, found {quote_line(line)}"
            )
        elif line.strip():
            other_lines.append(line)
    return rows, other_lines


def check_processes(count: int, task: BenchmarkTask | None) -> None:
    """Raise unless the requested number of processes took part."""
    if task is not None and count != task.ranks:
        raise BenchmarkError(
            "wrong-processes",
            f"{count} processes took part, {task.ranks} were requested; do launcher and program "
            "use the same MPI?",
        )


def check_one(count: int, what: str) -> None:
    """Raise unless the output has exactly one header, table or other item that a run prints once.

    Parameters
    ----------
    count : int
        How many the output has.
    what : str
        Name of the item in messages, such as ``OSU's header``.
    """
    if count == 0:
        raise BenchmarkError("no-result", f"there is no {what}")
    if count > 1:
        raise BenchmarkError(
            "wrong-processes",
            f"there are {count} of {what}: each process ran alone (do launcher and program use "
            "the same MPI?), or the output has several runs",
        )
