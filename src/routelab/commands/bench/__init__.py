"""``routelab bench``: compare routings by benchmarks on a real system."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from routelab.commands._shared.arguments import FILE, FLAG, FOLDER, add_format_option
from routelab.commands.bench.parse import add_parser as add_parse


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "bench",
        help="compare routings by benchmarks on a real system",
        description="Run benchmarks under several routings in balanced order, on this machine or "
        "in one allocation of a cluster. All runs are stored, and stored runs are not "
        "repeated. Prints a table.",
        examples=(
            "routelab bench --cluster local --benchmark mpi-patterns --dry-run",
            "routelab bench parse npb lu.C.128.out",
        ),
        add_late_options=_add_options,
    )
    parser.set_defaults(run=run)
    add_parse(
        parser.add_subparsers(title="actions without a run", metavar="ACTION", required=False)
    )


def _add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command to its parser."""
    from routelab.commands._shared.settings import add_settings
    from routelab.study.bench_settings import BenchSettings

    measurement = parser.add_argument_group("measurement")
    measurement.add_argument(
        "--benchmark", metavar="NAME", action="append", help="instance name; may be repeated"
    )
    measurement.add_argument(
        "--topology",
        metavar="NAME",
        help="instance name of the network, or of a part for which the cluster has a node set "
        "(default: the cluster's network)",
    )
    measurement.add_argument(
        "--routing",
        metavar="NAME",
        action="append",
        help="instance name; may be repeated (default: measure the fabric as it is)",
    )
    measurement.add_argument(
        "--comparison",
        **FILE,
        help="a comparison planned by the workflow, instead of these options",
    )
    execution = parser.add_argument_group("execution")
    execution.add_argument("--apply-routing", **FLAG, help="allow switching the fabric's routing")
    execution.add_argument(
        "--dry-run", **FLAG, help="print every command, but run and change nothing"
    )
    execution.add_argument(
        "--results",
        **FOLDER,
        default=Path("results"),
        help="folder that stores raw runs in bench/runs (default: results)",
    )
    execution.add_argument(
        "-o",
        "--output",
        **FOLDER,
        help="folder for outcome, runs and figures; with --comparison: the file to write when "
        "finished",
    )
    add_format_option(execution)
    # predictions are jobs of the workflow
    add_settings(parser, BenchSettings, title="settings", omitted=("--predict",))


def run(arguments: argparse.Namespace) -> int:
    """Measure the comparison of the options, or the planned one in the file of --comparison."""
    from routelab.commands.bench.comparison import run_options, run_planned_comparison

    if arguments.comparison is not None:
        return run_planned_comparison(arguments)
    return run_options(arguments)
