"""``routelab cluster``: show cluster files, and report what is missing on clusters."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from routelab.commands._shared.output import FORMATS, print_rows


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser("cluster", help="list, show and check clusters")
    actions = parser.add_subparsers(metavar="ACTION", required=True)

    check = actions.add_parser(
        "check",
        help="report what is missing on a cluster",
        description="Report what jobs on a cluster need and whether it is available, without using "
        "a node: launcher, partition, nodes, node sets, benchmarks, their MPI, rights to switch "
        "the fabric. Exit code 1 if anything is missing.",
    )
    check.add_argument("name", metavar="NAME", help="of config/clusters/NAME.yaml, or a file")
    check.add_argument(
        "--benchmark", metavar="NAME", action="append", help="instance name; may be repeated"
    )
    check.add_argument(
        "--topology",
        metavar="NAME",
        help="instance name of a job's network (default: the cluster's network and all node sets)",
    )
    check.add_argument(
        "--routing", metavar="NAME", help="instance name of a routing for the fabric"
    )
    check.add_argument("--format", choices=FORMATS, default="table", help="default: table")
    check.set_defaults(run=run_check)

    listing = actions.add_parser(
        "list", help="list all clusters of config/clusters, including invalid ones"
    )
    listing.add_argument("--format", choices=FORMATS, default="table", help="default: table")
    listing.set_defaults(run=run_list)

    show = actions.add_parser("show", help="show a cluster's file, with all hosts")
    show.add_argument("name", metavar="NAME", help="of config/clusters/NAME.yaml, or a file")
    show.add_argument("--format", choices=FORMATS, default="table", help="default: table")
    show.set_defaults(run=run_show)

    schema = actions.add_parser(
        "schema",
        help="write the JSON schema with which editors complete cluster files",
        description="Print or write the JSON schema of cluster files, or their reference page.",
    )
    schema.add_argument(
        "--format",
        choices=("json", "markdown"),
        default="json",
        help="JSON schema (default) or reference page",
    )
    schema.add_argument("-o", "--output", metavar="FILE", type=Path, help="write it here")
    schema.set_defaults(run=run_schema)


def run_check(arguments: argparse.Namespace) -> int:
    """Print all checks; return 1 if anything is missing."""
    from routelab.stages.cluster.check import check_cluster

    checks = check_cluster(
        arguments.name, arguments.benchmark or (), arguments.topology, arguments.routing
    )
    rows = [(one.what, one.state, one.found, one.fix) for one in checks]
    print_rows(("what", "state", "found", "mend"), rows, arguments.format)
    missing = sum(one.state == "missing" for one in checks)
    if arguments.format == "table":
        print(f"\nmissing: {missing}" if missing else "\nnothing is missing")
    return 1 if missing else 0


def run_list(arguments: argparse.Namespace) -> int:
    """List clusters, including invalid ones."""
    from routelab.stages.cluster.files import COLUMNS, clusters

    print_rows(COLUMNS, clusters(), arguments.format)
    return 0


def run_show(arguments: argparse.Namespace) -> int:
    """Show one cluster."""
    from routelab.stages.cluster.files import cluster_rows

    print_rows(("key", "value"), cluster_rows(arguments.name), arguments.format)
    return 0


def run_schema(arguments: argparse.Namespace) -> int:
    """Print or write the schema or the reference page."""
    from routelab.stages.cluster import files as cluster_list

    text = (
        cluster_list.cluster_schema_text()
        if arguments.format == "json"
        else cluster_list.cluster_page_text()
    )
    if arguments.output is None:
        sys.stdout.write(text)
    else:
        from routelab.artifacts.atomic import atomic_file

        with atomic_file(arguments.output) as new:
            new.write_text(text, encoding="utf-8")
    return 0
