"""``routelab bound``: prove a lower bound of the maximum load of a network under some rules."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from routelab.commands._shared.arguments import add_output_options, positive
from routelab.commands._shared.output import (
    cell_text,
    check_result_folder,
    print_facts,
    warn,
)


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "bound",
        help="prove a lower bound of the maximum channel load",
        description="Prove a lower bound of the maximum channel load of all tables of shortest "
        "legal routes, or of all minimal routes if no rules are named. Writes a folder with the "
        "weights that prove it, or prints: the bound as a table or JSON, the weights as CSV.",
        examples=(
            "routelab bound torus~dims=4x2x2x2",
            "routelab bound torus~dims=4x2x2x2 angara~turns=exact",
        ),
    )
    parser.add_argument(
        "topology", metavar="TOPOLOGY", help="network: instance name, folder or npz file"
    )
    parser.add_argument(
        "rules",
        metavar="RULES",
        nargs="?",
        help="rules of legal routes: instance name (default: all minimal routes)",
    )
    add_output_options(parser)
    parser.add_argument(
        "--seconds",
        type=positive,
        default=60.0,
        metavar="N",
        help="time limit of the search, in seconds (default: 60)",
    )
    parser.add_argument(
        "--exact",
        action="store_true",
        help="search for the least maximum load of tables with one path per pair, if there are few "
        "routes; the solver's result is not a proof",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Compute the bound, then write or print it."""
    if arguments.output is not None:
        check_result_folder(arguments.output)
    from routelab.jobs.child import in_child

    return in_child(lambda: _print(arguments) if arguments.output is None else _write(arguments))


def _write(arguments: argparse.Namespace) -> int:
    from routelab.commands._shared.logging import show_progress
    from routelab.jobs.folder_job import perform
    from routelab.stages.bound import BARE
    from routelab.stages.kinds.bounds import BoundJob

    job = BoundJob(
        folder=str(arguments.output),
        topology=arguments.topology,
        text=arguments.rules or BARE,
        seconds=arguments.seconds,
        exact=arguments.exact,
    )
    with show_progress(arguments):
        outcome = perform(job)
    if outcome.status != "ok":
        warn(outcome.routing, outcome)
    return 0 if outcome.status == "ok" else 1


def _print(arguments: argparse.Namespace) -> int:
    from routelab.bounds import bound_numbers
    from routelab.bounds.columns import COLUMNS
    from routelab.commands._shared.logging import show_progress
    from routelab.registry.instances import load
    from routelab.stages.argument_errors import call_all
    from routelab.stages.bound import WEIGHT_COLUMNS, bound_load, weight_rows
    from routelab.stages.topology import obtain

    rules, (name, network) = call_all(
        lambda: load("rules", arguments.rules) if arguments.rules else None,
        lambda: obtain(arguments.topology),
    )
    with show_progress(arguments):
        bound = bound_load(network, rules, seconds=arguments.seconds, exact=arguments.exact)
    facts = {"topology": name, "rules": arguments.rules or "", **bound_numbers(bound)}
    if arguments.format == "csv":
        from routelab.toolkit.csv_cells import write_csv_rows

        write_csv_rows(sys.stdout, [WEIGHT_COLUMNS, *weight_rows(bound, network)])
    elif arguments.format == "json":
        print(json.dumps(facts, indent=2, ensure_ascii=False))
    else:
        print_facts({key: cell_text(value) for key, value in facts.items()}, COLUMNS)
    return 0
