"""Output of a run of the workflow: a line when a job starts, and one for each problem.

Snakemake prints a paragraph per job, which is too long to read. Its messages are log records with
an ``event``; a formatter of the printing handler shortens them to lines. It is active when
Snakemake is quiet about reasons, as in ``profiles/default``; ``--quiet host`` restores the
paragraphs. Errors, warnings and unknown messages are printed as Snakemake prints them. Its log
file has everything.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from typing_extensions import override

from routelab.jobs.job import TRY_AGAIN, BaseJob
from routelab.results.missing_results import cause_text
from routelab.workflow.plan.expansion import Plan
from routelab.workflow.stages import kinds
from routelab.workflow.stages.comparisons import ComparisonJob
from routelab.workflow.stages.topologies import TopologyJob

HANDLER = "DefaultStreamHandler"
"""Snakemake's name for the handler that prints; other handlers are not changed."""

LOG_LINES = 20
"""Number of printed lines of a failed job's log."""

LOCK = ".lock"
"""File in the results folder that a run writes when it starts."""

_SILENT_EVENTS = ("JOB_STARTED", "RESOURCES_INFO")
_SILENT_MESSAGES = (
    "Building DAG of jobs",
    "Using shell: ",
    "Conda environments: ignored",
    "Select jobs to execute",
    # of the executor of Slurm
    "SLURM run ID: ",
    "No SLURM account given",
    "No account was given",
    "Unable to guess SLURM account",
)
_SUBMITTED = re.compile(r"Job (?P<job>\d+) has been submitted with SLURM jobid (?P<slurm_job>\S+)")


def use_short_lines(workflow: Any, plan: Plan, submits_parts: bool) -> None:
    """Let Snakemake print short lines, if its option ``--quiet reason`` is set.

    Parameters
    ----------
    workflow : snakemake.workflow.Workflow
    plan : Plan
        Plan with the batches that the lines name.
    submits_parts : bool
        Whether batches of stages are submitted to a cluster, too, and not only comparisons.
    """
    submission = partial(submission_lines, workflow, submits_parts)
    for handler in workflow.logger_manager.logger.handlers:
        formatter = handler.formatter
        quiet = {choice.name for choice in getattr(formatter, "quiet", ())}
        if handler.name == HANDLER and "REASON" in quiet:
            handler.setFormatter(ShortFormatter(formatter, plan, submission))


class ShortFormatter(logging.Formatter):
    """Formatter with short lines for frequent messages, and Snakemake's format for the rest.

    Parameters
    ----------
    formatter : logging.Formatter
        Snakemake's.
    plan : Plan
    submission : callable
        Returns lines about the steps that become jobs of a cluster; without lines by default.
    """

    def __init__(
        self,
        formatter: logging.Formatter,
        plan: Plan,
        submission: Callable[[], Sequence[str]] = list,
    ) -> None:
        super().__init__()
        self._submission = submission
        self._snakemake_formatter = formatter
        self._plan = plan
        # What later records of a job need: its title, the jobs of its batch, and the page that it
        # writes. By Snakemake's number of the job, which it calls `jobid` or `job_id` in records.
        self._titles: dict[int, str] = {}
        self._jobs: dict[int, Sequence[BaseJob]] = {}
        self._pages: dict[int, str] = {}

    @override
    def format(self, record: logging.LogRecord) -> str:
        """Return the text of a record; an empty text is not printed."""
        try:
            short = self._shorten(vars(record))
        except (AttributeError, KeyError, TypeError):  # records of another version of Snakemake
            short = None
        return self._snakemake_formatter.format(record) if short is None else short

    def _shorten(self, facts: Mapping[str, Any]) -> str | None:
        """Return a short text for a record of Snakemake; "" to be silent, None to keep its text.

        Parameters
        ----------
        facts : mapping
            Attributes of the record.
        """
        # Only JOB_INFO names the rule of a job, its wildcards and its output. Later records have
        # only the number of the job, so its title, jobs and page are stored by that.
        event = getattr(facts.get("event"), "name", "")
        if event == "JOB_INFO":
            rule, wildcards = facts["rule_name"], dict(facts["wildcards"].items())
            title = job_title(self._plan, rule, wildcards)
            self._titles[facts["jobid"]] = title
            # The rule of a stage has the name of its kind. Its wildcards, such as a study and a
            # number, are the id of a batch.
            if batch := self._plan.batches.get((rule, "-".join(wildcards.values()))):
                self._jobs[facts["jobid"]] = batch.jobs
            if rule == "page":
                (self._pages[facts["jobid"]],) = facts["output"]  # one file
            return title
        if event == "JOB_ERROR" and facts["log"]:
            run_start = file_time(self._plan.results / LOCK)
            text = failure_text(self._titles[facts["jobid"]], facts["log"], run_start)
            return _executor_text(facts) + text
        if event == "JOB_FINISHED":
            page = self._pages.get(facts["job_id"])
            if page is not None:
                return "\n".join([f"{page} is written", *_broken_parts(page)])
            # A batch of jobs finishes also if some of them fail.
            return "\n".join(problem_lines(self._jobs.get(facts["job_id"], ())))
        if event == "RUN_INFO":
            return "\n".join([f"{facts['stats']['total']} steps to do.", *self._submission()])
        if submitted := _SUBMITTED.match(str(facts.get("msg", ""))):
            title = self._titles[int(submitted["job"])]
            return f"{title}: job {submitted['slurm_job']} of Slurm"
        if event in _SILENT_EVENTS or (
            event == "" and str(facts["msg"]).startswith(_SILENT_MESSAGES)
        ):
            return ""
        return None


