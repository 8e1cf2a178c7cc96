"""``routelab plugins``: list, show, check and create plugins; list columns of results."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from routelab.commands._shared.arguments import add_format_option
from routelab.commands._shared.output import print_rows, print_table
from routelab.commands.plugins.check import add_check
from routelab.commands.plugins.new import add_new

if TYPE_CHECKING:
    from routelab.registry.catalogue import Catalogue, CatalogueEntry


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "plugins",
        help="list, show, check and create plugins; list columns of results",
        examples=(
            "routelab plugins list routing",
            "routelab plugins show angara-sssp",
            "routelab plugins new selection my-sssp",
        ),
    )
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)

    listing = actions.add_parser(
        "list",
        help="list all installed plugins, including broken ones",
        examples=("routelab plugins list", "routelab plugins list routing"),
    )
    listing.add_argument(
        "kind", metavar="KIND", nargs="?", help="kind of plugins (default: all kinds)"
    )
    add_format_option(listing)
    listing.set_defaults(run=run_list)

    show = actions.add_parser(
        "show",
        help="show the details of one plugin",
        examples=("routelab plugins show angara-sssp", "routelab plugins show topology/torus"),
    )
    show.add_argument("plugin", metavar="NAME", help="plugin: NAME or KIND/NAME")
    show.set_defaults(run=run_show)

    columns = actions.add_parser(
        "columns",
        help="list all columns that results can have",
        examples=("routelab plugins columns --of loads",),
        description="List the columns of results, including those of installed plugins, with their "
        "meaning, unit, preferred direction, and the setting that they need.",
    )
    columns.add_argument(
        "--of",
        metavar="ROWS",
        help="only columns of these rows, such as routes or loads (the values of 'of' in a study)",
    )
    add_format_option(columns)
    columns.set_defaults(run=run_columns)

    add_check(actions)
    add_new(actions)


def run_list(arguments: argparse.Namespace) -> int:
    """Print a row for each plugin, including broken ones, then the causes of the broken ones.

    A terminal shows names and summaries only.
    """
    from routelab.registry.catalogue import installed_catalogue

    entries = installed_catalogue().entries(arguments.kind)
    if arguments.format == "table" and sys.stdout.isatty():
        print_table(("name", "summary"), _name_rows(entries))
        _print_causes(entries)
        return 0
    columns = ["kind", "key", "distribution", "version", "status", "summary"]
    rows = [
        [entry.kind, entry.key, entry.distribution, entry.version, entry.status, _summary(entry)]
        for entry in entries
    ]
    if arguments.format != "table":
        columns.append("cause")
        rows = [[*row, entry.cause] for row, entry in zip(rows, entries, strict=True)]
    print_rows(columns, rows, arguments.format)
    if arguments.format == "table":
        _print_causes(entries)
    return 0


def run_show(arguments: argparse.Namespace) -> int:
    """Print the page of one plugin."""
    from routelab.commands.plugins.page import print_page
    from routelab.registry.catalogue import installed_catalogue

    catalogue = installed_catalogue()
    kind, key = locate(catalogue, arguments.plugin)
    # raises an error with the cause if the plugin is broken
    catalogue.plugin(kind, key)
    print_page(catalogue.entry(kind, key), catalogue)
    return 0


def run_columns(arguments: argparse.Namespace) -> int:
    """Print a line for each column that results can have.

    With ``--of loads``, print only the columns of tables with a row for each load; see `Rows`.
    """
    from typing import get_args

    from routelab.api import InputError
    from routelab.api.columns import Rows
    from routelab.registry.columns import installed_columns
    from routelab.registry.suggest import did_you_mean

    row_kinds = get_args(Rows)
    if arguments.of is not None and arguments.of not in row_kinds:
        hint = did_you_mean(arguments.of, row_kinds)
        raise InputError(f"no rows {arguments.of!r}{hint} (rows: {', '.join(row_kinds)})")
    columns = [
        column
        for column in installed_columns()
        if arguments.of is None or arguments.of in column.of
    ]
    rows = [
        [column.name, "+".join(column.of), column.unit, column.better, column.needs, column.meaning]
        for column in columns
    ]
    names = ("column", "of", "unit", "better", "needs", "meaning")
    print_rows(names, rows, arguments.format, first=("unit", "meaning"))
    return 0


def locate(catalogue: Catalogue, text: str) -> tuple[str, str]:
    """Return the kind and key of the plugin that a user calls ``NAME`` or ``KIND/NAME``.

    Raises
    ------
    InputError
        If no plugin or more than one has this name.
    """
    from routelab.api import KINDS, InputError
    from routelab.registry.suggest import did_you_mean

    named_kind, slash, key = text.rpartition("/")
    if slash:
        # `entry` raises if there is no such plugin
        return named_kind, catalogue.entry(named_kind, key).key
    kinds = catalogue.kinds_of(key)
    if not kinds:
        all_keys = [other_key for kind in KINDS for other_key in catalogue.keys(kind)]
        hint = did_you_mean(key, all_keys)
        raise InputError(f"no plugin is called {key!r}{hint} (see `routelab plugins list`)")
    if len(kinds) > 1:
        choices = " or ".join(f"{kind}/{key}" for kind in kinds)
        raise InputError(f"{key!r} is a plugin of several kinds; write {choices}")
    return kinds[0], key


def _name_rows(entries: Sequence[CatalogueEntry]) -> list[tuple[str, str]]:
    """Return names and summaries of plugins; several kinds are sections with a heading each."""
    kinds = dict.fromkeys(entry.kind for entry in entries)
    has_headings = len(kinds) > 1
    indent = "  " if has_headings else ""
    rows = []
    for kind in kinds:
        if has_headings:
            rows.append((kind, ""))
        rows += [
            # a broken plugin has no summary
            (indent + entry.key, _summary(entry) or f"({entry.status}, see below)")
            for entry in entries
            if entry.kind == kind
        ]
    return rows


def _summary(entry: CatalogueEntry) -> str:
    return entry.plugin.summary if entry.plugin else ""


def _print_causes(entries: list[CatalogueEntry]) -> None:
    causes = dict.fromkeys(entry.cause for entry in entries if entry.cause)
    if causes:
        print("\n" + "\n".join(causes) + "\n")
