"""``routelab plugins new``: write a complete small package to start from."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from routelab.commands._shared.arguments import named_path


def add_new(actions: Any) -> None:
    """Add the action."""
    new = actions.add_parser(
        "new",
        help="write a small package with a working plugin to start from",
        description="Write a small package with a working plugin, its tests and a study, as a "
        "template for new plugins.",
        examples=(
            "routelab plugins new selection my-sssp",
            "routelab plugins new routing my-adaptive --hop-by-hop",
        ),
    )
    new.add_argument(
        "kind",
        metavar="KIND",
        help="topology, rules, selection, routing, metric or traffic",
    )
    new.add_argument("name", metavar="NAME", help="key of the plugin, as users write it")
    new.add_argument(
        "--directory",
        metavar="DIR",
        type=named_path,
        help="new or empty folder for the package (default: routelab-NAME)",
    )
    new.add_argument("--author", metavar="TEXT", default="", help="'Name' or 'Name <address>'")
    new.add_argument(
        "--hop-by-hop",
        action="store_true",
        help="make a hop-by-hop routing: for simulations, without a route table",
    )
    new.set_defaults(run=run_new)


def run_new(arguments: argparse.Namespace) -> int:
    """Write the package and print the next steps."""
    import shlex

    from routelab.commands.plugins import package

    new = package.make_new_plugin(
        arguments.kind, arguments.name, arguments.author, hop_by_hop=arguments.hop_by_hop
    )
    owner = package.owner(new.kind, new.key)
    folder = package.write_package(new, arguments.directory)
    if owner:
        print(
            f"routelab: warning: {owner} has a {new.kind} {new.key!r} already; neither can be "
            "used while both are installed",
            file=sys.stderr,
        )
    algorithm = "kernels.py" if new.hop_by_hop else "__init__.py"
    print(f"Wrote {folder}: the algorithm is in {folder / new.package / algorithm}")
    print("To install and check it in the environment that routelab is in:")
    python = shlex.quote(sys.executable)
    print(f"  {python} -m pip install --no-deps --editable {shlex.quote(str(folder))}")
    print(f"  {python} -m routelab plugins check {new.kind}/{new.key}")
    print(f"  {python} -m pytest {shlex.quote(str(folder))}")
    print(f"{folder / 'README.md'} describes the next steps.")
    return 0
