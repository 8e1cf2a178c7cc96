"""``routelab cluster``: show cluster files, and report what is missing on clusters."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from routelab.commands._shared.arguments import (
    FILE,
    FOLDER,
    add_format_option,
    named_path,
    study_file,
)
from routelab.commands._shared.output import print_rows


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "cluster",
        help="list, show and check clusters",
        examples=("routelab cluster list", "routelab cluster check desmos"),
    )
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)

    check = actions.add_parser(
        "check",
        examples=(
            "routelab cluster check desmos",
            "routelab cluster check desmos --benchmark npb --topology torus~dims=4x2",
        ),
        help="report what is missing on a cluster",
        description="Report what jobs on a cluster need and whether it is available, without using "
        "a node: hosts of its networks, launcher, partition, executables and fabric; for a study "
        "the executables for all numbers of processes. Then name the command of a run of a minute, "
        "which shows the rest. Exit code 1 if anything is missing.",
    )
    check.add_argument(
        "name", metavar="NAME", help="cluster: NAME of config/clusters/NAME.yaml, or a file"
    )
    check.add_argument(
        "--benchmark", metavar="NAME", action="append", help="instance name; may be repeated"
    )
    check.add_argument(
        "--topology",
        metavar="NAME",
        help="instance name of a job's network (default: the cluster's network and all node sets)",
    )
    check.add_argument(
        "--study",
        metavar="STUDY",
        type=named_path,
        help="check what all comparisons of a study need: a name in config/studies, or a file",
    )
    check.add_argument(
        "--results",
        **FOLDER,
        default=Path("results"),
        help="folder of the study's results (default: results)",
    )
    add_format_option(check)
    check.set_defaults(run=run_check)

    listing = actions.add_parser(
        "list",
        examples=("routelab cluster list",),
        help="list all clusters of config/clusters, including invalid ones",
    )
    add_format_option(listing)
    listing.set_defaults(run=run_list)

    show = actions.add_parser(
        "show",
        examples=("routelab cluster show desmos",),
        help="show a cluster's file, with all hosts",
    )
    show.add_argument(
        "name", metavar="NAME", help="cluster: NAME of config/clusters/NAME.yaml, or a file"
    )
    add_format_option(show)
    show.set_defaults(run=run_show)

    schema = actions.add_parser(
        "schema",
        examples=("routelab cluster schema -o cluster.schema.json",),
        help="write the JSON schema with which editors complete cluster files",
    )
    schema.add_argument("-o", "--output", **FILE, help="output file (default: print)")
    schema.set_defaults(run=run_schema)


def run_check(arguments: argparse.Namespace) -> int:
    """Check what jobs on a cluster need; print a row for each check.

    Below a table stands how much is missing, or else the command that tries the cluster out. Return
    1 if anything is missing.
    """
    from routelab.api import InputError
    from routelab.workflow.cluster_check import check_cluster, check_study_on_cluster, smoke_command

    if arguments.study is None:
        checks = check_cluster(arguments.name, arguments.benchmark or (), arguments.topology)
        trial_command = smoke_command(arguments.name)
    elif arguments.benchmark or arguments.topology:
        raise InputError(
            "--study already names benchmarks and networks; leave out --benchmark and --topology"
        )
    else:
        study = study_file(arguments.study)
        checks, trial_command = check_study_on_cluster(arguments.name, study, arguments.results)
    rows = [(check.subject, check.state, check.finding, check.fix) for check in checks]
    print_rows(("what", "state", "found", "fix"), rows, arguments.format)
    num_missing = sum(check.state == "missing" for check in checks)
    if arguments.format == "table":
        advice = f"; to try it out: {trial_command}" if trial_command else ""
        print(f"\nmissing: {num_missing}" if num_missing else f"\nnothing is missing{advice}")
    return 1 if num_missing else 0


def run_list(arguments: argparse.Namespace) -> int:
    """List clusters, including invalid ones."""
    from routelab.cluster.files import COLUMNS, clusters

    print_rows(COLUMNS, clusters(), arguments.format)
    return 0


def run_show(arguments: argparse.Namespace) -> int:
    """Show one cluster."""
    from routelab.cluster.files import cluster_rows

    print_rows(("key", "value"), cluster_rows(arguments.name), arguments.format)
    return 0


def run_schema(arguments: argparse.Namespace) -> int:
    """Print the JSON schema of cluster files, or write it to the file of ``-o``."""
    from routelab.cluster.files import cluster_schema_text

    text = cluster_schema_text()
    if arguments.output is None:
        sys.stdout.write(text)
    else:
        from routelab.results.atomic import atomic_file

        with atomic_file(arguments.output) as draft:
            draft.write_text(text, encoding="utf-8")
    return 0
