"""``routelab topology``: build a network."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from typing import Any

from routelab.commands._shared.arguments import add_result_options
from routelab.commands._shared.output import check_result_folder, print_table, warn


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "topology",
        help="build a network",
        description="Build a network and write it, or print its sizes as a table or JSON, or its "
        "channels as CSV.",
    )
    parser.add_argument("topology", metavar="TOPOLOGY", help="instance name, folder or npz file")
    add_result_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Build the network, then write or print it."""
    if arguments.output is None:
        from routelab.stages import topology as stage

        name, network = stage.obtain(arguments.topology)
        _print(name, network, arguments.format)
        return 0
    check_result_folder(arguments.output)
    from routelab.jobs.folder_job import perform
    from routelab.stages.kinds.networks import TopologyJob

    outcome = perform(TopologyJob(folder=str(arguments.output), text=arguments.topology))
    if outcome.status != "ok":
        warn(outcome.topology, outcome)
    return 0 if outcome.status == "ok" or arguments.keep_going else 1


def _print(name: str, network: Any, form: str) -> None:
    from routelab.artifacts.topology_file import channel_rows
    from routelab.stages.facts import topology_facts

    if form == "csv":
        csv.writer(sys.stdout, lineterminator="\n").writerows(channel_rows(network))
        return
    facts = {
        "topology": name,
        "family": network.family,
        **topology_facts(network),
        "failed_switches": len(network.failed_switches),
        "failed_links": len(network.failed_links),
        **network.attributes,
    }
    if form == "json":
        print(json.dumps(facts, indent=2))
    else:
        print_table(("fact", "value"), [(key, str(value)) for key, value in facts.items()])
