"""``routelab warm``: compile kernels before many processes need them at once."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "warm",
        help="compile the kernels of some routings into the cache",
        description="Route a tiny network with each routing, so that compiled kernels are in the "
        "cache when many jobs start at once. The workflow does this first.",
    )
    parser.add_argument("routings", metavar="ROUTING", nargs="*", help="instance name")
    parser.add_argument(
        "--simulate", metavar="ROUTING", nargs="*", default=[], help="those that are simulated"
    )
    parser.add_argument(
        "--flow", metavar="ROUTING", nargs="*", default=[], help="those that workloads are run on"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=Path, required=True, help="stamp file"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Compile, and tell what could not be tried."""
    from routelab.stages import warm

    routings = arguments.routings, arguments.output, arguments.simulate, arguments.flow
    for line in warm.run(*routings):
        print(line)
    return 0
