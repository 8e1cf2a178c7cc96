"""``routelab instances``: a public benchmark of lossless routing."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from routelab.commands._shared.arguments import FOLDER, add_format_option
from routelab.commands._shared.output import print_rows

if TYPE_CHECKING:
    from routelab.instances.collection import Collection


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "instances",
        help="a public benchmark of lossless routing, with bounds that anyone can recompute",
        description="Networks with rules for routes, and a proven lower bound of the maximum load "
        "under all-to-all traffic for each. The rules are in instances/README.md.",
        examples=(
            "routelab instances list",
            "routelab instances show torus-4x2x2x2",
            "routelab instances run torus-4x2x2x2 words~vcs=1",
            "routelab instances check my-entry",
        ),
    )
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)

    listing = actions.add_parser(
        "list",
        examples=("routelab instances list",),
        help="list all instances with bound and best entry",
    )
    add_format_option(listing)
    listing.set_defaults(run=run_list)

    show = actions.add_parser(
        "show",
        examples=("routelab instances show torus-4x2x2x2",),
        help="show the rules of an instance, and all its entries",
    )
    show.add_argument("name", metavar="NAME", help="an instance")
    add_format_option(show)
    show.set_defaults(run=run_show)

    run = actions.add_parser(
        "run",
        examples=("routelab instances run torus-4x2x2x2 words~vcs=1",),
        help="make entries of routings, or compare them with those that there are",
        description="Route the network of an instance, check the routes with instances/check.py, "
        "and write an entry. If there is one, compare its routes. Exit code 1 if routes differ.",
    )
    run.add_argument("name", metavar="NAME", help="an instance")
    run.add_argument(
        "routings",
        metavar="ROUTING",
        nargs="*",
        help="instance name of a routing (default: all that are installed and apply)",
    )
    run.set_defaults(run=run_run)

    check = actions.add_parser(
        "check",
        examples=("routelab instances check my-entry",),
        help="check an entry",
        description="Check an entry with instances/check.py. Exit code 0: accepted; 2: it cannot "
        "be read, or claims something false; 3: not enough input; 4: nothing is proven; 5: cycle; "
        "6: broken; 7: outside the instance.",
    )
    check.add_argument("entry", **FOLDER, help="folder with about.json and routes.csv.gz")
    check.set_defaults(run=run_check)

    table = actions.add_parser(
        "table",
        examples=("routelab instances table",),
        help="write best.csv, and the page docs/results/instances.md beside the folder",
    )
    table.set_defaults(run=run_table)

    for action in (listing, show, run, check, table):
        action.add_argument(
            "--instances",
            **FOLDER,
            default=Path("instances"),
            help="folder of the instances (default: instances)",
        )


def _collection(arguments: argparse.Namespace) -> Collection:
    from routelab.instances.collection import Collection

    return Collection(arguments.instances)


def run_list(arguments: argparse.Namespace) -> int:
    """Print a row for each instance."""
    from routelab.instances.best import COLUMNS, best_rows

    rows = [[str(cell) for cell in row] for row in best_rows(_collection(arguments))]
    print_rows(COLUMNS, rows, arguments.format)
    return 0


def run_show(arguments: argparse.Namespace) -> int:
    """Print a row for each entry of an instance; above a table, also the rules of the instance."""
    from routelab.instances.entries import gap

    instance = _collection(arguments).instance(arguments.name)
    facts = [*instance.rules.items(), ("bound", instance.bound)]
    if arguments.format == "table":
        for key, value in facts:
            print(f"{key:17} {value}")
        print()
    rows = [
        (entry.folder.name, str(entry.value), f"{gap(entry.value, instance.bound):.2f}")
        for entry in instance.entries()
    ]
    print_rows(("entry", "load", "gap_percent"), rows, arguments.format)
    return 0


def run_run(arguments: argparse.Namespace) -> int:
    """Make or compare the entries of routings.

    Return 1 if routes differ from those of an entry, or if a named routing does not apply.
    """
    from routelab.api import UnsupportedError
    from routelab.commands._shared.logging import show_progress
    from routelab.instances.entries import DifferentError, add_entry, installed_routings

    instance = _collection(arguments).instance(arguments.name)
    code = 0
    with show_progress(arguments):
        for routing in arguments.routings or installed_routings(instance):
            try:
                print(add_entry(instance, routing), flush=True)
            except UnsupportedError as error:
                print(f"no entry of {routing}: {error}", flush=True)
                # of all installed routings, some never apply to this network
                if arguments.routings:
                    code = 1
            except DifferentError as error:
                print(error, flush=True)
                code = 1
    return code


def run_check(arguments: argparse.Namespace) -> int:
    """Run instances/check.py on an entry, and return the exit code of that program."""
    collection = _collection(arguments)
    about = collection.call_checker(collection.checker.read_json, arguments.entry / "about.json")
    # about.json names the instance. If it does not, the name is "None" or "", and the checker
    # reports that there is no such instance.
    name = str(about.get("instance")) if isinstance(about, dict) else ""
    exit_code: int = collection.checker.main([name, str(arguments.entry)])
    return exit_code


def run_table(arguments: argparse.Namespace) -> int:
    """Write the table of best entries, and its page."""
    from routelab.instances.best import write_tables

    for path in write_tables(_collection(arguments)):
        print(path)
    return 0
