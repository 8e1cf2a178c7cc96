"""Types of command-line arguments, and options that several commands have."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from routelab.commands._shared.output import FORMATS


def positive(text: str) -> float:
    """Parse a finite number above 0."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return number


def add_result_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of commands that write a result folder, or print the result."""
    parser.add_argument("-o", "--output", metavar="FOLDER", type=Path, help="write it here")
    parser.add_argument("--format", choices=FORMATS, default="table", help="default: table")
    parser.add_argument(
        "--keep-going",
        action="store_true",
        help="with -o: exit with code 0 for every outcome; outcome.json records it",
    )
