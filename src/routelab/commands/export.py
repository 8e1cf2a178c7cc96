"""``routelab export``: write a network with its routes for another program."""

from __future__ import annotations

import argparse
from typing import Any

from routelab.commands._shared.arguments import FOLDER


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "export",
        help="write a network with its routes for another program",
        description="Write a network with its routes as files of another program. Writes a folder, "
        "or prints. Files of formats that routelab can read are first read back and compared with "
        "the routes.",
        examples=(
            "routelab export simgrid torus~dims=4x2x2x2 angara-sssp -o platform",
            "routelab export simgrid torus~dims=4x2x2x2 angara-sssp --verify platform",
        ),
    )
    parser.add_argument("export", metavar="EXPORT", help="format: instance name")
    parser.add_argument(
        "routes",
        metavar="ROUTES",
        nargs="+",
        help="a folder or routes.npz that `routelab route` wrote; or TOPOLOGY ROUTING: a network "
        "and an instance name",
    )
    write_or_verify = parser.add_mutually_exclusive_group()
    write_or_verify.add_argument(
        "-o", "--output", **FOLDER, help="folder for the files (default: print)"
    )
    write_or_verify.add_argument(
        "--verify",
        **FOLDER,
        help="read the files in this folder instead, and verify that they hold these routes (if "
        "not, exit with code 1 and print the first pair that differs)",
    )
    parser.add_argument(
        "--machine",
        metavar="CLUSTER",
        default="",
        help="speeds of a cluster: <name> of config/clusters/<name>.yaml, or a file (default: the "
        "default machine)",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write or print the files of an export; with ``--verify``, compare existing files instead."""
    from routelab.api import InputError
    from routelab.commands._shared.logging import show_progress
    from routelab.routing.export import (
        check_destination,
        export_routes,
        verify_export,
        write_export,
    )

    # argparse cannot say "one or two": its "+" has no upper limit
    if len(arguments.routes) > 2:
        raise InputError(
            f"ROUTES is one folder or file, or a network and a routing; "
            f"there are {len(arguments.routes)} arguments: {' '.join(arguments.routes)}"
        )
    if arguments.verify is not None:
        with show_progress(arguments):
            # it raises a DifferentError, whose exit code is 1, if the network or a route differs
            verdict_text = verify_export(arguments.export, arguments.routes, arguments.verify)
        print(verdict_text)
        return 0
    # before the work, which may take long
    if arguments.output is not None:
        check_destination(arguments.output)
    with show_progress(arguments):
        files = export_routes(arguments.export, arguments.routes, arguments.machine)
    if arguments.output is not None:
        write_export(files, arguments.output)
        return 0
    for name, text in files.items():
        # as `tail` separates several files
        if len(files) > 1:
            print(f"==> {name} <==")
        print(text, end="")
    return 0
