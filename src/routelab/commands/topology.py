"""``routelab topology``: build a network."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from routelab.commands._shared.arguments import NETWORK, add_result_options
from routelab.commands._shared.output import check_result_folder, print_facts, warn

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
    """Build the network, then write or print it."""
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


def _print(name: str, network: Any, form: str) -> None:
    """Print a network in the format `form`."""
    from routelab.routing.fact_columns import COLUMNS
    from routelab.routing.topology import network_facts, switch_numbers
    from routelab.routing.topology_file import channel_rows

    numbers = switch_numbers(name, network)
    if form == "csv":
        from routelab.toolkit.csv_cells import write_csv_rows

        columns, *rows = channel_rows(network)
        write_csv_rows(sys.stdout, [(*columns, "source_number", "target_number")])
        # columns 1 and 2 are the names of the switches
        write_csv_rows(
            sys.stdout, ((*row, numbers.get(row[1]), numbers.get(row[2])) for row in rows)
        )
        return
    facts = {
        "topology": name,
        "family": network.family,
        **{name: value for name, value in network_facts(network).items() if value is not None},
        "failed_switches": len(network.failed_switches),
        "failed_links": len(network.failed_links),
    }
    facts |= _failures(network, numbers, form)
    facts = {**facts, **network.attributes, **facts}
    if form == "json":
        print(json.dumps(facts, indent=2))
    else:
        print_facts({key: _text(value) for key, value in facts.items()}, COLUMNS)


def _failures(network: Any, numbers: Mapping[str, int], form: str) -> dict[str, Any]:
    """Return the names of failed parts and their numbers: as lists in JSON, else as texts."""
    from routelab.routing.topology import names_text

    facts: dict[str, Any] = {}
    for part in ("failed_switches", "failed_links"):
        names = getattr(network, part)
        if not names:
            continue
        part_numbers = _failed_numbers(names, numbers)
        if form == "json":
            facts |= {f"{part}_names": list(names), f"{part}_numbers": part_numbers}
            continue
        texts = [
            name if number in ("", name) else f"{name} ({number})"
            for name, number in zip(names, part_numbers, strict=True)
        ]
        facts[f"{part}_names"] = names_text(texts)
    return facts


def _failed_numbers(names: Sequence[str], numbers: Mapping[str, int]) -> list[str]:
    """Return failed switches or links as parameters take them; empty for unknown ones."""
    from routelab.toolkit.failures import split_link_name

    texts = []
    for name in names:
        ends = (name,) if name in numbers else split_link_name(name, numbers) or ()
        texts.append("-".join(str(numbers[end]) for end in ends))
    return texts


def _text(value: object) -> str:
    """Return a fact as text; long lists, such as LIDs by GUID, as their number of entries."""
    if isinstance(value, dict | list | tuple) and len(value) > MAX_ENTRIES:
        return f"{len(value)} entries"
    if isinstance(value, list) and all(isinstance(entry, str) for entry in value):
        return ", ".join(value)
    return str(value)
