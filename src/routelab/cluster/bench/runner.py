"""Execution of runs: each is launched, judged and stored."""

from __future__ import annotations

import logging
import tempfile
import time
import uuid
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from routelab._runtime.progress import report_phase
from routelab.cluster.bench.comparison import round_name
from routelab.cluster.bench.environment import environment_of, probe_ranks, versions_of
from routelab.cluster.bench.fabric.restore import Guard
from routelab.cluster.bench.fabric.switching import stop_reason
from routelab.cluster.bench.launchers import run_launch
from routelab.cluster.bench.plan import MeasurementPlan, PlannedRun
from routelab.cluster.bench.processes.signals import StopSignals
from routelab.cluster.bench.run_check import evaluate_run
from routelab.cluster.bench.slurm import (
    RETRY_SECONDS,
    UNREACHABLE_SECONDS,
    Allocation,
    AllocationLostError,
    srun_start_error,
)
from routelab.cluster.bench.store import RawRun, RunEnding, RunStore
from routelab.results.atomic import explain_write_errors
from routelab.toolkit.programs import NotStartedError

REQUIRED_SPACE = 64 * 1024
"""Free space on the disk that a probe requires, in bytes."""

logger = logging.getLogger(__name__)


class Runner:
    """Runs the benchmarks of a session.

    Parameters
    ----------
    plan : MeasurementPlan
    store : RunStore
    allocation : Allocation or None
        The job of Slurm that it runs in, if any.

    Attributes
    ----------
    launcher : Launcher
        The plan's, with the hosts' names in Slurm.
    done : int
        Number of runs that were started and stored.
    mark : str
        Mark of all programs that it starts; see `routelab.cluster.bench.processes.marks.MARK`.

    Raises
    ------
    InputError
        If the allocation lacks hosts.
    """

    def __init__(
        self, plan: MeasurementPlan, store: RunStore, allocation: Allocation | None
    ) -> None:
        self.plan = plan
        self.store = store
        self.allocation = allocation
        self.launcher = plan.launcher
        if allocation is not None and plan.hosts:
            self.launcher = replace(plan.launcher, hosts=allocation.node_names(plan.hosts))
        self.done = 0
        self.mark = uuid.uuid4().hex
        self._circumstances: dict[str, Any] = {}

    def probe_circumstances(self) -> None:
        """Find out versions, environment and the hosts of ranks, which every record will have.

        Call this before the fabric is changed.

        Raises
        ------
        RoutelabError
            If ranks run on the wrong hosts.
        """
        with explain_write_errors(self.store.folder, self.store.folder):
            self.store.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".probe", dir=self.store.folder) as folder:
                report_phase("session", "probe")
                # On a full disk this write fails at once. Without it, the launcher would not report
                # that the output of the probe is lost.
                Path(folder, "space").write_bytes(bytes(REQUIRED_SPACE))
                rank_facts = probe_ranks(self.launcher, Path(folder).resolve(), self.mark)
        self._circumstances = {
            "versions": versions_of(self.launcher),
            "environment": environment_of() | self.plan.file.cluster.environment,
            **rank_facts,
        }

    def run(self, run: PlannedRun, guard: Guard, signals: StopSignals) -> None:
        """Run a benchmark and store the run, even if it failed.

        Parameters
        ----------
        run : PlannedRun
        guard : Guard
            It ends the run if this process is killed.
        signals : StopSignals
            They are put off while the run is started, so that the guard knows its process group
            before this process can end.

        Raises
        ------
        AllocationLostError
            If the nodes no longer belong to this job; then the run is not stored.
        InputError
            If the disk is full.
        """
        subject, round_text = f"{run.routing.id} {run.benchmark.id}", round_name(run.round)
        report_phase(subject, round_text)
        try:
            raw = self._launch_with_retries(run, guard, signals)
            plugin = self.plan.benchmarks[run.benchmark.id]
            verdict = evaluate_run(plugin, raw, self.plan.task(run.benchmark.id))
            if verdict.status != "ok" and self.allocation is not None:
                # if the allocation is lost, that is the reason, not the benchmark
                self.allocation.ensure_alive()
            self.store.save(replace(raw, status=verdict.status))
        except BaseException:
            # An interrupted run says nothing about the benchmark, so it is not stored.
            self.store.discard(run.fingerprint)
            raise
        self.done += 1
        if verdict.status != "ok":
            logger.warning(
                "%s, %s, %s: %s", run.routing.id, run.benchmark.id, round_text, verdict.reason
            )
        report_phase(subject, f"{round_text}: {verdict.status}", ended=True)

    def _launch_with_retries(self, run: PlannedRun, guard: Guard, signals: StopSignals) -> RawRun:
        """Launch a run, and repeat that while srun cannot start it, for `UNREACHABLE_SECONDS`.

        Such an error is Slurm's, not the benchmark's, and often passes in some seconds.
        """
        allocation = self.allocation
        deadline = time.monotonic() + UNREACHABLE_SECONDS
        while True:
            raw = self._launch(run, guard, signals)
            start_error = "" if allocation is None else srun_start_error(raw.output())
            if allocation is None or not start_error:
                return raw
            logger.warning("%s; trying again", start_error)
            allocation.ensure_alive()
            if time.monotonic() > deadline:
                raise AllocationLostError(
                    f"srun could not start anything for {UNREACHABLE_SECONDS:g} s: {start_error}"
                )
            time.sleep(RETRY_SECONDS)

    def _launch(self, run: PlannedRun, guard: Guard, signals: StopSignals) -> RawRun:
        """Launch a planned run, and return how it ended and where its output is."""
        # If the launcher has to be killed, the run's step in Slurm is found by this name and ended.
        step_name, allocation = run.fingerprint[:16], self.allocation
        launch = self.launcher.make_launch(run.command, step_name)
        folder = self.store.create_folder(run.fingerprint, run.files).resolve()
        seconds = self.plan.comparison.settings.seconds
        started = now()
        ending: RunEnding = "ended"
        exit_code: int | None = None
        reason, run_seconds = "", 0.0
        # A run that fails is stored as well, so that no node-hour is spent twice.
        try:
            end = run_launch(
                launch,
                folder=folder,
                seconds=seconds,
                mark=self.mark,
                on_start=guard.set_group,
                starting=signals.hold_back,
                end_step=lambda: allocation.end_step(step_name) if allocation else None,
            )
        except NotStartedError as error:
            ending, reason = "not-started", str(error)
        else:
            exit_code, run_seconds = end.exit_code, end.seconds
            reason = stop_reason(end, seconds)
            if reason:  # it did not end by itself
                ending = "flooded" if end.printed_too_much else "timeout"
        return RawRun(
            fingerprint=run.fingerprint,
            identity=run.identity,
            ending=ending,
            exit_code=exit_code,
            reason=reason,
            seconds=run_seconds,
            started=started,
            job_id=allocation.job_id if allocation else "",
            command=launch.arguments,
            session=self.mark,
            turn=run.turn,
            circumstances=self._circumstances,
            folder=folder,
        )


def now() -> str:
    """Return the time, UTC in ISO 8601, whole seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")
