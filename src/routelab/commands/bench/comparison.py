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
from routelab.cluster.bench.slurm import allocation, salloc
from routelab.commands._shared.logging import show_progress
from routelab.commands._shared.output import print_rows
from routelab.commands._shared.settings import settings_from_options
from routelab.jobs.batches import join_run, read_jobs, replaced_manifest
from routelab.study.bench_settings import BenchSettings
from routelab.toolkit.programs import run_in_foreground
from routelab.workflow.stages.comparisons import RUNS, ComparisonJob

logger = logging.getLogger(__name__)


def run_options(arguments: argparse.Namespace) -> int:
    """Run the comparison that options describe."""
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
    _warn(measurement)
    command = _in_salloc(measurement)
    if command:
        return _ask_slurm(measurement, command)
    collected, end = _measure(measurement, arguments, arguments.output, "")
    if collected is None:
        return _code(end, 0)
    columns, rows = texts.summary_table(collected)
    print_rows(columns, rows, arguments.format, first=("size", "median", "unit", "failed"))
    return _code(end, sum(row["status"] in ("failed", "timeout") for row in collected.runs))


def run_planned_comparison(arguments: argparse.Namespace) -> int:
    """Run a planned comparison of a workflow; failed runs are results, not errors."""
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
    # jobs of Slurm outlive the workflow
    if allocation() is None:
        join_run(arguments.comparison)
    if not job.is_done():
        measurement = prepare()
        _warn(measurement)
        command = _in_salloc(measurement)
        if command:
            return _ask_slurm(measurement, command)
        collected, end = _measure(measurement, arguments, Path(job.folder), job.fingerprint)
        code = _code(end, 0)
        if collected is None or end.restored is False:
            return code
    job.write_manifest(jobs, manifest, replaced_manifest(arguments.comparison))
    return 0


def _print_commands(measurement: ComparisonSession) -> int:
    """Print what would be run; start and write nothing."""
    for line in texts.rehearsal_lines(measurement, _in_salloc(measurement, dry=True)):
        print(line)
    return 0


def _warn(measurement: ComparisonSession) -> None:
    plan = measurement.plan
    same = equal_tables(plan.digests if plan.apply else {})
    for text in filter(None, (texts.fabric_warning(plan), *same)):
        logger.warning("%s", text)


def _measure(
    measurement: ComparisonSession,
    arguments: argparse.Namespace,
    folder: Path | None,
    fingerprint: str,
) -> tuple[ComparisonResult | None, SessionEnd]:
    """Measure; return None instead of results if a signal ended the session."""
    try:
        with show_progress(arguments):
            return run_comparison(measurement, folder, fingerprint)
    except StopRequest as signal_:
        slurm_job = allocation()
        end_text = slurm_job.end_text() if slurm_job is not None else ""
        stop_reason = (
            f"Slurm's job {slurm_job.job_id} {end_text}"
            if slurm_job is not None and end_text
            else str(signal_)
        )
        return None, SessionEnd(stopped=stop_reason)


def _in_salloc(measurement: ComparisonSession, *, dry: bool = False) -> list[str]:
    """Return this command in an allocation of the hosts; empty if it needs none.

    Raises
    ------
    InputError
        If Slurm is not available, unless the command is only shown (`dry`).
    """
    plan = measurement.plan
    if plan.file.cluster.launcher != "srun" or allocation() is not None:
        return []
    if not measurement.session.missing():
        return []
    if not plan.hosts:
        raise InputError(
            f"{plan.file.path}: the launcher srun needs hosts: list them in the file, or run this "
            "in an allocation (salloc, sbatch)"
        )
    words = [word for word in sys.argv[1:] if word != "--dry-run"]
    command = [sys.executable, "-m", "routelab", *words]
    return salloc(plan.file.cluster, plan.hosts, plan.comparison.minutes, command, dry=dry)


def _ask_slurm(measurement: ComparisonSession, command: Sequence[str]) -> int:
    """Run this command in an allocation and return its exit code."""
    logger.info("asking Slurm for %s", ", ".join(measurement.plan.hosts))
    code = run_in_foreground(command)
    # salloc also returns 0 for a killed command
    if code == 0 and any(map(measurement.session.is_undone, measurement.plan.runs)):
        logger.error(
            "the allocation ended before all runs were measured. Finished runs are stored; run "
            "the same command again for the rest"
        )
        return 1
    return code if code >= 0 else 1


def _code(end: SessionEnd, failures: int) -> int:
    if end.stopped:
        logger.error(
            "stopped: %s. Finished runs are stored; run the same command again for the rest",
            end.stopped.rstrip("."),
        )
    return 1 if end.stopped or end.restored is False or failures else 0
