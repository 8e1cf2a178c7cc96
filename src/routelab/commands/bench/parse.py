"""``routelab bench parse``: print the figures of merit in a file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add_parser(actions: Any) -> None:
    """Add the action."""
    parser = actions.add_parser(
        "parse",
        help="print the figures of merit in a benchmark's output",
        description="Read the output of a benchmark run on any system and print its figures of "
        "merit as JSON. An incomplete or invalid output is an error: the exit code is 1, and the "
        "message names the failure.",
        epilog="Example: routelab bench parse npb lu.C.128.out",
    )
    parser.add_argument("name", metavar="BENCHMARK", help="name of a benchmark plugin")
    parser.add_argument("file", metavar="FILE", type=Path, help="what it printed")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Parse the output and print its figures."""
    from routelab.artifacts.json_files import to_json
    from routelab.stages.bench.parse import as_mapping, parse_output

    result = parse_output(arguments.name, arguments.file)
    print(to_json(as_mapping(arguments.name, result)), end="")
    return 0
