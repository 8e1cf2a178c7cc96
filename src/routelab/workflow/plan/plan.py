"""The jobs of some studies, and their state in the results folder.

    job        one piece of work with one outcome, in a folder of its own
    batch      jobs of one kind that one process runs, as one job of Snakemake
    list       file of the jobs of a batch, its input: it changes when the batch has to run; also
               called `spec` and, as an input of Snakemake, `work`
    manifest   file that a batch writes when all its jobs have an outcome, its output
    postponed  batches that this run leaves out, with their lists and manifests

Snakemake decides by lists and manifests which batches run, and a batch by outcomes which jobs do.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain
from math import ceil
from pathlib import Path

from routelab.jobs.batches import Batch, replaced_manifest_time, write_jobs
from routelab.jobs.job import TRY_AGAIN, BaseJob, Compilation
from routelab.results.missing_results import NOT_RUN, JobStatus
from routelab.study import Study
from routelab.workflow.parts.study_plugins import Parts

FIRST = 1_000_000
"""Additional priority of the batches of the first study, so that its page is there early."""

PLAN = ".plan"
"""Folder in the results folder for files between the workflow and its processes."""


@dataclass(frozen=True)
class StudyPlan:
    """The parts and jobs of a study.

    Attributes
    ----------
    parts : Parts
    jobs : mapping of str to tuple of BaseJob
        By kind, in the study's order.
    inputs : tuple of str
        The study's file and the files of the reference that it cites.
    fingerprint : str
        Changes when the report may change although no result has changed.
    """

    parts: Parts
    jobs: Mapping[str, tuple[BaseJob, ...]]
    inputs: tuple[str, ...]
    fingerprint: str

    @property
    def study(self) -> Study:
        """The study."""
        return self.parts.study

    def ids(self, kind: str) -> tuple[tuple[str, ...], ...]:
        """Return the ids of all jobs of a kind."""
        return tuple(job.ids for job in self.jobs.get(kind, ()))


@dataclass(frozen=True)
class Plan:
    """All jobs of some studies.

    Attributes
    ----------
    results : Path
    jobs : mapping of str to BaseJob
        By folder; the jobs of one kind are adjacent.
    studies : mapping of str to StudyPlan
        By name.
    batches : mapping of (str, str) to Batch
        By kind and id.
    quarantined : tuple of str
        Why plugins of the studies cannot be used; their jobs fail for this reason.
    left_out : tuple of str
        Why some installed metrics are not measured by a study without the key ``metrics``.
    postponed : set of (str, str)
        Batches, by kind and id, that this run skips.
    unlisted : set of (str, str)
        Batches, by kind and id, whose list is missing and cannot be written.
    """

    results: Path
    jobs: Mapping[str, BaseJob]
    studies: Mapping[str, StudyPlan]
    batches: Mapping[tuple[str, str], Batch]
    quarantined: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    postponed: set[tuple[str, str]] = field(default_factory=set)
    unlisted: set[tuple[str, str]] = field(default_factory=set)

    @property
    def batches_to_do(self) -> list[Batch]:
        """Return the batches that are not postponed."""
        return [batch for key, batch in self.batches.items() if key not in self.postponed]

    def of(self, kind: str) -> dict[tuple[str, ...], BaseJob]:
        """Return the jobs of a kind by their ids.

        The ids of a comparison begin with the name of its study. Of other kinds, two studies may
        have jobs with the same ids: of these, the last is returned.
        """
        return {job.ids: job for job in self.jobs.values() if job.kind == kind}

    # --- files ----------------------------------------------------------------------------------

    def spec(self, batch: Batch) -> Path:
        """Return the path of the list of a batch: its process reads the jobs from this file."""
        return self.results / PLAN / batch.kind / f"{batch.id}.json"

    def work(self, batch: Batch) -> list[str]:
        """Return the inputs of a batch for Snakemake: its list, or nothing if that is missing."""
        return [] if (batch.kind, batch.id) in self.unlisted else [str(self.spec(batch))]

    def work_to_repeat(self, batch: Batch) -> list[str]:
        """Return the list as an input only if the batch was, or has to be, tried again.

        Comparisons use this: Snakemake would run one again that finished with an earlier version of
        routelab, which declared no list as an input, and to measure again costs node-hours.
        """
        return self.work(batch) if replaced_manifest_time(self.spec(batch)) else []

    def manifest(self, batch: Batch) -> Path:
        """Return the file that a batch writes when all its jobs have an outcome."""
        return type(batch.jobs[0]).manifest(self.results, batch.id)

    def manifests(self, study_plan: StudyPlan | None = None) -> list[str]:
        """Return the manifests of all batches, or of those with results of a study."""
        folders = None  # those of all jobs
        if study_plan is not None:
            # Networks are left out: their own jobs have nothing that the report shows.
            folders = {
                job.folder
                for kind, jobs in study_plan.jobs.items()
                if kind != "topologies"
                for job in jobs
            }
        return [
            str(self.manifest(batch))
            for batch in self.batches_to_do
            if folders is None or any(job.folder in folders for job in batch.jobs)
        ]

    def manifests_before(self, batch: Batch, kind: str | None = None) -> list[str]:
        """Return the manifests of the batches, or of those of a kind, that must run before one."""
        return [
            str(self.manifest(self.batches[key]))
            for key in batch.after
            if kind is None or key[0] == kind
        ]

    def write_lists(self, fresh_kinds: Collection[str] = ()) -> None:
        """Write the lists of all batches; a list that has not changed is not touched.

        Snakemake runs a batch when its list changes: when jobs are added, removed, or have another
        fingerprint. A finished batch with `jobs_to_repeat` has to run, too, although its jobs are
        the same. So a list also has a time (`replaces`), 0 at first, and a manifest repeats the
        time of its list. For example, a batch finishes at 9:00, and one of its jobs has failed::

            second run                        list 9:00: changed, so the batch runs; its new
                                              manifest, of 9:30, repeats 9:00
            third run, nothing to repeat      list 9:00: unchanged, so the batch does not run
            third run, a job failed again     list 9:30: changed, so the batch runs

        Parameters
        ----------
        fresh_kinds : collection of str
            Kinds whose batches have to run although all their jobs are done.

        Raises
        ------
        InputError
            If the folder cannot be written.
        """
        folders_to_repeat = {job.folder for job in self.jobs_to_repeat()}
        for batch in self.batches_to_do:
            manifest, spec = self.manifest(batch), self.spec(batch)
            needs_repetition = any(job.folder in folders_to_repeat for job in batch.jobs)
            if not manifest.exists():
                # the batch was stopped, or never ran, so it runs whatever its list has
                replaces = replaced_manifest_time(spec)
            elif batch.kind in fresh_kinds or needs_repetition:
                # the time at which the manifest was written, so the list changes
                replaces = manifest.stat().st_mtime_ns
            else:  # the time that the manifest repeats, which the list has already: no change
                replaces = replaced_manifest_time(manifest.with_suffix(".json"))
            write_jobs(batch.jobs, spec, self.results, replaces)

    # --- state of jobs --------------------------------------------------------------------------

    def jobs_to_repeat(self) -> list[BaseJob]:
        """Return the jobs to run again in finished batches, which have a manifest.

        These jobs failed or ran out of time, or their outcome is missing, damaged, or of other
        code, network or table. Jobs of postponed batches are left out.
        """
        return [
            job
            for batch in self.batches_to_do
            if self.manifest(batch).exists()
            for job in batch.jobs
            if not job.is_done()
        ]

    def count(self, statuses: Collection[str]) -> int:
        """Return the number of results with one of some statuses."""
        return sum(status in statuses for job in self.jobs.values() for status, _ in job.statuses())

    def failed(self) -> int:
        """Return the number of results that failed, ran out of time or cannot be read."""
        return self.count(TRY_AGAIN)

    def statuses(self) -> list[JobStatus]:
        """Return the status of every result of every study.

        Networks are left out: if one cannot be built, the jobs on it have its status and reason.
        """
        return [
            JobStatus(study_name, *job.nouns, status or NOT_RUN, reason)
            for study_name, study_plan in self.studies.items()
            for kind, jobs in study_plan.jobs.items()
            if kind != "topologies"
            for job in jobs
            for status, reason in job.statuses()
        ]

    def compilations(self) -> dict[tuple[str, ...], tuple[Compilation, BaseJob]]:
        """Return the compilations of all jobs by key, each with a job that has it.

        Those of the first study come first.
        """
        compilations: dict[tuple[str, ...], tuple[Compilation, BaseJob]] = {}
        for study_plan in self.studies.values():
            for job in chain.from_iterable(study_plan.jobs.values()):
                for compilation in job.compilations():
                    compilations.setdefault(compilation.key, (compilation, job))
        return compilations


def cut_batches(
    studies: Mapping[str, Mapping[str, tuple[BaseJob, ...]]], max_batches: Mapping[str, int]
) -> dict[tuple[str, str], Batch]:
    """Cut the jobs of each kind and study into batches, for example 1000 simulations into 16.

    There are few batches, because each is a process that takes a second of CPU time to start. Their
    number depends on that of the jobs and on `max_batches`, never on the machine, so that finished
    batches stay finished. It is a power of two, so it changes only when the jobs have doubled. Jobs
    of one plugin are adjacent, so that a batch loads few kernels.

    Parameters
    ----------
    studies : mapping of str to mapping of str to tuple of BaseJob
        By name and kind.
    max_batches : mapping of str to int
        Largest number of batches of one kind, by study.
    """
    # 1. Jobs of one kind that may share a process: all of a study; each comparison is a group of
    #    its own.
    groups: dict[tuple[str, str], list[BaseJob]] = {}
    max_batches_of: dict[tuple[str, str], int] = {}
    for name, by_kind in studies.items():
        for jobs in by_kind.values():
            for job in jobs:
                key = job.kind, job.group(name)
                groups.setdefault(key, []).append(job)
                max_batches_of[key] = max_batches[name]
    # 2. Cut each group into batches whose sizes differ by one at most: 10 jobs are cut into 4
    #    batches before jobs 3, 5 and 8.
    batches: dict[tuple[str, str], Batch] = {}
    batch_of_folder: dict[str, tuple[str, str]] = {}
    for (kind, group), jobs_of_group in groups.items():
        num_jobs = len(jobs_of_group)
        min_jobs = jobs_of_group[0].per_batch
        if min_jobs == 1:  # each job is a batch, however many there are
            num_batches = num_jobs
        else:
            # jobs of one plugin become adjacent
            jobs_of_group.sort(key=lambda job: job.base_name)
            num_batches = 1  # doubled while each batch has at least `min_jobs`
            while 2 * num_batches <= min(max_batches_of[kind, group], num_jobs // min_jobs):
                num_batches *= 2
        for number in range(1, num_batches + 1):
            begin = ceil((number - 1) * num_jobs / num_batches)
            end = ceil(number * num_jobs / num_batches)
            members = tuple(jobs_of_group[begin:end])
            id_ = f"{group}-{number}"
            batches[kind, id_] = Batch(kind=kind, id=id_, jobs=members)
            batch_of_folder |= {job.folder: (kind, id_) for job in members}
    # 3. A job names the folders of jobs that it needs; only now are their batches known.
    for key, batch in batches.items():
        needed_folders = (folder for job in batch.jobs for folder in job.needs)
        needed_batches = dict.fromkeys(batch_of_folder[folder] for folder in needed_folders)
        batches[key] = replace(batch, after=tuple(needed_batches))
    # 4. Batches of the first study run first.
    first_study = next(iter(studies.values()), {})
    first_jobs = chain.from_iterable(first_study.values())
    return _with_priorities(batches, {batch_of_folder[job.folder] for job in first_jobs})


def _with_priorities(
    batches: Mapping[tuple[str, str], Batch], first_study: Collection[tuple[str, str]]
) -> dict[tuple[str, str], Batch]:
    """Return batches whose priority exceeds that of all batches that depend on them.

    Those of the first study, and what they depend on, precede all others.
    """
    dependents: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for key, batch in batches.items():
        for before in batch.after:
            dependents.setdefault(before, []).append(key)

    @cache
    def priority(key: tuple[str, str]) -> int:
        above_dependents = (priority(dependent) + 1 for dependent in dependents.get(key, ()))
        own_priority = batches[key].priority + (FIRST if key in first_study else 0)
        return max((own_priority, *above_dependents))

    return {key: replace(batch, least_priority=priority(key)) for key, batch in batches.items()}
