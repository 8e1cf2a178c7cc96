"""``routelab compare``: find what differs between the results in two folders."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from routelab.commands._shared.arguments import add_format_option, named_path
from routelab.commands._shared.output import print_rows

if TYPE_CHECKING:
    from routelab.report.changes import Comparison, Tolerance

MAX_PRINTED = 40
"""Largest number of changes in a printed table; CSV, JSON and the page have more."""


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "compare",
        help="compare the results in two folders",
        examples=(
            "routelab compare results-1.0 results",
            "routelab compare old new --study angara-table2 --tolerance max_load=1%",
            "routelab compare old new --tolerance 'latency_*=2%' -o changes",
        ),
        description="Compare all values of the same studies in two folders of results, and print "
        "what changed beyond its tolerance. Measurements on clusters differ if their intervals do "
        "not overlap. Computing times are compared only with a tolerance; differently worded "
        "sentences are counted separately. Exit code: 0 equal, 1 different, 2 not "
        "comparable.",
    )
    parser.add_argument("old", metavar="OLD", type=named_path, help="folder of the old results")
    parser.add_argument("new", metavar="NEW", type=named_path, help="folder of the new results")
    parser.add_argument(
        "--study",
        action="append",
        default=[],
        metavar="NAME",
        help="study to compare; can be given several times (default: all)",
    )
    parser.add_argument(
        "--tolerance",
        action="append",
        default=[],
        type=tolerance,
        metavar="COLUMN=VALUE",
        help="largest difference of a column to ignore, absolute or in percent of the old "
        "value; '*' in COLUMN stands for any letters; can be given several times (default: 0)",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FOLDER",
        type=named_path,
        help="folder for a page (index.html) and all changes (changes.csv)",
    )
    add_format_option(parser)
    parser.set_defaults(run=run)


def tolerance(text: str) -> Tolerance:
    """Parse ``COLUMN=VALUE`` or ``COLUMN=VALUE%``."""
    from routelab.api.number_texts import read_number
    from routelab.report.changes import Tolerance

    pattern, equals, number = text.partition("=")
    relative = number.endswith("%")
    try:
        value = read_number(number.removesuffix("%"))
    except ValueError:
        value = -1.0
    if not pattern or not equals or not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r}: write COLUMN=VALUE, such as max_load=2 or 1%")
    return Tolerance(pattern, value / 100 if relative else value, relative)


def run(arguments: argparse.Namespace) -> int:
    """Compare, print the changes, and write the page."""
    from routelab.report.changes import Change, compare_results
    from routelab.report.page.changes import check_folder, write_changes

    if arguments.output is not None:
        check_folder(arguments.output)
    comparison = compare_results(arguments.old, arguments.new, arguments.study, arguments.tolerance)
    if arguments.output is not None:
        write_changes(comparison, arguments.old, arguments.new, arguments.output)
        print(arguments.output / "index.html")
    elif comparison.changes or arguments.format != "table":
        most = MAX_PRINTED if arguments.format == "table" else None
        print_rows(Change._fields, comparison.changes[:most], arguments.format)
    _print_summary(comparison, arguments.format, written=arguments.output is not None)
    return 1 if comparison.changes else 0


def _print_summary(comparison: Comparison, form: str, *, written: bool) -> None:
    more = len(comparison.changes) - MAX_PRINTED
    stream = sys.stdout if form == "table" else sys.stderr
    if more > 0 and form == "table" and not written:
        print(f"... and {more} more: --format csv prints all, -o writes a page", file=stream)
    print(comparison.sentence, file=stream)
