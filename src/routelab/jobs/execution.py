"""Doing a job: every way in which one can end becomes an outcome here."""

from __future__ import annotations

import logging
import os
from pathlib import Path

from routelab.artifacts.atomic import atomic_directory
from routelab.artifacts.outcome import Outcome, write_outcome
from routelab.artifacts.provenance import Measured
from routelab.config.study import Limits
from routelab.jobs.blame import contain
from routelab.jobs.job import OUTCOME, FolderJob, Task
from routelab.jobs.limits import Breach, Meter, run_limited, without_result
from routelab.registry.catalogue import QuarantinedError

LOOKUP = Limits(seconds=20, memory_gb=2, idle_seconds=10)
"""For looking up the plugins of a job that did not end by itself: their code runs once more."""

logger = logging.getLogger(__name__)


def perform(job: FolderJob) -> Outcome:
    """Do a job and write its folder; what goes wrong in a plugin becomes the outcome.

    Raises
    ------
    InputError
        If a name is wrong or the folder cannot be written.
    """
    here = Path.cwd()
    task = job.load()
    with Measured() as measured:
        ending = contain(lambda: job.run(task), task.plugins)
    os.chdir(here)  # a plugin may have gone elsewhere, and results lie below this folder
    provenance = measured.provenance(task.plugins, task.seed, job.fingerprint)
    provenance |= task.provenance
    facts = task.facts if ending.result is None else job.facts(ending.result)
    outcome = Outcome(
        job.outcome_kind,
        task.topology,
        task.routing,
        ending.status,
        ending.reason,
        facts,
        provenance,
    )
    with atomic_directory(job.folder) as folder:
        if ending.result is not None:
            job.write(ending.result, folder, provenance)
        write_outcome(outcome, folder / OUTCOME)
    job.close(outcome.status)
    return outcome


def do_contained(job: FolderJob) -> None:
    """Do a job in a process of its own; a plugin that cannot be used is an outcome, too."""
    try:
        perform(job)
    except QuarantinedError as error:
        write_breach(job, Breach("failed", str(error)))


def write_end(job: FolderJob, ended: int | Breach, meter: Meter) -> None:
    """Write the outcome of a process that left none.

    Parameters
    ----------
    job : FolderJob
    ended : int or Breach
        Exit code of the process, or why it was stopped.
    meter : Meter
        Of the process.
    """
    if isinstance(ended, Breach):
        write_breach(job, ended)
    elif ended or not job.has_outcome():
        write_breach(job, without_result(ended, meter))


def write_breach(job: FolderJob, breach: Breach) -> None:
    """Write the outcome of a job that was stopped or whose plugin cannot be used.

    Plugins are looked up in a process of their own, as one of them may have ended the last one.
    """
    logger.warning("%s: %s: %s", job.folder, breach.status, breach.reason)

    def write_with_plugins() -> int:
        try:
            _write(job, breach, job.load())
        except QuarantinedError:
            _write(job, breach, _task_of(job))
        return 0

    if run_limited(write_with_plugins, LOOKUP) != 0:
        _write(job, breach, _task_of(job))


def _task_of(job: FolderJob) -> Task:
    """What is known of a job whose plugins cannot be looked up."""
    topology, routing = job.names()
    return Task(topology=topology, routing=routing)


def _write(job: FolderJob, breach: Breach, task: Task) -> None:
    with Measured() as measured:
        provenance = measured.provenance(task.plugins, task.seed, job.fingerprint)
    outcome = Outcome(
        job.outcome_kind,
        task.topology,
        task.routing,
        breach.status,
        breach.reason,
        task.facts,
        provenance,
    )
    with atomic_directory(job.folder) as folder:
        write_outcome(outcome, folder / OUTCOME)
