"""Short lines for Snakemake's records, and Snakemake's own text for all others."""

from __future__ import annotations

import json
import logging
import os
from enum import Enum
from pathlib import Path

import pytest

from routelab.jobs.batches import Batch
from routelab.workflow.console import ShortFormatter
from routelab.workflow.plan.expansion import Plan
from routelab.workflow.stages.routes import RouteJob

Event = Enum("Event", "JOB_INFO JOB_ERROR JOB_FINISHED PROGRESS")
JOBS = tuple(
    RouteJob(folder=f"results/routes/net/{i}", ids=("net", f"{i}"), topology="net", text="dor")
    for i in range(21)
)


@pytest.fixture
def plan() -> Plan:
    batches = (
        Batch("routes", "small-1", JOBS[:20]),
        Batch("routes", "small-2", JOBS[20:]),
    )
    return Plan(Path("results"), {}, {}, {(batch.kind, batch.id): batch for batch in batches})


@pytest.fixture
def short(plan: Plan) -> ShortFormatter:
    return ShortFormatter(logging.Formatter("theirs: %(message)s"), plan)


def text(formatter: logging.Formatter, message: str | None = "m", **facts) -> str:
    return formatter.format(logging.makeLogRecord({"msg": message, **facts}))


def job(rule: str, number: int = 7, **wildcards) -> dict[str, object]:
    return {
        "event": Event.JOB_INFO,
        "rule_name": rule,
        "jobid": number,
        "wildcards": wildcards,
    }


def test_a_finished_job_shows_each_cause_of_its_failed_items_in_one_line(
    short, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    limit = "reached its limit of 60 CPU-s (limits.seconds) in dor: routing"
    endings = {
        1: ("timeout", limit),
        2: ("ok", ""),
        4: ("failed", "dor: route() raised ValueError: no\nwith more lines"),
        6: ("timeout", limit),
        8: ("unsupported", "dor: needs a torus"),
    }
    for number, (status, reason) in endings.items():
        outcome = Path(JOBS[number].folder, "outcome.json")
        outcome.parent.mkdir(parents=True)
        outcome.write_text(json.dumps({"status": status, "reason": reason}))
    text(short, **job("routes", 3, batch="small-1"))
    assert text(short, event=Event.JOB_FINISHED, job_id=3).splitlines() == [
        f"route table {JOBS[1].title} and 1 more: {limit}",
        f"route table {JOBS[4].title}: failed: dor: route() raised ValueError: no",
    ]


@pytest.mark.parametrize(("seconds", "shown"), [(-5, False), (0, True), (5, True)])
def test_a_failed_job_shows_only_a_log_of_this_run(short, tmp_path, monkeypatch, seconds, shown):
    monkeypatch.chdir(tmp_path)
    Path("results").mkdir()
    for name, time in ((".lock", 1000), ("a.log", 1000 + seconds)):
        path = Path("results", name)
        path.write_text("a message\n")
        os.utime(path, (time, time))
    text(short, **job("routes", 3, batch="small-1"))
    message = text(short, event=Event.JOB_ERROR, jobid=3, log=["results/a.log"])
    assert message.startswith("FAILED: route tables of small, part 1")
    assert ("a message" in message) == shown
    Path("results/a.log").unlink()
    assert "results/a.log" in text(short, event=Event.JOB_ERROR, jobid=3, log=["results/a.log"])


def test_a_finished_page_shows_where_it_is(short):
    page = "results/report/small/index.html"
    text(short, **job("page", 4, study="small"), output=[page])
    assert text(short, event=Event.JOB_FINISHED, job_id=4) == f"{page} is written"


def test_a_finished_page_names_the_tables_that_it_lacks(short, tmp_path):
    page = tmp_path / "index.html"
    (tmp_path / "summary.json").write_text('{"broken": ["The table t cannot be made: why."]}')
    text(short, **job("page", 4, study="small"), output=[str(page)])
    message = text(short, event=Event.JOB_FINISHED, job_id=4)
    assert message == f"{page} is written\nThe table t cannot be made: why."


def test_unknown_records_are_printed_as_snakemake_does(short):
    assert text(short, "12 of 32 steps", event=Event.PROGRESS) == "theirs: 12 of 32 steps"
    # facts are missing, as they may be with another version of Snakemake
    assert text(short, "a job", event=Event.JOB_INFO) == "theirs: a job"
    assert text(short, "a job", **job("routes", batch="unknown-1")) == "theirs: a job"
    assert text(short, "an error", event=Event.JOB_ERROR, jobid=9, log=["x"]) == "theirs: an error"


FAILED = "FAILED: route tables of small, part 1 of 2 (20 jobs)"


def failed(tmp_path, message: str | None, *logs: str) -> dict[str, object]:
    """Facts of a failed job of a cluster, whose logs have some texts."""
    paths = [tmp_path / f"{number}.log" for number in range(len(logs))]
    for path, content in zip(paths, logs, strict=True):
        path.write_text(content)
    return {
        "event": Event.JOB_ERROR,
        "jobid": 3,
        "log": list(map(str, paths)),
        "aux": {"external_jobid": "71"},
        "rule_msg": message,
    }


def test_a_job_that_the_cluster_ends_shows_what_the_executor_says(short, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text(short, **job("routes", 3, batch="small-1"))
    message = "SLURM-job '71' failed, SLURM status is: 'TIMEOUT'. For further error details see"
    lines = text(short, **failed(tmp_path, message, "", "slurmstepd: time\n")).splitlines()
    assert lines == [
        "SLURM-job '71' failed, SLURM status is: 'TIMEOUT'.",
        f"{FAILED}. The end of its log, {tmp_path / '1.log'}:",
        "    slurmstepd: time",
    ]
    first = text(short, **failed(tmp_path, None, "x\n")).splitlines()[0]
    assert first == "Job 71 of the cluster failed."
    assert text(short, **failed(tmp_path, None, "") | {"aux": {}}).startswith(FAILED)
    assert text(short, **failed(tmp_path, "x", "", "")) == f"x\n{FAILED}. Its logs are empty."


def test_a_submitted_part_is_named_with_its_number(short):
    text(short, **job("routes", 3, batch="small-2"))
    message = "Job 3 has been submitted with SLURM jobid 71 (log: /long/path/71.log)."
    assert text(short, message) == "route tables of small, part 2 of 2 (1 job): job 71 of Slurm"
    assert text(short, "SLURM run ID: 5c0ffee") == ""