def submission_lines(workflow: Any, submits_parts: bool) -> list[str]:
    """Return lines that say how many steps become jobs of a cluster, and what these ask for.

    Parameters
    ----------
    workflow : snakemake.workflow.Workflow
        Its steps are known.
    submits_parts : bool
        Whether batches of stages are submitted, too, and not only comparisons.
    """
    # A dry run replaces the executor by a local one. It is a dry run for a cluster if there are
    # default resources, which Snakemake sets only for the executor of a cluster.
    is_cluster_dry_run = (
        workflow.dryrun and workflow.resource_settings.default_resources is not None
    )
    if workflow.local_exec and not is_cluster_dry_run:
        return []
    jobs = list(workflow.dag.needrun_jobs())
    num_comparisons = sum(job.rule.name == ComparisonJob.kind for job in jobs)
    stages = set(kinds()) - {TopologyJob.kind, ComparisonJob.kind} if submits_parts else set()
    parts = [job for job in jobs if job.rule.name in stages]
    lines = []
    if num_comparisons:
        lines.append(f"Jobs of the cluster: {_quantity(num_comparisons, 'comparison')}.")
    if parts:
        memory = max(job.resources.get("mem_mb") or 0 for job in parts)
        minutes = max(job.resources.get("runtime") or 0 for job in parts)
        lines.append(
            f"Jobs of the cluster: {_quantity(len(parts), 'part')} of stages, each with 1 core and "
            f"at most {memory} MiB and {minutes} min."
        )
        lines.append("To compute them on this machine, add --config submit=measurements.")
    return lines


def _executor_text(facts: Mapping[str, Any]) -> str:
    """Return what an executor says about a failed job of a cluster, with a line break.

    If the cluster has ended the job, its log does not say why. The text is empty for a job that
    ran on this machine.
    """
    number = (facts.get("aux") or {}).get("external_jobid")
    if number is None:
        return ""
    text = str(facts.get("rule_msg") or "").partition("For further error details")[0].strip()
    return f"{text or f'Job {number} of the cluster failed.'}\n"


def failure_text(title: str, logs: Iterable[str], run_start: int) -> str:
    """Return the message about a failed job: its title, and the path and end of its log.

    A log from before the start of the run is of an earlier run: this job did not start, for
    example because Slurm refused it.

    Parameters
    ----------
    title : str
    logs : iterable of str
        Paths; a job of a cluster has several logs.
    run_start : int
        When the run began, in ns since 1970 by the clock of the results folder: see `file_time`.
    """
    lines = []
    paths = list(logs)
    for log in paths:
        try:
            with Path(log).open(encoding="utf-8", errors="replace") as stream:
                # Take the time of the open file: that of its path may be out of date on a shared
                # file system.
                is_earlier = os.fstat(stream.fileno()).st_mtime_ns < run_start
                lines_of_log = stream.read().splitlines()
        except OSError as error:
            # without a log, the job ended before it wrote one, as in the case above
            is_earlier = isinstance(error, FileNotFoundError)
            lines_of_log = [f"it cannot be read: {error.strerror}"]
        if is_earlier:
            lines.append(f"FAILED: {title}. It ended before it wrote to its log, {log}.")
            continue
        if not lines_of_log and len(paths) > 1:  # another log may say more
            continue
        lines.append(f"FAILED: {title}. The end of its log, {log}:")
        lines += [f"    {line}" for line in lines_of_log[-LOG_LINES:] or ["it is empty"]]
    return "\n".join(lines or [f"FAILED: {title}. Its logs are empty."])


def file_time(path: Path) -> int:
    """Return when a file was written, in ns by the clock of its file system; 0 if missing."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def problem_lines(jobs: Iterable[BaseJob]) -> list[str]:
    """Return a line for each cause of failures: the first job that has it, and how many more."""
    titles_of: dict[str, list[str]] = {}
    for job in jobs:
        for status, reason in job.statuses():
            if status in TRY_AGAIN:
                first_line = next(iter(reason.strip().splitlines()), "")
                cause = cause_text(status, first_line)
                titles_of.setdefault(cause, []).append(f"{job.nouns[0]} {job.title}")
    lines = []
    for cause, (title, *others) in titles_of.items():
        more = f" and {len(others)} more" if others else ""
        lines.append(f"{title}{more}: {cause}")
    return lines


def _broken_parts(page: str) -> list[str]:
    """Return a line for each table or figure that a page lacks, as its summary lists them."""
    try:
        summary = json.loads(Path(page).with_name("summary.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return [str(line) for line in summary.get("broken", [])]


def job_title(plan: Plan, rule: str, wildcards: Mapping[str, str]) -> str:
    """Return the title of a job; empty for a target, which does nothing."""
    if rule in kinds():
        return _batch_title(plan, rule, "-".join(wildcards.values()))
    if rule == "page":
        return f"page of {wildcards['study']}"
    return "" if rule in ("report", "all") else rule


def _batch_title(plan: Plan, kind: str, id_: str) -> str:
    """Return the title of a batch: of its only job, or "route tables of ugal, part 2 of 4"."""
    _, plural = kinds()[kind].nouns
    batch = plan.batches[kind, id_]
    if kinds()[kind].per_batch == 1:
        return f"{plural}: {batch.jobs[0].title} ({_quantity(batch.size, 'job')})"
    # the id of a batch is the study and a number: ugal-2
    study, _, number = id_.rpartition("-")
    num_batches = sum(
        other_kind == kind and other_id.rpartition("-")[0] == study
        for other_kind, other_id in plan.batches
    )
    return f"{plural} of {study}, part {number} of {num_batches} ({_quantity(batch.size, 'job')})"


def _quantity(number: int, noun: str) -> str:
    return f"1 {noun}" if number == 1 else f"{number} {noun}s"
