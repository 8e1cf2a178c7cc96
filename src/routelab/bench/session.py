"""A session: what is missing of a comparison is measured, and the fabric is put back."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from routelab._progress import tell
from routelab.api import FabricError, FabricJob, RoutelabError, RouteTable
from routelab.artifacts.atomic import explain_write_errors
from routelab.bench.fabric.files import render
from routelab.bench.fabric.guard import Guard
from routelab.bench.fabric.journal import Journal
from routelab.bench.fabric.switching import LoggedSwitch
from routelab.bench.plan import PlannedRun, Prepared, Turn
from routelab.bench.processes.signals import Heeding
from routelab.bench.runner import Runner, now
from routelab.bench.slurm import AllocationLostError, allocation
from routelab.bench.store import RawRun, RunStore
from routelab.bench.verdict import Judged, judge

logger = logging.getLogger(__name__)

NOTHING = -1
"""In the place of a turn: the fabric is as it was."""


@dataclass(frozen=True)
class Ended:
    """How a session ended.

    Attributes
    ----------
    stopped : str
        Why it ended before all was measured; empty if it did not.
    restored : bool or None
        Whether the fabric is as before; None if it was left alone.
    done : int
        Runs that were made.
    """

    stopped: str = ""
    restored: bool | None = None
    done: int = 0


class Session:
    """Measures what is missing of a comparison.

    Parameters
    ----------
    prepared : Prepared
    store : RunStore
    fabrics : Path
        Folder with the journals of fabrics, and the files for their tools.
    remake : callable
        The routes of a topology and a routing by their names, for a fabric that an earlier
        session has left switched.
    """

    def __init__(
        self,
        prepared: Prepared,
        store: RunStore,
        fabrics: Path,
        remake: Callable[[str, str], RouteTable],
    ) -> None:
        self.prepared = prepared
        self.store = store
        self.journal = Journal(fabrics, prepared.file.path.stem)
        self._remake = remake
        self._turns = list(enumerate(self.missing()))

    def judged(self, run: PlannedRun) -> tuple[RawRun, Judged] | None:
        """What the store has of a run; None if it was not done."""
        raw = self.store.find(run.fingerprint) if run.fingerprint else None
        if raw is None:
            return None
        plugin = self.prepared.benchmarks[run.benchmark.id]
        return raw, judge(plugin, raw, self.prepared.task(run.benchmark.id))

    def missing(self) -> list[Turn]:
        """Turns with those of their runs that have no figures yet."""
        turns = []
        seen: set[str] = set()
        for turn in self.prepared.turns:
            runs = []
            for run in turn.runs:
                # the same routing or benchmark under two names has its runs once
                if run.fingerprint not in seen and self._is_missing(run):
                    seen.add(run.fingerprint)
                    runs.append(run)
            if runs:
                turns.append(Turn(turn.routing, turn.round, tuple(runs)))
        return turns

    def is_undone(self, run: PlannedRun) -> bool:
        """Whether a run that could be was not even tried."""
        return not run.refused and self.store.find(run.fingerprint) is None

    def _is_missing(self, run: PlannedRun) -> bool:
        if run.refused:
            return False
        found = self.judged(run)
        return found is None or found[1].status != "ok"

    def measure(self) -> Ended:
        """Do all runs that are missing.

        Raises
        ------
        InputError
            If the disk is full, another session holds the fabric, or the allocation lacks hosts;
            the fabric is restored before.
        RoutelabError
            If an earlier session left the fabric switched and it cannot be restored, or ranks
            are not where they have to be.
        Stopped, KeyboardInterrupt
            If a signal asked for it; all is put back before.
        """
        if not self._turns and self.journal.left() is None:
            return Ended()
        self.journal.hold()
        try:
            self._restore_left()
            if not self._turns:
                return Ended()
            found = allocation() if self.prepared.file.cluster.launcher == "srun" else None
            if found is not None and self.prepared.hosts:
                found.check(self.prepared.hosts)
            runner = Runner(self.prepared, self.store, found)
            runner.look_around()
            return self._guarded(runner)
        finally:
            self.journal.release()

    def _guarded(self, runner: Runner) -> Ended:
        guard = Guard(self._restore_turn, self.journal.log, runner.mark)
        applied = NOTHING
        stopped = ""
        restored: bool | None = None
        with Heeding() as heeding:
            try:
                for number, turn in self._turns:
                    if self.prepared.apply:
                        job = self._rendered(turn)
                        applied = number
                        self._apply(number, job, guard)
                    for run in turn.runs:
                        runner.run(run, guard, heeding)
            except (FabricError, AllocationLostError) as error:
                stopped = str(error)
            finally:
                heeding.deaf = True
                if applied != NOTHING:
                    restored = self._restore(applied, guard)
                    guard.applied(NOTHING)
                guard.dismiss()
        return Ended(stopped, restored, runner.done)

    # --- the fabric -----------------------------------------------------------------------

    def _job(self, turn: Turn) -> FabricJob:
        return self.prepared.job(turn.routing, self.journal.folder.resolve())

    def _rendered(self, turn: Turn) -> FabricJob:
        """What the fabric is told in a turn, with the files that it needs."""
        job = self._job(turn)
        with explain_write_errors(job.folder, job.folder):
            job.folder.mkdir(parents=True, exist_ok=True)
        render(self.prepared.fabric, job)
        return job

    def _apply(self, number: int, job: FabricJob, guard: Guard) -> None:
        tell("session", f"apply {job.routing}")
        self.journal.write(
            {
                "topology": self.prepared.topology,
                "routing": job.routing,
                "hosts": list(job.hosts),
                "folder": str(job.folder),
                "since": now(),
                "process": os.getpid(),
                "host": os.uname().nodename,
            }
        )
        guard.applied(number)
        self.prepared.fabric.apply(job, LoggedSwitch(self.journal.log, guard.group))

    def _restore(self, number: int, guard: Guard) -> bool:
        """Whether the fabric is as before; says loudly if it is not."""
        tell("session", "restore the fabric")
        try:
            self._restore_turn(number, guard.group)
        except Exception as error:
            logger.error(
                "THE FABRIC WAS NOT RESTORED: it may still route as %s says. %s. See %s; the next "
                "session tries again. If you restore it by hand, remove %s.",
                self._turns[number][1].routing.text,
                str(error).rstrip("."),
                self.journal.log,
                self.journal.path,
            )
            return False
        return True

    def _restore_turn(self, number: int, began: Callable[[int], None] = lambda _: None) -> None:
        job = self._job(self._turns[number][1])
        self.prepared.fabric.restore(job, LoggedSwitch(self.journal.log, began))
        self.journal.clear()

    def _restore_left(self) -> None:
        """Restore what a session has left that could not do so itself."""
        left = self.journal.left()
        if left is None:
            return
        logger.warning(
            "an earlier session (process %s on %s) left the fabric routing as %s says; it is "
            "restored first",
            left.get("process"),
            left.get("host"),
            left.get("routing"),
        )
        try:
            table = self._remake(str(left["topology"]), str(left["routing"]))
            hosts, folder = tuple(left["hosts"]), Path(left["folder"])
            job = FabricJob(left["routing"], table, hosts, folder, left["topology"])
            self.prepared.fabric.restore(job, LoggedSwitch(self.journal.log))
        except (RoutelabError, KeyError) as error:
            raise RoutelabError(
                "the fabric was left switched by an earlier session and cannot be restored, "
                f"nothing is measured: {error}; restore it by hand, then remove {self.journal.path}"
            ) from error
        self.journal.clear()
