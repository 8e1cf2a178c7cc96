"""What ``routelab bench`` does: a comparison that is asked for, or one of a workflow."""

from __future__ import annotations

import argparse
import logging
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from routelab.api import InputError
from routelab.bench.processes.processes import pass_signals_on
from routelab.bench.processes.signals import StopRequest
from routelab.bench.results import ComparisonResult
from routelab.bench.session import SessionEnd
from routelab.bench.slurm import allocation, salloc
from routelab.commands._shared.logging import progress
from routelab.commands._shared.output import print_rows
from routelab.commands._shared.settings import read_settings
from routelab.config.bench_settings import BenchSettings
from routelab.jobs import events
from routelab.jobs.batches import join_run, read_jobs
from routelab.jobs.watch import watch_handles
from routelab.stages.bench import comparison as stage
from routelab.stages.bench import texts
from routelab.stages.kinds.comparisons import RUNS, ComparisonJob

logger = logging.getLogger(__name__)


def run_asked(arguments: argparse.Namespace) -> int:
    """Do what options ask for."""
    settings = read_settings(BenchSettings, vars(arguments))
    comparison = texts.make_comparison(
        arguments.topology, arguments.routing or (), arguments.benchmark or (), settings
    )
    store = arguments.results / RUNS
    allowed = arguments.apply_routing or arguments.dry_run
    measurement = stage.prepare_comparison(comparison, store, apply=allowed)
    if arguments.dry_run:
        for line in texts.rehearsal_lines(measurement, _in_salloc(measurement)):
            print(line)
        return 0
    _warn(measurement)
    command = _in_salloc(measurement)
    if command:
        return _ask_slurm(measurement, command)
    collected, ended = _measure(measurement, arguments, arguments.output, "")
    if collected is None:
        return _code(ended, 0)
    print_rows(*texts.summary_table(collected), arguments.format)
    return _code(ended, sum(row["status"] in ("failed", "timeout") for row in collected.runs))


def run_spec(arguments: argparse.Namespace) -> int:
    """Do what the plan of a workflow wants: runs that failed are results, and no failure of it."""
    manifest: Path | None = arguments.output
    if manifest is None:
        raise InputError("--comparison needs -o FILE: the file to write when it is done")
    jobs = read_jobs(arguments.comparison)
    job = jobs[0] if len(jobs) == 1 else None
    if not isinstance(job, ComparisonJob):
        raise InputError(f"{arguments.comparison} is not the list of one comparison")
    begin = time.monotonic()
    _end_with_run(arguments.comparison)
    if not job.is_done():
        measurement = stage.prepare_comparison(
            job.comparison, Path(job.store), apply=arguments.apply_routing
        )
        _warn(measurement)
        command = _in_salloc(measurement)
        if command:
            return _ask_slurm(measurement, command)
        collected, ended = _measure(measurement, arguments, Path(job.folder), job.fingerprint)
        code = _code(ended, 0)
        if collected is None or ended.restored is False:
            return code
    job.write_manifest(jobs, manifest)
    events.note_end(job, time.monotonic() - begin)
    return 0


def _end_with_run(spec: Path) -> None:
    """Ask this process to end when the run of the workflow ends; jobs of Slurm outlive it."""
    if allocation() is not None:
        return
    join_run(spec)

    def wait() -> None:
        ends = select.poll()
        for handle in watch_handles():
            ends.register(handle, select.POLLIN)
        ends.poll()
        logger.error("the run of the workflow has ended")
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()


def _warn(measurement: stage.ComparisonSession) -> None:
    warning = texts.fabric_warning(measurement.plan)
    if warning:
        logger.warning("%s", warning)


def _measure(
    measurement: stage.ComparisonSession,
    arguments: argparse.Namespace,
    folder: Path | None,
    fingerprint: str,
) -> tuple[ComparisonResult | None, SessionEnd]:
    """Measure; nothing is collected if a signal asked to end."""
    try:
        with progress(arguments):
            return stage.run_comparison(measurement, folder, fingerprint)
    except StopRequest as signal_:
        return None, SessionEnd(stopped=str(signal_))


def _in_salloc(measurement: stage.ComparisonSession) -> list[str]:
    """The present command in an allocation of the hosts; empty if it needs none.

    Raises
    ------
    InputError
        If Slurm is not here.
    """
    plan = measurement.plan
    if plan.file.cluster.launcher != "srun" or allocation() is not None:
        return []
    if not measurement.session.missing():
        return []
    if not plan.hosts:
        raise InputError(
            f"{plan.file.path}: the launcher is srun and there are no hosts: name them, or run "
            "this in an allocation (salloc, sbatch)"
        )
    words = [word for word in sys.argv[1:] if word != "--dry-run"]
    this = [sys.executable, "-m", "routelab", *words]
    return salloc(plan.file.cluster, plan.hosts, plan.comparison.minutes, this)


def _ask_slurm(measurement: stage.ComparisonSession, command: Sequence[str]) -> int:
    """Run the present command in an allocation, and tell its exit code."""
    logger.info("asking Slurm for %s", ", ".join(measurement.plan.hosts))
    with pass_signals_on() as started:
        process = started(subprocess.Popen(list(command)))
        code = process.wait()
    # salloc answers 0 also for a command that was killed
    if code == 0 and any(map(measurement.session.is_undone, measurement.plan.runs)):
        logger.error(
            "the allocation ended before all was measured. What was measured is kept; the same "
            "command goes on from there"
        )
        return 1
    return code if code >= 0 else 1


def _code(ended: SessionEnd, failed: int) -> int:
    if ended.stopped:
        logger.error(
            "stopped: %s. What was measured is kept; the same command goes on from there",
            ended.stopped.rstrip("."),
        )
    return 1 if ended.stopped or ended.restored is False or failed else 0
