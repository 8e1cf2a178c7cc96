"""A session: what is missing of a comparison is measured, and the fabric is put back."""

from __future__ import annotations

import logging
import os
import signal
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any

from routelab._progress import tell
from routelab.api import FabricError, FabricJob, RoutelabError, RouteTable
from routelab.artifacts.atomic import explained
from routelab.bench.circumstances import environment_of, places, versions_of
from routelab.bench.fabrics import LoggedSwitch
from routelab.bench.guard import Guard
from routelab.bench.journal import Journal
from routelab.bench.judged import Judged, judge
from routelab.bench.launchers import inherited, write_hostfile
from routelab.bench.prepared import PlannedRun, Prepared, Turn
from routelab.bench.processes import run_program
from routelab.bench.rendered import render
from routelab.bench.slurm import (
    RETRY_SECONDS,
    UNREACHABLE_SECONDS,
    Allocation,
    AllocationLostError,
    allocation,
    launch_trouble,
)
from routelab.bench.store import STDERR, STDOUT, Ending, RawRun, RunStore

logger = logging.getLogger(__name__)

_HEEDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

NOTHING = -1
"""In the place of a turn: the fabric is as it was."""


class Stopped(BaseException):
    """A signal asked the session to end; no `except Exception` takes it for something else."""


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
        self._circumstances: dict[str, Any] = {}
        self._done = 0

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
        for turn in self.prepared.turns:
            runs = tuple(run for run in turn.runs if self._is_missing(run))
            if runs:
                turns.append(Turn(turn.routing, turn.round, runs))
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
        if not self._turns:
            return Ended()
        hosts = self.prepared.hosts
        self.journal.hold()
        try:
            self._restore_left()
            found = allocation() if self.prepared.file.cluster.launcher == "srun" else None
            if found is not None and hosts:
                found.check(hosts)
            self._look_around()
            return self._guarded(found)
        finally:
            self.journal.release()

    def _look_around(self) -> None:
        with explained(self.store.folder, self.store.folder):
            self.store.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".probe", dir=self.store.folder) as folder:
                tell("session", "probe")
                found = places(self.prepared.launcher, Path(folder).resolve())
        self._circumstances = {
            "versions": versions_of(self.prepared.launcher),
            "environment": environment_of() | self.prepared.file.cluster.environment,
            **found,
        }

    def _guarded(self, found: Allocation | None) -> Ended:
        guard = Guard(self._restore_turn, self.journal.log)
        applied = NOTHING
        stopped = ""
        restored: bool | None = None
        with _Heeding() as heeding:
            try:
                for number, turn in self._turns:
                    if self.prepared.apply:
                        applied = number
                        self._apply(number, turn, guard)
                    for run in turn.runs:
                        self._run(run, found, guard)
            except (FabricError, AllocationLostError) as error:
                stopped = str(error)
            finally:
                heeding.deaf = True
                if applied != NOTHING:
                    restored = self._restore(applied)
                    guard.applied(NOTHING)
                guard.dismiss()
        return Ended(stopped, restored, self._done)

    # --- the fabric -----------------------------------------------------------------------

    def _job(self, turn: Turn) -> FabricJob:
        return self.prepared.job(turn.routing, self.journal.folder.resolve())

    def _apply(self, number: int, turn: Turn, guard: Guard) -> None:
        tell("session", f"apply {turn.routing.id}")
        job = self._job(turn)
        with explained(job.folder, job.folder):
            job.folder.mkdir(parents=True, exist_ok=True)
        render(self.prepared.fabric, job)
        self.journal.write(
            {
                "topology": self.prepared.topology,
                "routing": job.routing,
                "hosts": list(job.hosts),
                "folder": str(job.folder),
                "since": _now(),
                "process": os.getpid(),
                "host": os.uname().nodename,
            }
        )
        guard.applied(number)
        self.prepared.fabric.apply(job, LoggedSwitch(self.journal.log))

    def _restore(self, number: int) -> bool:
        """Whether the fabric is as before; says loudly if it is not."""
        tell("session", "restore the fabric")
        try:
            self._restore_turn(number)
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

    def _restore_turn(self, number: int) -> None:
        self.prepared.fabric.restore(
            self._job(self._turns[number][1]), LoggedSwitch(self.journal.log)
        )
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

    # --- a run ----------------------------------------------------------------------------

    def _run(self, run: PlannedRun, found: Allocation | None, guard: Guard) -> None:
        which = f"round {run.round}" if run.round > 0 else "warm-up"
        tell(f"{run.routing.id} {run.benchmark.id}", which)
        try:
            raw = self._started(run, found, guard)
            plugin = self.prepared.benchmarks[run.benchmark.id]
            judged = judge(plugin, raw, self.prepared.task(run.benchmark.id))
            if judged.status != "ok" and found is not None:
                found.ensure_alive()  # otherwise it was not the benchmark's fault
            self.store.keep(raw)
        except BaseException:
            self.store.drop(run.fingerprint)
            raise
        self._done += 1
        if judged.status != "ok":
            logger.warning("%s, %s, %s: %s", run.routing.id, run.benchmark.id, which, judged.reason)
        tell(f"{run.routing.id} {run.benchmark.id}", f"{which}: {judged.status}", ended=True)

    def _started(self, run: PlannedRun, found: Allocation | None, guard: Guard) -> RawRun:
        """A run that was started at least: what Slurm's controller cannot do it may do soon."""
        until = time.monotonic() + UNREACHABLE_SECONDS
        while True:
            raw = self._launched(run, found, guard)
            trouble = "" if found is None else launch_trouble(raw.output())
            if found is None or not trouble:
                return raw
            logger.warning("%s; trying again", trouble)
            found.ensure_alive()
            if time.monotonic() > until:
                raise AllocationLostError(
                    f"srun could not start anything for {UNREACHABLE_SECONDS:g} s: {trouble}"
                )
            time.sleep(RETRY_SECONDS)

    def _launched(self, run: PlannedRun, found: Allocation | None, guard: Guard) -> RawRun:
        name = run.fingerprint[:16]
        launch = self.prepared.launcher.launch(run.command, name)
        folder = self.store.begin(run.fingerprint, run.files).resolve()
        write_hostfile(launch, folder)
        seconds = self.prepared.comparison.settings.seconds
        started = _now()
        ending: Ending = "ended"
        exit_code: int | None = None
        reason, taken = "", 0.0
        try:
            ended = run_program(
                launch.arguments,
                folder=folder,
                stdout=folder / STDOUT,
                stderr=folder / STDERR,
                environment=inherited(os.environ) | dict(launch.environment),
                seconds=seconds,
                began=guard.group,
                end_step=(lambda: found.end_step(name)) if found is not None else lambda: None,
            )
        except OSError as error:
            ending, reason = "not-started", f"cannot start {launch.arguments[0]}: {error.strerror}"
        else:
            exit_code, taken = ended.exit_code, ended.seconds
            if ended.timed_out:
                ending, reason = "timeout", f"took longer than {seconds:g} s and was ended"
        return RawRun(
            run.fingerprint,
            run.identity,
            ending,
            exit_code,
            reason,
            taken,
            started,
            found.job_id if found else "",
            launch.arguments,
            self._circumstances,
            folder,
        )


class _Heeding:
    """Signals that ask to end raise, so that all is put back on the way out.

    Attributes
    ----------
    deaf : bool
        Set while it is put back: nobody interrupts that.
    """

    def __init__(self) -> None:
        self.deaf = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> _Heeding:
        self._before = {number: signal.signal(number, self._heed) for number in _HEEDED}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _heed(self, number: int, _frame: FrameType | None) -> None:
        if self.deaf:
            logger.warning("%s: the fabric is being restored first", signal.Signals(number).name)
        elif number == signal.SIGINT:
            raise KeyboardInterrupt
        else:
            raise Stopped(signal.Signals(number).name)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
