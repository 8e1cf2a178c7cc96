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


def _print(name: str, network: Topology, form: str) -> None:
    """Print the sizes of a network, or in the format "csv" its channels."""
    from routelab.routing.fact_columns import COLUMNS
    from routelab.routing.topology import network_facts, switch_numbers
    from routelab.routing.topology_file import channel_rows

    numbers = switch_numbers(name, network)
    if form == "csv":
        from routelab.toolkit.csv_cells import write_csv_rows

        columns, *rows = channel_rows(network)
        source_column, target_column = columns.index("source"), columns.index("target")
        write_csv_rows(sys.stdout, [(*columns, "source_number", "target_number")])
        write_csv_rows(
            sys.stdout,
            (
                (*row, numbers.get(row[source_column]), numbers.get(row[target_column]))
                for row in rows
            ),
        )
        return
    facts = {
        "topology": name,
        "family": network.family,
        **{name: value for name, value in network_facts(network).items() if value is not None},
        "failed_switches": len(network.failed_switches),
        "failed_links": len(network.failed_links),
    }
    facts |= _failed_parts(network, numbers, form)
    # attributes of the network come last, and do not replace a fact of the same name
    facts = {**facts, **network.attributes, **facts}
    if form == "json":
        print(json.dumps(facts, indent=2))
    else:
        print_facts({key: _text(value) for key, value in facts.items()}, COLUMNS)


def _failed_parts(network: Topology, numbers: Mapping[str, int], form: str) -> dict[str, Any]:
    """Return the failed switches and links as facts: lists in JSON, else ``2: 0.0 (0), 0.1 (1)``.

    Each has its name, and the number under which parameters such as ``failed_links`` take it: that
    of a link between the switches 0 and 1 is 0-1.
    """
    from routelab.routing.topology import names_text
    from routelab.toolkit.failures import split_link_name

    facts: dict[str, Any] = {}
    for attribute in ("failed_switches", "failed_links"):
        names = getattr(network, attribute)
        if not names:
            continue
        part_numbers = []
        for name in names:
            # a switch is one switch, a link two, and a name that cannot be split none
            switches = (name,) if name in numbers else split_link_name(name, numbers) or ()
            part_numbers.append("-".join(str(numbers[switch]) for switch in switches))
        if form == "json":
            facts |= {f"{attribute}_names": list(names), f"{attribute}_numbers": part_numbers}
            continue
        # a number is left out if it is unknown or the same as the name
        texts = [
            name if number in ("", name) else f"{name} ({number})"
            for name, number in zip(names, part_numbers, strict=True)
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
