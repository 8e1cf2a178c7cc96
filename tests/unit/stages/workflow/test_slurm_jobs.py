"""Slurm jobs of an earlier run: what is read from squeue, whatever it prints."""

from __future__ import annotations

import os
import time

import pytest

from routelab.bench.comparison import Comparison, ComparisonPart
from routelab.config.bench_settings import BenchSettings
from routelab.jobs.batches import write_jobs
from routelab.stages.kinds.comparisons import ComparisonJob
from routelab.stages.workflow import slurm_jobs
from routelab.stages.workflow.slurm_jobs import (
    SlurmJob,
    comparisons_behind,
    comparisons_in_flight,
    jobs_in_flight,
)

RUN = "a6c96706-77a6-4daf-bc7b-0ecc27c0dc61"
MEASURED = "measured.torus-dims-2.5cf6cc3389c67174-09e5ead5"
START, SUBMITTED = "2026-05-04T12:00:00", "2026-05-04T11:00:00"


@pytest.fixture
def squeue(tmp_path, monkeypatch):
    """A squeue, alone on the PATH, that prints a text or does what a script says."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))

    def squeue(printed="", script=""):
        (tmp_path / "bin").mkdir(exist_ok=True)
        (tmp_path / "printed").write_text(printed)
        program = tmp_path / "bin/squeue"
        text = f'echo "$@" > {tmp_path}/called\n/usr/bin/env > {tmp_path}/environ\n'
        program.write_text(f"#!/bin/sh\n{text}{script or f'/bin/cat {tmp_path}/printed'}\n")
        program.chmod(0o755)

    return squeue


@pytest.fixture
def line(tmp_path):
    """A job as squeue prints it."""

    def line(**fields):
        known = {
            "id": "7",
            "state": "RUNNING",
            "name": RUN,
            "start": START,
            "submitted": SUBMITTED,
            "folder": str(tmp_path),
            "comment": f"rule_benchmarks_wildcards_{MEASURED}",
        }
        return "\x1f".join((known | fields).values()) + "\n"

    return line


def test_a_comparison_is_named_with_its_job(squeue, line, tmp_path):
    squeue(line())
    (job,) = jobs_in_flight(tmp_path)
    assert job == SlurmJob("7", "RUNNING", START, "benchmarks", MEASURED)
    assert job.comparison == MEASURED
    assert job.progress == f"running since {START}"
    assert job.cancel == "scancel 7"


def test_only_jobs_of_this_user_are_asked_for_and_no_variable_selects_others(
    squeue, line, tmp_path, monkeypatch
):
    monkeypatch.setenv("SQUEUE_PARTITION", "other")
    monkeypatch.setenv("SLURM_TIME_FORMAT", "relative")
    monkeypatch.setenv("SLURM_CONF", "/some/slurm.conf")
    squeue(line())
    jobs_in_flight(tmp_path)
    called = (tmp_path / "called").read_text().split()
    assert {f"--user={os.getuid()}", "--states=all", "--array", "--noheader"} <= set(called)
    environ = (tmp_path / "environ").read_text()
    assert "SQUEUE_" not in environ
    assert "SLURM_TIME_FORMAT" not in environ
    assert "SLURM_CONF=/some/slurm.conf" in environ


@pytest.mark.parametrize(
    ("state", "there"),
    [
        ("PENDING", True),
        ("CONFIGURING", True),
        ("RUNNING", True),
        ("SUSPENDED", True),
        ("COMPLETING", True),
        ("A_STATE_OF_TOMORROW", True),
        ("COMPLETED", False),
        ("CANCELLED", False),
        ("TIMEOUT", False),
        ("NODE_FAIL", False),
    ],
)
def test_jobs_that_have_ended_are_left_out(squeue, line, tmp_path, state, there):
    squeue(line(state=state))
    assert bool(jobs_in_flight(tmp_path)) is there


def test_a_job_in_the_queue_waits_since_it_was_submitted(squeue, line, tmp_path):
    squeue(line(state="PENDING", start="N/A") + line(id="8", state="RUNNING", start="N/A"))
    waits, runs = jobs_in_flight(tmp_path)
    assert waits.progress == f"waiting in the queue since {SUBMITTED}"
    assert runs.progress == "running"


def test_batches_are_named_by_rule_and_wildcard(squeue, line, tmp_path):
    comments = ["rule_routes_wildcards_small_one.dor-1", "rule_index", "", "a site's note"]
    squeue("".join(line(id=str(n), comment=text) for n, text in enumerate(comments)))
    jobs = jobs_in_flight(tmp_path)
    assert [(job.rule, job.wildcards) for job in jobs] == [
        ("routes", "small_one.dor-1"),
        ("index", ""),
        ("", ""),
        ("", ""),
    ]
    assert all(job.comparison is None for job in jobs)


def test_jobs_of_other_folders_and_of_other_programs_are_none_of_ours(squeue, line, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "link").symlink_to(tmp_path)
    squeue(
        line(id="1", folder=str(tmp_path / "other"))
        + line(id="2", folder="/nonexistent")
        + line(id="3", name="a-script-of-mine")
        + line(id="4", folder=str(tmp_path / "link"))
        + line(id="5", name=f"my_prefix-2_{RUN}")
    )
    assert [job.id for job in jobs_in_flight(tmp_path)] == ["4", "5"]


def test_odd_lines_are_passed_over(squeue, line, tmp_path):
    squeue(f"\nWelcome to the cluster!\n{line()}slurm_load_jobs: warning\n\x1f\x1f\n{line(id='9')}")
    assert [job.id for job in jobs_in_flight(tmp_path)] == ["7", "9"]


def test_jobs_of_several_clusters_are_cancelled_there(squeue, line, tmp_path):
    squeue(f"CLUSTER: north\n{line()}CLUSTER: south\n{line()}")
    jobs = jobs_in_flight(tmp_path)
    assert [job.cancel for job in jobs] == [
        "scancel --clusters=north 7",
        "scancel --clusters=south 7",
    ]


def test_tasks_of_an_array_have_no_wildcards(squeue, line, tmp_path):
    squeue(line(id="7_1") + line(id="7_2"))
    jobs = jobs_in_flight(tmp_path)
    assert [(job.id, job.rule, job.comparison) for job in jobs] == [
        ("7_1", "benchmarks", None),
        ("7_2", "benchmarks", None),
    ]


def test_without_slurm_there_are_no_jobs(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert jobs_in_flight(tmp_path) == []
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("echo 'squeue: error: one' >&2; echo 'squeue: fatal: two' >&2; exit 1", "fatal: two"),
        ("exit 3", "squeue: exit code 3"),
    ],
)
def test_a_slurm_that_fails_is_one_line(squeue, tmp_path, capsys, script, why):
    squeue(script=script)
    assert jobs_in_flight(tmp_path) == []
    (said,) = capsys.readouterr().err.splitlines()
    assert why in said


def test_a_slurm_that_hangs_is_not_waited_for(squeue, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(slurm_jobs, "SECONDS", 0.5)
    squeue(script="/bin/sleep 5")  # a child of the wrapper holds its output open
    begin = time.monotonic()
    assert jobs_in_flight(tmp_path) == []
    assert time.monotonic() - begin < 4
    (said,) = capsys.readouterr().err.splitlines()
    assert "squeue did not answer within 0.5 s" in said


def comparison(study, cluster):
    """A comparison as far as it matters here."""
    settings = BenchSettings(cluster=cluster)
    measured = Comparison(
        "topologies/t", (ComparisonPart("dor", "dor"),), (ComparisonPart("b", "b"),), settings
    )
    return ComparisonJob(
        folder=f"bench/{study}",
        ids=(study, "t", "default"),
        text="default",
        digest="aa",
        comparison=measured,
        store="bench/runs",
        nodes=1,
        minutes=1,
        hosts="",
        partition="",
        account="",
        allocation=(),
    )


def test_comparisons_in_flight_and_those_behind_them_on_the_same_cluster(tmp_path):
    clusters = {"one": "fast", "two": "fast", "three": "here", "other": "here", "lost": "third"}
    jobs = {name: comparison(name, f"{where}.yaml") for name, where in clusters.items()}
    plan = {name: jobs[name] for name in ("one", "two", "three")}
    for name in ("one", "two", "three", "other"):
        write_jobs([jobs[name]], tmp_path / f"{name}.json")
    one = SlurmJob("7", "RUNNING", "", "benchmarks", "one")
    others = [
        SlurmJob("8", "RUNNING", "", "routes", "three"),
        SlurmJob("9", "RUNNING", "", "benchmarks", "lost"),
    ]
    assert comparisons_in_flight(plan, [one, *others]) == {"one": one}
    assert comparisons_behind(plan, [one, *others], tmp_path) == {"two": one}
    # of a study that is not part of this run
    other = SlurmJob("10", "RUNNING", "", "benchmarks", "other")
    assert comparisons_in_flight(plan, [other]) == {}
    assert comparisons_behind(plan, [other], tmp_path) == {"three": other}
