"""``routelab topology``: build a network."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from routelab.commands._shared.arguments import NETWORK, add_result_options
from routelab.commands._shared.output import check_result_folder, print_facts, warn

if TYPE_CHECKING:
    from routelab.api import Topology

MAX_ENTRIES = 8
"""Longest list of a network's attribute that is printed in full."""


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "topology",
        help="build a network and print its sizes",
        examples=(
            "routelab topology torus~dims=4x2x2x2",
            "routelab topology torus~dims=4x2x2x2 --format csv",
        ),
        description="Build a network. Writes a folder, or prints: its sizes as a table or JSON, "
        "its channels as CSV.",
    )
    parser.add_argument("topology", **NETWORK)
    add_result_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Build a network; write it into the folder of ``-o``, or print its sizes or channels."""
    if arguments.output is None:
        from routelab.routing.topology import load_network

        name, network = load_network(arguments.topology)
        _print(name, network, arguments.format)
        return 0
    check_result_folder(arguments.output)
    from routelab.jobs.folder_job import run_job
    from routelab.workflow.stages.topologies import TopologyJob

    outcome = run_job(TopologyJob(folder=str(arguments.output), text=arguments.topology))
    if outcome.status != "ok":
        warn(outcome.topology, outcome)
    return 0 if outcome.status == "ok" or arguments.keep_going else 1


def _print(name: str, network: Topology, output_format: str) -> None:
    """Print the sizes of a network, or in the format "csv" its channels."""
    from routelab.routing.fact_columns import COLUMNS
    from routelab.routing.topology import network_facts, switch_numbers
    from routelab.routing.topology_file import channel_rows

    # by name of a switch: the number that parameters such as `failed_links` take
    switch_number = switch_numbers(name, network)
    if output_format == "csv":
        from routelab.toolkit.csv_cells import write_csv_rows

        columns, *rows = channel_rows(network)
        source_column, target_column = columns.index("source"), columns.index("target")
        write_csv_rows(sys.stdout, [(*columns, "source_number", "target_number")])
        write_csv_rows(
            sys.stdout,
            (
                (*row, switch_number.get(row[source_column]), switch_number.get(row[target_column]))
                for row in rows
            ),
        )
        return
    facts = {
        "topology": name,
        "family": network.family,
        **{fact: value for fact, value in network_facts(network).items() if value is not None},
        "failed_switches": len(network.failed_switches),
        "failed_links": len(network.failed_links),
    }
    facts |= _failure_facts(network, switch_number, output_format)
    # Attributes of the network come last, and do not replace a fact of the same name: a dictionary
    # keeps the first position of a key and its last value.
    facts = {**facts, **network.attributes, **facts}
    if output_format == "json":
        print(json.dumps(facts, indent=2))
    else:
        print_facts({key: _text(value) for key, value in facts.items()}, COLUMNS)


def _failure_facts(
    network: Topology, switch_number: Mapping[str, int], output_format: str
) -> dict[str, Any]:
    """Return the failed switches and links by name and number: ``2: 0.0 (0), 0.1 (1)``.

    In JSON, names and numbers are lists. A user passes the numbers to parameters such as
    ``failed_links``; that of a link is 0-1 if its switches have the numbers 0 and 1.
    """
    from routelab.routing.topology import names_text
    from routelab.toolkit.failures import split_link_name

    facts: dict[str, Any] = {}
    for attribute in ("failed_switches", "failed_links"):
        names = getattr(network, attribute)
        if not names:
            continue
        numbers = []
        for name in names:
            # One switch, or the two of a link. If neither is known, the number is an empty text.
            is_switch = name in switch_number
            switches = (name,) if is_switch else split_link_name(name, switch_number) or ()
            numbers.append("-".join(str(switch_number[switch]) for switch in switches))
        if output_format == "json":
            facts |= {f"{attribute}_names": list(names), f"{attribute}_numbers": numbers}
            continue
        # a number is left out if it is unknown or the same as the name
        texts = [
            name if number in ("", name) else f"{name} ({number})"
            for name, number in zip(names, numbers, strict=True)
        ]
        facts[f"{attribute}_names"] = names_text(texts)
    return facts


def _text(value: object) -> str:
    """Return a fact as text; long lists, such as LIDs by GUID, as their number of entries."""
    if isinstance(value, dict | list | tuple) and len(value) > MAX_ENTRIES:
        return f"{len(value)} entries"
    if isinstance(value, list) and all(isinstance(entry, str) for entry in value):
        return ", ".join(value)
    return str(value)
