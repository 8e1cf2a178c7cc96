"""Find the Slurm jobs that an earlier run of the workflow left in the queue or on the nodes.

Jobs that Snakemake's Slurm executor submitted outlive Snakemake if it is killed. The executor
names each job after its run (a UUID, possibly with a prefix) and writes the rule and its wildcards
into the comment. It submits from the folder that Snakemake works in. This module reads these
three back from ``squeue``. It does not need accounting (``sacct``).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from routelab.api import InputError
from routelab.jobs.batches import read_jobs
from routelab.stages.kinds.comparisons import ComparisonJob

BENCHMARKS = "benchmarks"
"""Rule of the comparisons; its only wildcard is the comparison's id."""

SECONDS = 10.0
"""Time limit of ``squeue``."""

ENDED = frozenset(
    {"BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL"}
    | {"OUT_OF_MEMORY", "PREEMPTED", "REVOKED", "TIMEOUT"}
)
"""States of jobs that have ended; Slurm lists them for some minutes more."""

RUNNING = frozenset(
    {"RUNNING", "CONFIGURING", "COMPLETING", "RESIZING", "SIGNALING", "STAGE_OUT", "STOPPED"}
    | {"SUSPENDED"}
)
"""States of jobs that have nodes; in all others they wait."""

_SEPARATOR = "\x1f"
_FIELDS = ("%i", "%T", "%j", "%S", "%V", "%Z", "%k")
_RUN = re.compile(r"([A-Za-z0-9_-]{1,50}_)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_COMMENT = re.compile(r"rule_(?P<rule>.+?)_wildcards_(?P<wildcards>.*)", re.DOTALL)
_ARRAY = re.compile(r"\d+_\S+")


@dataclass(frozen=True)
class SlurmJob:
    """A job of an earlier run that has not ended.

    Attributes
    ----------
    id : str
        Slurm's number of the job; with ``_`` and the task's number if it is part of an array.
    state : str
        As ``squeue`` prints it, such as ``PENDING`` or ``RUNNING``.
    since : str
        Time at which it started or, if it waits, at which it was submitted; may be empty.
    rule : str
        Snakemake's rule; empty if the job does not say.
    wildcards : str
        Values of the rule's wildcards, joined by ``_``. The rule of the comparisons has one: the
        id of a comparison. Empty for tasks of an array, which all bear the comment of the first
        one.
    cluster : str
        Where there are several, the one that has the job; else empty.
    """

    id: str
    state: str
    since: str
    rule: str
    wildcards: str
    cluster: str = ""

    @property
    def comparison(self) -> str | None:
        """Id of the comparison that the job measures; None if it measures none."""
        return self.wildcards or None if self.rule == BENCHMARKS else None

    @property
    def progress(self) -> str:
        """State of the job, and its begin: ``running since 2026-05-04T12:00:00``."""
        doing = "running" if self.state in RUNNING else "waiting in the queue"
        return f"{doing} since {self.since}" if self.since else doing

    @property
    def cancel(self) -> str:
        """Command that cancels the job."""
        there = f"--clusters={self.cluster} " if self.cluster else ""
        return f"scancel {there}{self.id}"


def jobs_in_flight(folder: Path) -> list[SlurmJob]:
    """Return this user's Slurm jobs that a Snakemake run in `folder` submitted and left behind.

    The list is empty without Slurm. If Slurm does not answer, the list is empty and a warning is
    printed.

    Parameters
    ----------
    folder : path
        The working directory of Snakemake.

    Returns
    -------
    jobs : list of SlurmJob
        In the order of submission. Jobs that have ended are not among them.
    """
    if shutil.which("squeue") is None:
        return []
    try:
        printed = _squeue()
    except _NoAnswerError as error:
        print(
            f"Cannot find out whether Slurm jobs of an earlier run are still active ({error}). "
            "If so, this run may start them a second time.",
            file=sys.stderr,
        )
        return []
    return _jobs(printed, folder)


def comparisons_in_flight(
    comparisons: Mapping[str, ComparisonJob], jobs: Iterable[SlurmJob]
) -> dict[str, SlurmJob]:
    """Return the comparisons, by the ids of their batches, that a job still measures."""
    by_id = {job.comparison: job for job in jobs if job.comparison is not None}
    return {id_: by_id[id_] for id_ in comparisons if id_ in by_id}


def comparisons_behind(
    comparisons: Mapping[str, ComparisonJob], jobs: Iterable[SlurmJob], specs: Path
) -> dict[str, SlurmJob]:
    """Return the comparisons that need a cluster on which a job still measures another one.

    `routelab bench` measures one comparison at a time on a cluster, as all of them share its
    fabric: a second one would get its nodes, find the fabric held, and fail.

    Parameters
    ----------
    comparisons : mapping of str to ComparisonJob
        By the ids of their batches.
    jobs : iterable of SlurmJob
        They may also measure comparisons of studies that are not part of this run.
    specs : path
        Folder of the specs that the jobs read, ``ID.json``.
    """
    clusters: dict[str, SlurmJob] = {}
    measured = set()
    for job in jobs:
        if job.comparison is not None:
            measured.add(job.comparison)
            with suppress(InputError):
                for one in read_jobs(specs / f"{job.comparison}.json"):
                    if isinstance(one, ComparisonJob):
                        clusters[one.comparison.settings.cluster] = job
    return {
        id_: clusters[cluster]
        for id_, one in comparisons.items()
        if id_ not in measured and (cluster := one.comparison.settings.cluster) in clusters
    }


class _NoAnswerError(Exception):
    """Slurm does not answer; the text says why."""


def _squeue() -> str:
    """Return what ``squeue`` prints of this user's jobs.

    Raises
    ------
    _NoAnswerError
    """
    # variables of squeue would select or format jobs
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("SQUEUE_") and name != "SLURM_TIME_FORMAT"
    }
    command = ["squeue", "--noheader", "--array", "--states=all", f"--user={os.getuid()}"]
    try:
        done = subprocess.run(
            [*command, f"--format={_SEPARATOR.join(_FIELDS)}"],
            env=environment | {"LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
    except OSError as error:
        raise _NoAnswerError(f"squeue: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise _NoAnswerError(f"squeue did not answer within {SECONDS:g} s") from error
    if done.returncode:
        said = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        raise _NoAnswerError(said[-1] if said else f"squeue: exit code {done.returncode}")
    return done.stdout


def _jobs(printed: str, folder: Path) -> list[SlurmJob]:
    jobs: dict[tuple[str, str], SlurmJob] = {}
    cluster = ""
    for line in printed.split("\n"):
        if line.startswith("CLUSTER:"):  # a heading, if squeue asks several
            cluster = line.removeprefix("CLUSTER:").strip()
            continue
        fields = line.split(_SEPARATOR)
        if len(fields) != len(_FIELDS):
            continue
        id_, state, name, start, submitted, place, comment = (field.strip() for field in fields)
        if state in ENDED or not _RUN.fullmatch(name) or not _same_folder(place, folder):
            continue
        rule, wildcards = _origin(comment)
        if _ARRAY.fullmatch(id_):
            wildcards = ""
        since = start if state in RUNNING else submitted
        known = "" if since in ("N/A", "Unknown") else since
        jobs[cluster, id_] = SlurmJob(id_, state, known, rule, wildcards, cluster)
    return sorted(jobs.values(), key=_order)


def _order(job: SlurmJob) -> tuple[str, list[int]]:
    return job.cluster, [int(number) for number in re.findall(r"\d+", job.id)]


def _same_folder(place: str, folder: Path) -> bool:
    try:
        return Path(place).samefile(folder)
    except OSError:
        return place == str(folder)


def _origin(comment: str) -> tuple[str, str]:
    """Return rule and wildcards of a comment, both empty if it is not the executor's."""
    if match := _COMMENT.fullmatch(comment):
        return match["rule"], match["wildcards"]
    return (comment.removeprefix("rule_"), "") if comment.startswith("rule_") else ("", "")
