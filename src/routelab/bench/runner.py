"""One run after the other: launched as it is meant to be, judged, and kept."""

from __future__ import annotations

import logging
import tempfile
import time
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from routelab._progress import tell
from routelab.api.parameters import bytes_text
from routelab.artifacts.atomic import explain_write_errors
from routelab.bench.circumstances import environment_of, places, versions_of
from routelab.bench.fabric.guard import Guard
from routelab.bench.launchers import run_launch
from routelab.bench.plan import PlannedRun, Prepared
from routelab.bench.processes.processes import MOST_OUTPUT
from routelab.bench.processes.signals import Heeding
from routelab.bench.slurm import (
    RETRY_SECONDS,
    UNREACHABLE_SECONDS,
    Allocation,
    AllocationLostError,
    launch_trouble,
)
from routelab.bench.store import RawRun, RunEnding, RunStore
from routelab.bench.verdict import judge

PROBE_ROOM = 64 * 1024
"""Bytes that there has to be room for on the disk."""

logger = logging.getLogger(__name__)


class Runner:
    """Does the runs of a session.

    Parameters
    ----------
    prepared : Prepared
    store : RunStore
    allocation : Allocation or None
        Of Slurm.

    Attributes
    ----------
    done : int
        Runs that were made.
    mark : str
        Of all programs that it starts; see `routelab.bench.processes.processes.MARK`.
    """

    def __init__(self, prepared: Prepared, store: RunStore, allocation: Allocation | None) -> None:
        self.prepared = prepared
        self.store = store
        self.allocation = allocation
        self.done = 0
        self.mark = uuid.uuid4().hex
        self._circumstances: dict[str, Any] = {}

    def look_around(self) -> None:
        """Find out versions and where ranks are, before anything is changed.

        Raises
        ------
        RoutelabError
            If ranks are not where they have to be.
        """
        with explain_write_errors(self.store.folder, self.store.folder):
            self.store.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".probe", dir=self.store.folder) as folder:
                tell("session", "probe")
                # launchers do not say that they could not print
                Path(folder, "room").write_bytes(bytes(PROBE_ROOM))
                found = places(self.prepared.launcher, Path(folder).resolve(), self.mark)
        self._circumstances = {
            "versions": versions_of(self.prepared.launcher),
            "environment": environment_of() | self.prepared.file.cluster.environment,
            **found,
        }

    def run(self, run: PlannedRun, guard: Guard, heeding: Heeding) -> None:
        """Make a run and keep it, whatever came of it.

        Raises
        ------
        AllocationLostError
            If the nodes are not ours any more; then the run is not kept.
        InputError
            If the disk is full.
        """
        which = f"round {run.round}" if run.round > 0 else "warm-up"
        tell(f"{run.routing.id} {run.benchmark.id}", which)
        try:
            raw = self._started(run, guard, heeding)
            plugin = self.prepared.benchmarks[run.benchmark.id]
            judged = judge(plugin, raw, self.prepared.task(run.benchmark.id))
            if judged.status != "ok" and self.allocation is not None:
                self.allocation.ensure_alive()  # otherwise it was not the benchmark's fault
            self.store.keep(raw)
        except BaseException:
            self.store.drop(run.fingerprint)
            raise
        self.done += 1
        if judged.status != "ok":
            logger.warning("%s, %s, %s: %s", run.routing.id, run.benchmark.id, which, judged.reason)
        tell(f"{run.routing.id} {run.benchmark.id}", f"{which}: {judged.status}", ended=True)

    def _started(self, run: PlannedRun, guard: Guard, heeding: Heeding) -> RawRun:
        """A run that was started at least: what Slurm's controller cannot do it may do soon."""
        found = self.allocation
        until = time.monotonic() + UNREACHABLE_SECONDS
        while True:
            raw = self._launched(run, guard, heeding)
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

    def _launched(self, run: PlannedRun, guard: Guard, heeding: Heeding) -> RawRun:
        name, found = run.fingerprint[:16], self.allocation
        launch = self.prepared.launcher.launch(run.command, name)
        folder = self.store.begin(run.fingerprint, run.files).resolve()
        seconds = self.prepared.comparison.settings.seconds
        started = now()
        ending: RunEnding = "ended"
        exit_code: int | None = None
        reason, taken = "", 0.0
        try:
            ended = run_launch(
                launch,
                folder,
                seconds,
                self.mark,
                began=guard.group,
                starting=heeding.held,
                end_step=(lambda: found.end_step(name)) if found is not None else lambda: None,
            )
        except OSError as error:
            ending, reason = "not-started", f"cannot start {launch.arguments[0]}: {error.strerror}"
        else:
            exit_code, taken = ended.exit_code, ended.seconds
            if ended.timed_out:
                ending, reason = "timeout", f"took longer than {seconds:g} s and was ended"
            elif ended.flooded:
                most = bytes_text(MOST_OUTPUT)
                ending, reason = "flooded", f"printed more than {most} and was ended"
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
            self.mark,
            run.turn,
            self._circumstances,
            folder,
        )


def now() -> str:
    """UTC in ISO 8601, whole seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")
