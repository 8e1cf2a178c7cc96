"""What a run says about its results before its first step and after its last one."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from routelab._runtime.sources import core_digest
from routelab.cluster.bench.comparison import equal_tables
from routelab.jobs.job import TRY_AGAIN
from routelab.results.missing_results import loss_sentences
from routelab.results.outcome import recorded_digest
from routelab.workflow.plan.plan import PLAN, Plan
from routelab.workflow.stages.comparisons import ComparisonJob

CODE = "code"
"""File with the digest of the code of the last run, in the folder of the plan."""

MIN_FREE_BYTES = 100_000
"""Free space in bytes below which a job's files may not fit."""


def print_new_code(plan: Plan) -> None:
    """Print that all results are computed again, if routelab's code has changed since them."""
    try:
        recorded_digest = (plan.results / PLAN / CODE).read_text()
    except OSError:
        recorded_digest = ""
    if recorded_digest != core_digest() and any(Path(name).exists() for name in plan.manifests()):
        print(
            "routelab's own code has changed since these results: a run computes them again, "
            "measurements apart.",
            file=sys.stderr,
        )


def print_repetitions(plan: Plan) -> None:
    """Print how many failed jobs a run tries again."""
    number = plan.failed()
    if number:
        jobs = "job" if number == 1 else "jobs"
        print(f"A run tries {number} failed or timed-out {jobs} again.", file=sys.stderr)


def print_equal_tables(plan: Plan) -> None:
    """Print which routings of a comparison have the same table.

    Differences between their measurements are then noise. Only comparisons that are not finished,
    and tables that exist, are looked at.
    """
    for job in plan.of(ComparisonJob.kind).values():
        if isinstance(job, ComparisonJob) and not job.is_done():
            digests = {
                routing.id: recorded_digest(str(routing.folder))
                for routing in job.comparison.routings
            }
            known_digests = {id_: digest for id_, digest in digests.items() if digest}
            for sentence in equal_tables(known_digests):
                print(f"{job.title}: {sentence}.", file=sys.stderr)


def print_losses(plan: Plan) -> None:
    """Print how many results are missing or not ok, and why."""
    statuses = plan.statuses()
    for sentence in loss_sentences(statuses):
        print(f"{sentence}.", file=sys.stderr)
    if any(job.status in TRY_AGAIN for job in statuses):
        print("The next run tries failed and stopped jobs again.", file=sys.stderr)


def print_full_disk(results: Path) -> None:
    """Warn of a full disk, which may have lost the jobs' own messages."""
    if shutil.disk_usage(results).free < MIN_FREE_BYTES:
        print(
            f"The disk of {results} is full. Free some space and run again; finished jobs are "
            "kept.",
            file=sys.stderr,
        )
