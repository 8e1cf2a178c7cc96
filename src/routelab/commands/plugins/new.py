"""``routelab plugins new``: write a complete small package to start from."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from routelab.commands._shared.arguments import FLAG, named_path


def add_new(actions: Any) -> None:
    """Add the action."""
    parser = actions.add_parser(
        "new",
        help="write a small package with a working plugin to start from",
        description="Write a small package with a working plugin, its tests and a study, as a "
        "template for new plugins.",
        examples=(
            "routelab plugins new selection my-sssp",
            "routelab plugins new routing my-adaptive --hop-by-hop",
        ),
    )
    parser.add_argument(
        "kind", metavar="KIND", help="topology, rules, selection, routing, metric or traffic"
    )
    parser.add_argument("name", metavar="NAME", help="key of the plugin, as users write it")
    parser.add_argument(
        "--directory",
        metavar="DIR",
        type=named_path,
        help="new or empty folder for the package (default: routelab-NAME)",
    )
    parser.add_argument("--author", metavar="TEXT", default="", help="'Name' or 'Name <address>'")
    parser.add_argument(
        "--hop-by-hop",
        **FLAG,
        help="make a hop-by-hop routing: for simulations, without a route table",
    )
    parser.set_defaults(run=run_new)


def run_new(arguments: argparse.Namespace) -> int:
    """Write the package and print the next steps."""
    import shlex

    from routelab.commands.plugins import package

    plugin = package.make_new_plugin(
        arguments.kind, arguments.name, arguments.author, hop_by_hop=arguments.hop_by_hop
    )
    # only a warning, as the other plugin can be uninstalled
    owner = package.owner(plugin.kind, plugin.key)
    folder = package.write_package(plugin, arguments.directory)
    if owner:
        print(
            f"routelab: warning: {owner} has a {plugin.kind} {plugin.key!r} already; neither can "
            "be used while both are installed",
            file=sys.stderr,
        )
    algorithm = "kernels.py" if plugin.hop_by_hop else "__init__.py"
    print(f"Wrote {folder}: the algorithm is in {folder / plugin.package / algorithm}")
    print("To install and check it in the environment that routelab is in:")
    python = shlex.quote(sys.executable)
    print(f"  {python} -m pip install --no-deps --editable {shlex.quote(str(folder))}")
    print(f"  {python} -m routelab plugins check {plugin.kind}/{plugin.key}")
    print("To run its tests, with pytest (in a checkout: `make .venv/installed-test`):")
    print(f"  {python} -m pytest {shlex.quote(str(folder))}")
    print(f"{folder / 'README.md'} describes the next steps.")
    return 0
