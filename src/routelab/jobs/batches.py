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


@dataclass(frozen=True)
class Batch:
    """Jobs that one process runs.

    Attributes
    ----------
    kind : str
        Of all its jobs.
    id : str
        The study's name and a number; unique among batches of its kind.
    jobs : tuple of BaseJob
    after : tuple of (str, str)
        Kind and id of the batches that must have run.
    least_priority : int
        Higher than the priority of all batches that must run after this one.
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
        """Return the number of results of all jobs."""
        return sum(job.size for job in self.jobs)

    @property
    def priority(self) -> int:
        """Return the expected time in units of 0.1 s, or more if a longer batch waits for this one.

        Long batches should not be the last.
        """
        expected = round(10 * sum(job.size * job.seconds_each for job in self.jobs))
        return max(expected, self.least_priority)


def _fingerprint(jobs: Iterable[BaseJob]) -> str:
    parts = [f"{job.folder} {job.fingerprint}" for job in jobs]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def write_jobs(
    jobs: Sequence[BaseJob], path: Path, results: Path | None = None, replaces: int = 0
) -> None:
    """Write jobs to a file for `read_jobs`.

    A file with this content is not touched. Snakemake runs a batch when its list is newer than the
    manifest and has another content. So the file keeps its time if no result changes, for example
    because only limits have changed.

    Parameters
    ----------
    jobs : sequence of BaseJob
    path : Path
    results : Path, optional
        The results folder in which a run of the workflow follows these jobs.
    replaces : int
        Time of the manifest in which a job is not done; the next manifest repeats it.

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
        before = read_bytes(path, MAX_ARTIFACT)
        if before == text.encode():
            return
        time = path.stat().st_mtime_ns
        is_same_work = head.items() <= load_sealed(before).items()
    except (OSError, ValueError):
        is_same_work = False
    with atomic_file(path) as draft:
        draft.write_text(text, encoding="utf-8")
        if is_same_work:
            os.utime(draft, ns=(time, time))


def join_run(path: Path) -> None:
    """Take part in the run of the workflow that wrote a list of jobs.

    This process keeps other runs out of the results folder until it ends, and ends with the run.

    Raises
    ------
    InputError
        As `read_jobs`.
    """
    results = results_of(path)
    if results is not None:
        share_results_lock(results)
    end_with_run()


def results_of(path: Path) -> Path | None:
    """Return the results folder in which a run of the workflow follows a list of jobs, if any.

    Raises
    ------
    InputError
        As `read_jobs`.
    """
    results = read_json(path, SPEC).get("results")
    return Path(results) if results else None


def replaced_manifest(path: Path) -> int:
    """Return the time of the manifest that a list of jobs, or a manifest, replaces; 0 if none.

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
        return tuple(_job(job) for job in content["jobs"])
    except (KeyError, TypeError, ValueError, AttributeError, ImportError) as error:
        problem = str(error).splitlines()[0] if isinstance(error, ValidationError) else repr(error)
        raise InputError(
            f"{path} is not a list of jobs as this version of routelab writes it ({problem}); the "
            "next run of the workflow writes it again"
        ) from error


@cache
def _adapter(kind: type[BaseJob]) -> TypeAdapter[BaseJob]:
    return TypeAdapter(kind)


def _job(content: dict[str, Any]) -> BaseJob:
    module, _, name = content.pop("class").partition(":")
    del content["fingerprint"]
    job_class = getattr(importlib.import_module(module), name)
    if not (isinstance(job_class, type) and issubclass(job_class, BaseJob)):
        raise TypeError(f"{module}:{name} is not a kind of job")
    job: BaseJob = _adapter(job_class).validate_json(json.dumps(content))
    return job


def run_batch(spec: Path, manifest: Path) -> int:
    """Run the jobs of a batch that are not done, and write the manifest.

    Parameters
    ----------
    spec : path
        Written by `write_jobs`.
    manifest : path
        Written when all jobs have an outcome.

    Returns
    -------
    done : int
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
    type(jobs[0]).write_manifest(jobs, manifest, replaced_manifest(spec))
    return len(unfinished)
