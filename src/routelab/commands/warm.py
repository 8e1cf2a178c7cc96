"""``routelab warm``: compile kernels before many processes need them at the same time."""

from __future__ import annotations

import argparse
from typing import Any

from routelab.commands._shared.arguments import FILE


def add_parser(subparsers: Any) -> None:
    """Add the command; it has no help, as only the workflow calls it."""
    parser = subparsers.add_parser(
        "warm",
        description="Run the jobs in FILE on a tiny network, so that compiled kernels are in the "
        "cache before many jobs start. The workflow writes the list and calls this command.",
    )
    parser.add_argument("jobs", **FILE, help="list of jobs")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Compile the kernels of jobs; print a line when each compilation begins, and if it fails."""
    from routelab.jobs.batches import join_run
    from routelab.workflow import warm

    join_run(arguments.jobs)
    failures = warm.compile_kernels(arguments.jobs, note=lambda line: print(line, flush=True))
    for line in failures:
        print(line)
    # not an error: the jobs compile what they need
    return 0
