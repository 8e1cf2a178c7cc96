"""Jobs that write a folder, and the conversion of every ending into an outcome."""

from __future__ import annotations

import logging
import os
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from typing_extensions import override

from routelab.api import Plugin
from routelab.jobs.child import run_limited
from routelab.jobs.job import BaseJob
from routelab.jobs.limits import Failure
from routelab.jobs.plugin_errors import run_contained
from routelab.jobs.worker import Item
from routelab.registry.catalogue import QuarantinedError
from routelab.results.atomic import atomic_directory
from routelab.results.outcome import Outcome, Status, close_folder
from routelab.results.provenance import ResourceMeter
from routelab.study.study import Limits

LOOKUP = Limits(seconds=20, memory_gb=2)
"""Limits for looking up the plugins of a job that was stopped: their code runs once more."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False, kw_only=True)
class Task:
    """What the outcome of a job says about its network, routing and plugins in any case.

    It is known before the job computes, so an outcome has it also if the job fails.

    Attributes
    ----------
    topology, routing : str
        Canonical names, for the outcome.
    plugins : tuple of Plugin
        All plugins of the job.
    seed : int or None
    facts : mapping
        Facts that are known without a result.
    provenance : mapping
        Further JSON values for the outcome's provenance.
    """

    topology: str
    routing: str = ""
    plugins: tuple[Plugin, ...] = ()
    seed: int | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)


class Result(NamedTuple):
    """What a job computed.

    Attributes
    ----------
    facts : mapping
        The outcome's facts.
    write : callable
        Writes the files of the result; it gets a folder and the outcome's provenance.
    digest : str or None
        Digest of a result that other jobs read; None if none does.
    problem : Failure or None
        Why a part of the result is missing; its status is then that of the outcome, which has the
        files all the same.
    """

    facts: Mapping[str, Any]
    write: Callable[[Path, Mapping[str, Any]], None]
    digest: str | None = None
    problem: Failure | None = None


Computation: TypeAlias = Callable[[dict[str, Any]], Result]
"""Computes the result of a job. The argument is the facts that the outcome has without a result:
it adds what it learns. An exception becomes the outcome; UnsupportedError and InputError mean
that the parts do not fit each other, and their text is the outcome's reason."""


@dataclass(frozen=True, kw_only=True)
class FolderJob(BaseJob):
    """A job that writes a folder: the files of its result, and its outcome.

    A subclass defines `load`; the functions of this module do the rest.
    """

    @abstractmethod
    def load(self) -> tuple[Task, Computation]:
        """Look up network and plugins by their names, before the result is computed.

        Returns
        -------
        task : Task
            What the outcome says even if the computation fails.
        compute : function
            Computes the result.

        Raises
        ------
        InputError
            Names everything that is wrong.
        """

    def task(self) -> Task:
        """Return what is known without plugins, for an outcome if they cannot be looked up."""
        return Task(topology=self.text)

    def close(self, status: Status) -> None:
        """Clean up after the outcome has been written."""

    @override
    def work_items(self) -> tuple[Item]:
        run, record = partial(run_job, self), partial(write_failure, self)
        return (Item(self.folder, self.limits, run, record),)


def run_job(job: FolderJob) -> Outcome:
    """Run a job and write its folder; an error in a plugin becomes the outcome.

    Raises
    ------
    InputError
        If a name is wrong or the folder cannot be written.
    QuarantinedError
        If a plugin cannot be used.
    """
    start_folder = Path.cwd()
    sources = job.sources()
    task, compute = job.load()
    # The computation adds what it learns to these facts, which the outcome has if it fails.
    facts = dict(task.facts)
    with ResourceMeter() as resources:
        result = run_contained(compute, facts)
    os.chdir(start_folder)  # a plugin may have changed the folder, and result paths are relative
    provenance = resources.provenance(task.plugins, task.seed, job.fingerprint)
    provenance |= {**task.provenance, "sources": sources}
    if isinstance(result, Result):
        provenance["digest"] = result.digest
        facts = dict(result.facts)
    outcome = _write_folder(job, task, result, facts, provenance)
    job.close(outcome.status)
    return outcome


def write_failure(job: FolderJob, failure: Failure) -> None:
    """Write the outcome of a job that was stopped or whose plugin cannot be used.

    Plugins are looked up in a new process, because one of them may have ended the last one.
    """
    logger.warning("%s: %s: %s", job.folder, failure.status, failure.reason)

    def write_with_plugins() -> int:
        try:
            task, _compute = job.load()
        except QuarantinedError:
            task = job.task()
        _write_failed_outcome(job, failure, task)
        return 0

    # If it ended with another code or was stopped, a plugin is the cause: do without them.
    if run_limited(write_with_plugins, LOOKUP) != 0:
        _write_failed_outcome(job, failure, job.task())


def _write_failed_outcome(job: FolderJob, failure: Failure, task: Task) -> None:
    with ResourceMeter() as resources:
        provenance = resources.provenance(task.plugins, task.seed, job.fingerprint)
    _write_folder(job, task, failure, task.facts, provenance)


def _write_folder(
    job: FolderJob,
    task: Task,
    result: Result | Failure,
    facts: Mapping[str, Any],
    provenance: Mapping[str, Any],
) -> Outcome:
    """Write the folder of a job: its outcome, and the files of its result; return the outcome.

    A `Failure` has no files. A result with a `problem` lacks a part only, such as one metric of
    several: its files are written, and the outcome has the status and reason of the problem.
    """
    problem = result if isinstance(result, Failure) else result.problem
    status, reason = (problem.status, problem.reason) if problem is not None else ("ok", "")
    outcome = Outcome(
        kind=job.outcome_kind,
        topology=task.topology,
        routing=task.routing,
        status=status,
        reason=reason,
        facts=facts,
        provenance=provenance,
    )
    # not durable: a result that a crash of the system loses can be computed again
    with atomic_directory(job.folder, durable=False) as folder:
        if isinstance(result, Result):
            result.write(folder, provenance)
        return close_folder(outcome, folder)
