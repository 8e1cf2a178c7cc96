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
from routelab.cluster.bench.plan import MeasurementPlan, PlannedRun, Turn
from routelab.cluster.bench.processes.signals import StopSignals
from routelab.cluster.bench.run_check import RunVerdict, evaluate_run
from routelab.cluster.bench.runner import Runner, now
from routelab.cluster.bench.slurm import Allocation, AllocationLostError, allocation
from routelab.cluster.bench.store import RawRun, RunStore
from routelab.results.atomic import explain_write_errors

logger = logging.getLogger(__name__)

NO_TURN = -1
"""Number instead of that of a turn while no routing is applied: the fabric is as before."""


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
        Number of runs that were started and stored.
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
    compute_table : callable
        Computes the routes of a topology and a routing by their names. It is needed to restore a
        fabric that an earlier session, of any comparison, has left switched.
    retry : bool
        Whether stored runs without figures are run again.
    """

    def __init__(
        self,
        plan: MeasurementPlan,
        store: RunStore,
        fabrics: Path,
        compute_table: Callable[[str, str], RouteTable],
        *,
        retry: bool = True,
    ) -> None:
        self.plan = plan
        self.store = store
        self.retry = retry
        self.journal = Journal(fabrics, plan.file.path.stem)
        self._compute_table = compute_table
        # The guard is another process, and gets a turn as an index into this list.
        self._turns = self.missing_turns()

    def find_verdict(self, run: PlannedRun) -> tuple[RawRun, RunVerdict] | None:
        """Return a stored run with its verdict; None if it is not stored."""
        raw = self._find_stored(run)
        if raw is None:
            return None
        plugin = self.plan.benchmarks[run.benchmark.id]
        return raw, evaluate_run(plugin, raw, self.plan.task(run.benchmark.id))

    def missing_turns(self) -> list[Turn]:
        """Return the turns that have missing runs, with these runs only.

        A run is missing if it is not stored, or has no figures and may be retried.
        """
        turns = []
        fingerprints: set[str] = set()
        for turn in self.plan.turns:
            runs = []
            for run in turn.runs:
                # the same routing or benchmark under two names is run once
                if run.fingerprint not in fingerprints and self._is_missing(run):
                    fingerprints.add(run.fingerprint)
                    runs.append(run)
            if runs:
                turns.append(Turn(turn.routing, turn.round, tuple(runs)))
        return turns

    def is_undone(self, run: PlannedRun) -> bool:
        """Return whether a run is possible but was not tried."""
        return not run.refusal and self._find_stored(run) is None

    def is_failed(self, run: PlannedRun) -> bool:
        """Return whether a run is stored and has no figures."""
        stored = self.find_verdict(run)
        if stored is None:
            return False
        _raw, verdict = stored
        return verdict.status != "ok"

    def _is_missing(self, run: PlannedRun) -> bool:
        """Return whether a run has to be done: it is not stored, or has to be retried."""
        if run.refusal:
            return False
        stored = self.find_verdict(run)
        if stored is None:
            return True
        raw, verdict = stored
        # The record has the verdict of the version that measured the run. If that was "ok", only
        # this version's parser refuses the output, and measuring again would not help.
        return self.retry and verdict.status != "ok" and raw.status != "ok"

    def _find_stored(self, run: PlannedRun) -> RawRun | None:
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
        # Nothing to measure, and no fabric to restore.
        if not self._turns and self.journal.read_entry() is None:
            return SessionEnd()
        self.journal.lock()
        try:
            # another session may have measured some since this one was prepared
            self._turns = self.missing_turns()
            self._restore_earlier()
            if not self._turns:
                return SessionEnd()
            slurm_job = allocation() if self.plan.file.cluster.launcher == "srun" else None
            runner = Runner(self.plan, self.store, slurm_job)
            runner.probe_circumstances()
            return self._measure_guarded(runner)
        finally:
            self.journal.release()

    def _measure_guarded(self, runner: Runner) -> SessionEnd:
        """Run all turns, and restore the fabric however they end."""
        # The guard is a copy of this process, which restores the fabric if this one is killed.
        guard = Guard(self._restore_turn, self.journal.log, runner.mark)
        applied_turn = NO_TURN
        stopped = ""
        lost_job: Allocation | None = None
        restored: bool | None = None
        with StopSignals() as signals:
            try:
                for number, turn in enumerate(self._turns):
                    if self.plan.switches_fabric:
                        job = self._prepare_job(turn)
                        # Set before the command runs: a failed one may have changed the fabric.
                        applied_turn = number
                        self._apply(number, job, guard, signals)
                    for run in turn.runs:
                        runner.run(run, guard, signals)
            except FabricError as error:  # the runs so far are results, the others are missing
                stopped = str(error)
            except AllocationLostError as error:
                stopped, lost_job = str(error), runner.allocation
            finally:
                # This is also done for other exceptions, such as those of signals, which are raised
                # again when the fabric is restored.
                signals.ignores_signals = True
                if applied_turn != NO_TURN:
                    restored = self._restore(applied_turn, guard)
                    guard.set_turn(NO_TURN)
                guard.dismiss()
        # Slurm may take seconds to say how the job ended; the fabric could not wait for that.
        end_text = lost_job.end_text() if lost_job is not None else ""
        if lost_job is not None and end_text:
            stopped = f"Slurm's job {lost_job.job_id} {end_text}"
        return SessionEnd(stopped, restored, runner.done)

    # --- the fabric -----------------------------------------------------------------------

    @property
    def _fabric(self) -> Fabric:
        if self.plan.fabric is None:
            raise RoutelabError(f"{self.plan.file.path} has no fabric")
        return self.plan.fabric

    def _job(self, turn: Turn) -> FabricJob:
        return self.plan.job(turn.routing, self.journal.folder.resolve())

    def _prepare_job(self, turn: Turn) -> FabricJob:
        """Write the files that the fabric's commands need for a turn, and return its job."""
        job = self._job(turn)
        with explain_write_errors(job.folder, job.folder):
            job.folder.mkdir(parents=True, exist_ok=True)
        write_fabric_files(self._fabric, job)
        return job

    def _apply(self, number: int, job: FabricJob, guard: Guard, signals: StopSignals) -> None:
        """Record in the journal that the fabric changes, then apply a routing to it.

        `number` is the index of the turn in `_turns`.
        """
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
        """Restore the fabric after the turn with this index; return False if that fails.

        In that case an error is logged, and the journal stays for the next session.
        """
        report_phase("session", "restore the fabric")
        try:
            self._restore_turn(number, guard.set_group)
        except Exception as error:
            logger.error(
                "THE FABRIC WAS NOT RESTORED: it may still have the routing in %s. %s. See %s; "
                "the next session tries again. If you restore it by hand, remove %s.",
                self._turns[number].routing.text,
                str(error).rstrip("."),
                self.journal.log,
                self.journal.path,
            )
            return False
        return True

    def _restore_turn(self, number: int, on_start: Callable[[int], None] = lambda _: None) -> None:
        """Restore the fabric after the turn with this index; the guard's child calls it, too."""
        job = self._job(self._turns[number])
        self._fabric.restore(job, LoggedSwitch(self.journal.log, on_start).run)
        self.journal.clear()

    def _restore_earlier(self) -> None:
        """Restore the fabric if an earlier session could not do so itself.

        Raises
        ------
        RoutelabError
            If the fabric cannot be restored.
        """
        entry = self.journal.read_entry()
        if entry is None:
            return
        logger.warning(
            "an earlier session (process %s on %s) left the fabric with the routing in %s; "
            "restoring it first",
            entry.get("process"),
            entry.get("host"),
            entry.get("routing"),
        )
        try:
            # The other session may have measured another network and other routings, which are not
            # in this plan. So its job is made from the names in the journal.
            job = FabricJob(
                routing=entry["routing"],
                table=self._compute_table(str(entry["topology"]), str(entry["routing"])),
                hosts=tuple(entry["hosts"]),
                folder=Path(entry["folder"]),
                topology=entry["topology"],
            )
            self._fabric.restore(job, LoggedSwitch(self.journal.log).run)
        except (RoutelabError, KeyError) as error:
            raise RoutelabError(
                "an earlier session did not restore the fabric, and it cannot be restored now, "
                f"so nothing is measured: {error}; restore it by hand, then remove "
                f"{self.journal.path}"
            ) from error
        self.journal.clear()
