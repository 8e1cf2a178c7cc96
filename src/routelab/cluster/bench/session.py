"""Sessions: measure the missing runs of a comparison, and restore the fabric.

A run that had figures is not measured again if this version's parser refuses its output.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from routelab._runtime.progress import report_phase
from routelab.api import RoutelabError, RouteTable
from routelab.cluster.bench.fabric.fabric import Fabric, FabricError, FabricJob
from routelab.cluster.bench.fabric.files import write_fabric_files
from routelab.cluster.bench.fabric.journal import Journal
from routelab.cluster.bench.fabric.restore import Guard
from routelab.cluster.bench.fabric.switching import LoggedSwitch
from routelab.cluster.bench.plan import MeasurementPlan, PlannedRun, RoutingRuns
from routelab.cluster.bench.processes.signals import StopSignals
from routelab.cluster.bench.run_check import RunVerdict, evaluate_run
from routelab.cluster.bench.runner import Runner, now
from routelab.cluster.bench.slurm import Allocation, AllocationLostError, allocation
from routelab.cluster.bench.store import RawRun, RunStore
from routelab.results.atomic import explain_write_errors

logger = logging.getLogger(__name__)

NOTHING = -1
"""Turn number that means that the fabric is as before."""


@dataclass(frozen=True)
class SessionEnd:
    """How a session ended.

    Attributes
    ----------
    stopped : str
        Why it ended before all runs were measured; empty if it did not.
    restored : bool or None
        Whether the fabric is as before; None if it was not switched.
    done : int
        Number of runs.
    """

    stopped: str = ""
    restored: bool | None = None
    done: int = 0


class Session:
    """Measures the missing runs of a comparison.

    Parameters
    ----------
    plan : MeasurementPlan
    store : RunStore
    fabrics : Path
        Folder with the journals of fabrics, and the files for their tools.
    remake : callable
        Returns the routes of a topology and a routing by their names, for a fabric that an earlier
        session has left switched.
    retry : bool
        Whether stored runs without figures are run again.
    """

    def __init__(
        self,
        plan: MeasurementPlan,
        store: RunStore,
        fabrics: Path,
        remake: Callable[[str, str], RouteTable],
        *,
        retry: bool = True,
    ) -> None:
        self.plan = plan
        self.store = store
        self.retry = retry
        self.journal = Journal(fabrics, plan.file.path.stem)
        self._remake = remake
        self._turns = list(enumerate(self.missing()))

    def find_verdict(self, run: PlannedRun) -> tuple[RawRun, RunVerdict] | None:
        """Return a stored run with its verdict; None if it was not done."""
        raw = self._find(run)
        if raw is None:
            return None
        plugin = self.plan.benchmarks[run.benchmark.id]
        return raw, evaluate_run(plugin, raw, self.plan.task(run.benchmark.id))

    def missing(self) -> list[RoutingRuns]:
        """Return the turns, with those of their runs that will be done: not stored, or to retry."""
        turns = []
        planned: set[str] = set()
        for turn in self.plan.turns:
            runs = []
            for run in turn.runs:
                # the same routing or benchmark under two names is run once
                if run.fingerprint not in planned and self._is_missing(run):
                    planned.add(run.fingerprint)
                    runs.append(run)
            if runs:
                turns.append(RoutingRuns(turn.routing, turn.round, tuple(runs)))
        return turns

    def is_undone(self, run: PlannedRun) -> bool:
        """Return whether a run is possible but was not tried."""
        return not run.refusal and self._find(run) is None

    def is_failed(self, run: PlannedRun) -> bool:
        """Return whether a run is stored and has no figures."""
        stored = self.find_verdict(run)
        return stored is not None and stored[1].status != "ok"

    def _is_missing(self, run: PlannedRun) -> bool:
        if run.refusal:
            return False
        stored = self.find_verdict(run)
        if stored is None or not self.retry or stored[1].status == "ok":
            return stored is None
        return stored[0].status != "ok"

    def _find(self, run: PlannedRun) -> RawRun | None:
        return self.store.find(run.fingerprint) if run.fingerprint else None

    def measure(self) -> SessionEnd:
        """Run all missing benchmarks.

        Raises
        ------
        InputError
            If the disk is full, another session holds the fabric, or the allocation lacks hosts;
            the fabric is restored first.
        RoutelabError
            If an earlier session left the fabric switched and it cannot be restored, or ranks
            run on the wrong hosts.
        StopRequest, KeyboardInterrupt
            If a signal asked for it; the fabric is restored first.
        """
        if not self._turns and self.journal.entry() is None:
            return SessionEnd()
        self.journal.hold()
        try:
            # another session may have measured some since this one was prepared
            self._turns = list(enumerate(self.missing()))
            self._restore_earlier()
            if not self._turns:
                return SessionEnd()
            slurm_job = allocation() if self.plan.file.cluster.launcher == "srun" else None
            runner = Runner(self.plan, self.store, slurm_job)
            runner.look_around()
            return self._measure_guarded(runner)
        finally:
            self.journal.release()

    def _measure_guarded(self, runner: Runner) -> SessionEnd:
        """Run all turns, and restore the fabric however they end."""
        guard = Guard(self._restore_turn, self.journal.log, runner.mark)
        applied = NOTHING
        stopped = ""
        lost: Allocation | None = None
        restored: bool | None = None
        with StopSignals() as signals:
            try:
                for number, turn in self._turns:
                    if self.plan.apply:
                        job = self._written_job(turn)
                        applied = number
                        self._apply(number, job, guard, signals)
                    for run in turn.runs:
                        runner.run(run, guard, signals)
            except FabricError as error:
                stopped = str(error)
            except AllocationLostError as error:
                stopped, lost = str(error), runner.allocation
            finally:
                signals.deaf = True
                if applied != NOTHING:
                    restored = self._restore(applied, guard)
                    guard.set_turn(NOTHING)
                guard.dismiss()
        # asked only now: the fabric has to be restored at once
        how = lost.end_text() if lost is not None else ""
        if lost is not None and how:
            stopped = f"Slurm's job {lost.job_id} {how}"
        return SessionEnd(stopped, restored, runner.done)

    # --- the fabric -----------------------------------------------------------------------

    @property
    def _fabric(self) -> Fabric:
        if self.plan.fabric is None:
            raise RoutelabError(f"{self.plan.file.path} has no fabric")
        return self.plan.fabric

    def _job(self, turn: RoutingRuns) -> FabricJob:
        return self.plan.job(turn.routing, self.journal.folder.resolve())

    def _written_job(self, turn: RoutingRuns) -> FabricJob:
        """Return the fabric's job for a turn, after writing its files."""
        job = self._job(turn)
        with explain_write_errors(job.folder, job.folder):
            job.folder.mkdir(parents=True, exist_ok=True)
        write_fabric_files(self._fabric, job)
        return job

    def _apply(self, number: int, job: FabricJob, guard: Guard, signals: StopSignals) -> None:
        """Note in the journal that the fabric changes, then apply a routing to it."""
        report_phase("session", f"apply {job.routing}")
        self.journal.write(
            {
                "topology": self.plan.topology,
                "routing": job.routing,
                "hosts": list(job.hosts),
                "folder": str(job.folder),
                "since": now(),
                "process": os.getpid(),
                "host": os.uname().nodename,
            }
        )
        guard.set_turn(number)
        switch = LoggedSwitch(self.journal.log, guard.set_group, signals.hold_back)
        self._fabric.apply(job, switch.run)

    def _restore(self, number: int, guard: Guard) -> bool:
        """Restore the fabric; log an error and return False if that fails."""
        report_phase("session", "restore the fabric")
        try:
            self._restore_turn(number, guard.set_group)
        except Exception as error:
            logger.error(
                "THE FABRIC WAS NOT RESTORED: it may still have the routing in %s. %s. See %s; "
                "the next session tries again. If you restore it by hand, remove %s.",
                self._turns[number][1].routing.text,
                str(error).rstrip("."),
                self.journal.log,
                self.journal.path,
            )
            return False
        return True

    def _restore_turn(self, number: int, on_start: Callable[[int], None] = lambda _: None) -> None:
        job = self._job(self._turns[number][1])
        self._fabric.restore(job, LoggedSwitch(self.journal.log, on_start).run)
        self.journal.clear()

    def _restore_earlier(self) -> None:
        """Restore the fabric after a session that could not do so itself."""
        interrupted = self.journal.entry()
        if interrupted is None:
            return
        logger.warning(
            "an earlier session (process %s on %s) left the fabric with the routing in %s; "
            "restoring it first",
            interrupted.get("process"),
            interrupted.get("host"),
            interrupted.get("routing"),
        )
        try:
            table = self._remake(str(interrupted["topology"]), str(interrupted["routing"]))
            hosts, folder = tuple(interrupted["hosts"]), Path(interrupted["folder"])
            job = FabricJob(interrupted["routing"], table, hosts, folder, interrupted["topology"])
            self._fabric.restore(job, LoggedSwitch(self.journal.log).run)
        except (RoutelabError, KeyError) as error:
            raise RoutelabError(
                "an earlier session did not restore the fabric, and it cannot be restored now, "
                f"so nothing is measured: {error}; restore it by hand, then remove "
                f"{self.journal.path}"
            ) from error
        self.journal.clear()
