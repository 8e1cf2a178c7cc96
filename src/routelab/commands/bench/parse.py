"""``routelab bench parse``: print the figures of merit in a file."""

from __future__ import annotations

import argparse
import logging
from typing import TYPE_CHECKING, Any

from routelab.commands._shared.arguments import FILE, add_format_option
from routelab.commands._shared.output import print_rows

if TYPE_CHECKING:
    from routelab.api import BenchmarkResult, FigureOfMerit

COLUMNS = ("metric", "size", "value", "unit", "better")

logger = logging.getLogger(__name__)


def add_parser(actions: Any) -> None:
    """Add the action ``parse`` to ``routelab bench``.

    "Lines of other programs" are those in the file that a launcher, a library or a shell wrote.
    """
    parser = actions.add_parser(
        "parse",
        help="print the figures of merit in a benchmark's output",
        description="Read the output of a benchmark run on any system and print its figures of "
        "merit, and the lines of other programs in it. An incomplete or invalid output is an "
        "error: the exit code is 1, and the message names the failure.",
        examples=("routelab bench parse npb lu.C.128.out --format table",),
    )
    parser.add_argument("name", metavar="BENCHMARK", help="name of a benchmark plugin")
    parser.add_argument("file", **FILE, help="output of the benchmark")
    add_format_option(parser, "json")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Read the output of a benchmark and print its figures of merit.

    JSON and the text below a table also have the version, facts and lines of other programs.
    """
    from routelab.cluster.bench.parse import parse_output, result_as_mapping
    from routelab.results.json_files import to_json

    result = parse_output(arguments.name, arguments.file)
    if arguments.format == "json":
        print(to_json(result_as_mapping(arguments.name, result)), end="")
        return 0
    print_rows(COLUMNS, [_cells(figure) for figure in result.figures], arguments.format)
    if arguments.format == "table":
        _print_facts(result)
    elif result.foreign:
        logger.warning(
            "%s: %d lines of other programs are not shown; see --format table",
            arguments.file,
            len(result.foreign),
        )
    return 0


def _cells(figure: FigureOfMerit) -> tuple[str, ...]:
    """Return the row (`COLUMNS`) of a figure of merit."""
    size = "" if figure.size is None else str(figure.size)
    # 12 instead of 12.0
    value = int(figure.value) if float(figure.value).is_integer() else figure.value
    return (figure.metric, size, str(value), figure.unit, figure.better)


def _print_facts(result: BenchmarkResult) -> None:
    """Print version and facts, then the lines of other programs, unprintable characters escaped."""
    version = {"version": result.version} if result.version else {}
    for name, value in {**version, **result.facts}.items():
        print(f"{name}: {value}")
    if result.foreign:
        print("lines of other programs:")
        for line in result.foreign:
            # `ascii` writes the escape character as '\x1b', in quotes
            escaped = "".join(
                character if character.isprintable() else ascii(character)[1:-1]
                for character in line.expandtabs()
            )
            print(f"  {escaped}")
