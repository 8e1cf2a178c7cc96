"""``routelab batch``: do jobs that the workflow has planned."""

from __future__ import annotations

import argparse
from typing import Any

from routelab.commands._shared.arguments import FILE


def add_parser(subparsers: Any) -> None:
    """Add the command; it has no help, as only the workflow calls it."""
    parser = subparsers.add_parser(
        "batch",
        description="Run the jobs in FILE that have no result yet. The workflow writes the list "
        "and calls this command.",
    )
    parser.add_argument("jobs", **FILE, help="list of jobs")
    parser.add_argument(
        "-o", "--output", **FILE, required=True, help="file to write when all jobs have an outcome"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the jobs of a batch; they end when the run of the workflow ends."""
    from routelab.jobs import batches
    from routelab.workflow.step_file import wait_for_list
    from routelab.workflow.warm import wait_for_kernels

    # a shared file system may still show an earlier list, whose jobs this batch would run instead
    wait_for_list(arguments.jobs)
    batches.join_run(arguments.jobs)
    wait_for_kernels(arguments.jobs)
    batches.run_batch(arguments.jobs, arguments.output)
    return 0
