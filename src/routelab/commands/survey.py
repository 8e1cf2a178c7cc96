"""``routelab survey``: do the runs of a survey's shard that have no row yet."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "survey",
        help="do a part of a survey",
        description="Do the runs of a survey that FILE lists (the workflow writes it) and that "
        "have no row yet, and write a table of all of them.",
    )
    parser.add_argument("shard", metavar="FILE", type=Path, help="list of runs")
    parser.add_argument(
        "--results", metavar="FOLDER", type=Path, default=Path("results"), help="default: results"
    )
    parser.add_argument(
        "-o", "--output", metavar="TABLE.csv", type=Path, required=True, help="write it here"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Do a shard."""
    from routelab.stages import shards

    shards.run_shard(arguments.shard, arguments.results, arguments.output)
    return 0
