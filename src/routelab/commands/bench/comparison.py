"""Runs of ``routelab bench``: a comparison from options, or one of a workflow."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from routelab.api import InputError
from routelab.cluster.bench import texts
from routelab.cluster.bench.comparison import equal_tables
from routelab.cluster.bench.processes.signals import StopRequest
from routelab.cluster.bench.results import ComparisonResult
from routelab.cluster.bench.run_comparison import (
    ComparisonSession,
    prepare_comparison,
    run_comparison,
)
from routelab.cluster.bench.session import SessionEnd
from routelab.cluster.bench.slurm import allocation, salloc_command
from routelab.commands._shared.logging import show_progress
from routelab.commands._shared.output import print_rows
from routelab.commands._shared.settings import settings_from_options
from routelab.jobs.batches import join_run, read_jobs, replaced_manifest_time
from routelab.study.bench_settings import BenchSettings
from routelab.toolkit.programs import run_in_foreground
from routelab.workflow.stages.comparisons import RUNS, ComparisonJob

logger = logging.getLogger(__name__)


def run_options(arguments: argparse.Namespace) -> int:
    """Run the comparison that options describe, and print a table; return the exit code.

    1 if a run failed, the session was stopped, or the fabric is not as before.
    """
    settings = settings_from_options(BenchSettings, vars(arguments))
    comparison = texts.make_comparison(
        arguments.topology, arguments.routing or (), arguments.benchmark or (), settings
    )
    store = arguments.results / RUNS
    measurement = prepare_comparison(
        comparison,
        store,
        apply=arguments.apply_routing,
        dry=arguments.dry_run,
    )
    if arguments.dry_run:
        return _print_commands(measurement)
    _log_warnings(measurement)
    # If an allocation is needed, this command runs a second time in it, and that does the rest.
    command = _salloc_command(measurement)
    if command:
        return _run_in_allocation(measurement, command)
    # results of options have no job, so no fingerprint
    result, end = _measure(measurement, arguments, folder=arguments.output, fingerprint="")
    if result is None:  # a signal has ended the session
        return _log_end(end)
    columns, rows = texts.summary_table(result)
    print_rows(columns, rows, arguments.format, first=("size", "median", "unit", "failed"))
    code = _log_end(end)
    has_failed_run = any(row["status"] in ("failed", "timeout") for row in result.runs)
    return 1 if has_failed_run else code


def run_planned_comparison(arguments: argparse.Namespace) -> int:
    """Run the comparison that a workflow has planned, and mark it as done; return the exit code.

    Failed runs are results here, not errors.
    """
    jobs = read_jobs(arguments.comparison)
    job = jobs[0] if len(jobs) == 1 else None
    if not isinstance(job, ComparisonJob):
        raise InputError(f"{arguments.comparison} must list exactly one comparison")
    prepare = partial(
        prepare_comparison, job.comparison, Path(job.store), apply=arguments.apply_routing
    )
    if arguments.dry_run:
        return _print_commands(prepare(dry=True))
    manifest: Path | None = arguments.output
    if manifest is None:
        raise InputError("--comparison needs -o FILE: the file to write when finished")
    # Outside an allocation, this process is part of the workflow and ends with it. A job of Slurm
    # goes on when the workflow has ended.
    if allocation() is None:
        join_run(arguments.comparison)
    if not job.is_done():
        measurement = prepare()
        _log_warnings(measurement)
        # If an allocation is needed, this command runs a second time in it, and that does the rest.
        command = _salloc_command(measurement)
        if command:
            return _run_in_allocation(measurement, command)
        result, end = _measure(
            measurement, arguments, folder=Path(job.folder), fingerprint=job.fingerprint
        )
        code = _log_end(end)
        # Without results, or with a fabric that is not as before, the comparison is not done.
        if result is None or end.restored is False:
            return code
    # the workflow's rule waits for this file
    job.write_manifest(jobs, manifest, replaced_manifest_time(arguments.comparison))
    return 0


def _print_commands(measurement: ComparisonSession) -> int:
    """Print what would be run; start and write nothing."""
    for line in texts.dry_run_lines(measurement, _salloc_command(measurement, dry=True)):
        print(line)
    return 0


def _log_warnings(measurement: ComparisonSession) -> None:
    """Warn if nothing switches the fabric between routings, or if routings have the same routes."""
    plan = measurement.plan
    # only routings that are applied have tables to compare
    same_routes = equal_tables(plan.digests if plan.switches_fabric else {})
    for text in filter(None, (texts.fabric_warning(plan), *same_routes)):
        logger.warning("%s", text)


def _measure(
    measurement: ComparisonSession,
    arguments: argparse.Namespace,
    *,
    folder: Path | None,
    fingerprint: str,
) -> tuple[ComparisonResult | None, SessionEnd]:
    """Measure the missing runs; return the results and how the session ended.

    There are no results if a signal ended it.
    """
    try:
        with show_progress(arguments):
            return run_comparison(measurement, folder, fingerprint)
    except StopRequest as signal_:
        stop_reason = str(signal_)
        slurm_job = allocation()
        if slurm_job is not None:
            # Slurm knows why it sent the signal, such as its time limit
            end_text = slurm_job.end_text()
            if end_text:
                stop_reason = f"Slurm's job {slurm_job.job_id} {end_text}"
        return None, SessionEnd(stopped=stop_reason)


def _salloc_command(measurement: ComparisonSession, *, dry: bool = False) -> list[str]:
    """Return the command that runs this command in an allocation; empty if it needs none.

    It needs one if runs are missing, the launcher is srun, and it is not in an allocation already.

    Raises
    ------
    InputError
        If the hosts are unknown, or Slurm is not available and the command is not only shown
        (`dry`).
    """
    plan = measurement.plan
    if plan.file.cluster.launcher != "srun" or allocation() is not None:
        return []
    if not measurement.session.missing_turns():
        return []
    if not plan.hosts:
        raise InputError(
            f"{plan.file.path}: the launcher srun needs hosts: list them in the file, or run this "
            "in an allocation (salloc, sbatch)"
        )
    words = [word for word in sys.argv[1:] if word != "--dry-run"]
    return salloc_command(
        cluster=plan.file.cluster,
        hosts=plan.hosts,
        minutes=plan.comparison.minutes,
        command=[sys.executable, "-m", "routelab", *words],
        dry=dry,
    )


def _run_in_allocation(measurement: ComparisonSession, command: Sequence[str]) -> int:
    """Run a command of `_salloc_command`; return its exit code, 1 if runs are missing after it."""
    logger.info("asking Slurm for %s", ", ".join(measurement.plan.hosts))
    code = run_in_foreground(command)
    # salloc also returns 0 if the command was killed
    if code == 0 and any(map(measurement.session.is_undone, measurement.plan.runs)):
        logger.error(
            "the allocation ended before all runs were measured. Finished runs are stored; run "
            "the same command again for the rest"
        )
        return 1
    # negative: a signal has ended salloc
    return code if code >= 0 else 1


def _log_end(end: SessionEnd) -> int:
    """Log why a session was stopped, if it was; return the exit code.

    1 if it was stopped, or did not restore the fabric (None: it had nothing to restore).
    """
    if end.stopped:
        logger.error(
            "stopped: %s. Finished runs are stored; run the same command again for the rest",
            end.stopped.rstrip("."),
        )
    return 1 if end.stopped or end.restored is False else 0
