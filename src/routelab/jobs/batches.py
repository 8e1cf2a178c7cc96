"""Batches: many small jobs in one process, which imports modules and loads kernels once.

The plan cuts jobs that share kernels into batches; Snakemake runs batches, see
`routelab.jobs.worker`. A job that has an outcome with the same fingerprint is not run again. So a
batch that was interrupted, or has grown, does only the missing jobs, and after an upgrade of a
plugin only its own jobs run again.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from routelab.api.errors import InputError
from routelab.jobs.job import BaseJob
from routelab.jobs.run_lifetime import end_with_run, share_results_lock
from routelab.jobs.worker import run_items
from routelab.results.atomic import atomic_file
from routelab.results.json_files import load_sealed, read_json, seal_json
from routelab.results.provenance import look_up_software
from routelab.toolkit.input_files import MAX_ARTIFACT, read_bytes

SPEC = "batch/2"
"""Format of a list of jobs."""


@dataclass(frozen=True)
class Batch:
    """Jobs that one process runs.

    Attributes
    ----------
    kind : str
        Kind of all its jobs.
    id : str
        The study's name and a number; unique among batches of its kind.
    jobs : tuple of BaseJob
    after : tuple of (str, str)
        Kind and id of the batches that must have run before.
    least_priority : int
        Lower bound of `priority`. It is above the priority of all batches that must run after this
        one: if one of them is urgent, so is this one.
    """

    kind: str
    id: str
    jobs: tuple[BaseJob, ...]
    after: tuple[tuple[str, str], ...] = ()
    least_priority: int = 0

    @property
    def inputs(self) -> tuple[str, ...]:
        """Files that the jobs read."""
        return tuple(sorted({name for job in self.jobs for name in job.inputs}))

    @property
    def fingerprint(self) -> str:
        """Digest that changes when jobs have to run again, are added or removed."""
        return _fingerprint(self.jobs)

    @property
    def size(self) -> int:
        """Number of results of all jobs."""
        return sum(job.size for job in self.jobs)

    @property
    def priority(self) -> int:
        """Priority in Snakemake: the expected time, so that long batches are not the last.

        It is in units of 0.1 s, because it must be an integer.
        """
        expected_seconds = sum(job.size * job.seconds_each for job in self.jobs)
        return max(round(10 * expected_seconds), self.least_priority)


def _fingerprint(jobs: Iterable[BaseJob]) -> str:
    """Return a digest of the folders and fingerprints of jobs, in this order."""
    parts = [f"{job.folder} {job.fingerprint}" for job in jobs]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def write_jobs(
    jobs: Sequence[BaseJob], path: Path, results: Path | None = None, replaces: int = 0
) -> None:
    """Write jobs to a file for `read_jobs`.

    Snakemake runs a batch when its list of jobs is newer than its manifest and has another content.
    So a file with this content is not touched, and one with other content keeps its time if no
    result changes, for example because only limits have changed.

    Parameters
    ----------
    jobs : sequence of BaseJob
    path : Path
    results : Path, optional
        The results folder of the run of the workflow that starts these jobs.
    replaces : int
        Time of the manifest, in ns since 1970, if the batch has run and a job has to run again; 0
        if that never happened. A new time changes the list, so Snakemake runs the batch. The next
        manifest repeats it, see `BaseJob.write_manifest`.

    Raises
    ------
    InputError
        If `path` cannot be written.
    """
    content = [
        {
            "class": f"{type(job).__module__}:{type(job).__qualname__}",
            "fingerprint": job.fingerprint,
            **_adapter(type(job)).dump_python(job, mode="json"),
        }
        for job in jobs
    ]
    head = {"replaces": replaces, "fingerprint": _fingerprint(jobs)}
    text = seal_json({"format": SPEC, "results": str(results or ""), **head, "jobs": content})
    try:
        old_content = read_bytes(path, MAX_ARTIFACT)
        if old_content == text.encode():
            return
        old_time = path.stat().st_mtime_ns
        # whether the old file has the same fingerprint of all jobs, and replaces the same manifest
        is_same_work = head.items() <= load_sealed(old_content).items()
    except (OSError, ValueError):  # the file is missing or damaged
        is_same_work = False
    with atomic_file(path) as draft:
        draft.write_text(text, encoding="utf-8")
        if is_same_work:
            os.utime(draft, ns=(old_time, old_time))


def join_run(path: Path) -> None:
    """Take part in the run of the workflow that wrote a list of jobs.

    This process keeps other runs out of the results folder until it ends, and ends with the run.

    Raises
    ------
    InputError
        If the file cannot be read or another version of routelab wrote it.
    """
    results = results_of(path)
    if results is not None:
        share_results_lock(results)
    end_with_run()


def results_of(path: Path) -> Path | None:
    """Return the results folder of the run of the workflow that wrote a list of jobs, if any.

    Raises
    ------
    InputError
        If the file cannot be read or another version of routelab wrote it.
    """
    results = read_json(path, SPEC).get("results")
    return Path(results) if results else None


def replaced_manifest_time(path: Path) -> int:
    """Return the time of the manifest that a list of jobs, or a manifest, replaces; 0 if none.

    This is the argument `replaces` of `write_jobs`, in ns.

    Parameters
    ----------
    path : Path
        JSON file; one that is missing or damaged replaces none.
    """
    try:
        return int(load_sealed(read_bytes(path, MAX_ARTIFACT)).get("replaces", 0))
    except (OSError, ValueError, TypeError):
        return 0


def read_jobs(path: Path) -> tuple[BaseJob, ...]:
    """Read the jobs of a batch.

    Raises
    ------
    InputError
        If the file cannot be read or another version of routelab wrote it.
    """
    content = read_json(path, SPEC)
    try:
        return tuple(_job_of_record(record) for record in content["jobs"])
    except (KeyError, TypeError, ValueError, AttributeError, ImportError) as error:
        problem = str(error).splitlines()[0] if isinstance(error, ValidationError) else repr(error)
        raise InputError(
            f"{path} is not a list of jobs as this version of routelab writes it ({problem}); the "
            "next run of the workflow writes it again"
        ) from error


@cache
def _adapter(job_class: type[BaseJob]) -> TypeAdapter[BaseJob]:
    return TypeAdapter(job_class)


def _job_of_record(record: dict[str, Any]) -> BaseJob:
    """Return a job from what `write_jobs` wrote: class, fingerprint, and the job's own fields."""
    job_fields = dict(record)
    module, _, name = job_fields.pop("class").partition(":")
    # a property of the job, not a field; the job computes it
    del job_fields["fingerprint"]
    job_class = getattr(importlib.import_module(module), name)
    if not (isinstance(job_class, type) and issubclass(job_class, BaseJob)):
        raise TypeError(f"{module}:{name} is not a kind of job")
    job: BaseJob = _adapter(job_class).validate_json(json.dumps(job_fields))
    return job


def run_batch(spec: Path, manifest: Path) -> int:
    """Run the jobs of a batch that are not done, and write the manifest.

    Parameters
    ----------
    spec : path
        List of jobs, from `write_jobs`.
    manifest : path
        File to write when all jobs have an outcome.

    Returns
    -------
    num_run : int
        Number of jobs that ran.

    Raises
    ------
    InputError
        If the spec cannot be read or the manifest cannot be written.
    RoutelabError
        If a job's outcome cannot be written, for example on a full disk.
    """
    jobs = read_jobs(spec)
    if not jobs:
        raise InputError(f"{spec} lists no jobs")
    unfinished = [job for job in jobs if not job.is_done()]
    if unfinished:
        look_up_software()  # once, not in every worker
        run_items([item for job in unfinished for item in job.work_items()])
    # all jobs of a batch have one class
    job_class = type(jobs[0])
    job_class.write_manifest(jobs, manifest, replaced_manifest_time(spec))
    return len(unfinished)
