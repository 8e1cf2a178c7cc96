"""``routelab compare``: find what differs between the results in two folders."""

from __future__ import annotations

import argparse
import math
import sys
from typing import Any

from routelab.commands._shared.arguments import add_format_option, named_path, number
from routelab.commands._shared.output import print_rows

MAX_PRINTED = 40
"""Largest number of changes in a printed table; CSV and JSON have all."""


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "compare",
        help="compare the results in two folders",
        examples=(
            "routelab compare results-1.0 results",
            "routelab compare results-1.0/report/ugal results/report/ugal --rtol 0.01",
        ),
        description="Compare the lists of runs of all studies in two folders of results, and print "
        "what changed. Computing times, commands and reasons are not compared, nor are mean, "
        "variation and allocations of measurements on clusters. Measured medians differ if their "
        "intervals do not overlap. Exit code: 0 equal, 1 different, 2 not comparable.",
    )
    for name in ("old", "new"):
        help_text = f"folder of the {name} results, or the report of one study in it"
        parser.add_argument(name, metavar=name.upper(), type=named_path, help=help_text)
    parser.add_argument(
        "--rtol",
        type=tolerance,
        default=0.0,
        metavar="N",
        help="largest difference of a number to ignore, relative to the old value (default: 0)",
    )
    add_format_option(parser)
    parser.set_defaults(run=run)


def tolerance(text: str) -> float:
    """Parse a finite number from 0 up."""
    value = number(text)
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 up")
    return value


def run(arguments: argparse.Namespace) -> int:
    """Print the differences of two folders of results; return 1 if there are any."""
    from routelab.report.changes import Change, compare_results

    changes = compare_results(arguments.old, arguments.new, arguments.rtol)
    is_table = arguments.format == "table"
    # without changes, a table is not printed, but CSV and JSON have a header or an empty list
    if changes or not is_table:
        num_printed = MAX_PRINTED if is_table else len(changes)
        print_rows(Change._fields, changes[:num_printed], arguments.format)
    # below CSV or JSON, a line of text would be a damaged row
    more = "; --format csv prints all" if is_table and len(changes) > MAX_PRINTED else ""
    print(f"differences: {len(changes):,}{more}", file=sys.stdout if is_table else sys.stderr)
    return 1 if changes else 0
