"""``routelab study``: mistakes are told at once, a plan tells what a run would do."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from routelab.cli import main
from routelab.stages.plan.expansion import expand_studies

STUDY = """\
title: Small
topologies: [torus~dims=4, torus~dims=4x2]
routings: [dor, {angara-sssp: {tie_seed: {range: 2}}}]
tables:
  loads: {rows: [routing, nodes], values: [max_load]}
"""

BAD = """\
titel: Bad
cites: nobody2020
topologies:
  - torus: {dims: 1x4}
  - torus~dims=0
  - tours~dims=4
  - {torus: {dims: 4}, mesh: {dims: 4}}
routings: [{angara-sssp: {tie_sed: 1}}, "dor;ls"]
metrics: [channel-lod]
limits: {seconds: soon}
"""


@pytest.fixture
def small(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = Path("small.yaml")
    path.write_text(STUDY)
    return path


def test_a_sound_study_is_told_by_its_counts(small, capsys):
    assert main(["study", "check", "small.yaml"]) == 0
    printed = capsys.readouterr()
    assert printed.out == (
        "small.yaml: OK: 2 topologies × 3 routings = 6 runs, 1 table, 0 figures\n"
    )
    assert printed.err == ""
    assert not Path("results").exists()


def test_all_mistakes_are_told_at_once_whatever_they_are_about(small, capsys):
    Path("bad.yaml").write_text(BAD)
    assert main(["study", "check", "small.yaml", "bad.yaml", "none.yaml"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    lines = [line for line in printed.err.splitlines() if not line.startswith(" ")]
    for line, (begin, mend) in zip(
        lines,
        [
            ("bad.yaml:1: 'title' is missing", ""),
            ("bad.yaml:1: titel: unknown key", "did you mean 'title'?"),
            ("bad.yaml:7: topologies[3]: an entry names one plugin", "write each as"),
            ("bad.yaml:10: limits.seconds: 'soon' should be a valid number", ""),
            ("bad.yaml:2: cites: no folder nobody2020 in references", ""),
            ("bad.yaml:4: topologies[0]: torus: dims=1x4", "must be at least 2, got 1x4"),
            ("bad.yaml:5: topologies[1]: torus~dims=0", "must be at least 2, got 0"),
            ("bad.yaml:6: topologies[2]: no topology plugin", "did you mean 'torus'?"),
            ("bad.yaml:8: routings[0]: angara-sssp: ", "did you mean 'tie_seed'?"),
            ("bad.yaml:8: routings[1]: bad name: unexpected ';'", ""),
            ("bad.yaml:9: metrics[0]: no metric plugin", "did you mean 'channel-load'?"),
            ("none.yaml: cannot be read: No such file", ""),
            ("mistakes: 12", ""),
        ],
        strict=True,
    ):
        assert line.startswith(begin)
        assert mend in line


def test_a_parameter_takes_what_the_message_says(small, capsys):
    """The mend for `dims: four` is tried out."""
    small.write_text(STUDY.replace("dims=4x2", "dims=four"))
    assert main(["study", "check", "small.yaml"]) == 2
    error = capsys.readouterr().err
    assert "small.yaml:2: topologies[1]: torus~dims=four: dims=four: 'four' is not a list" in error
    assert "write them as 4x2x2" in error
    small.write_text(STUDY.replace("dims=4x2", "dims=4x2x2"))
    assert main(["study", "check", "small.yaml"]) == 0


def plan(capsys, *arguments):
    assert main(["study", "plan", "small.yaml", *arguments]) == 0
    return capsys.readouterr().out


def write_outcome(job, status, **more):
    job.outcome.parent.mkdir(parents=True)
    provenance = {"fingerprint": job.fingerprint} | more
    content = {"status": status, "reason": status[0], "provenance": provenance}
    job.outcome.write_text(json.dumps(content))


def test_a_plan_tells_the_state_of_every_job(small, capsys):
    found = json.loads(plan(capsys, "--format", "json"))
    assert {job["state"] for job in found["jobs"]} == {"missing"}
    assert found["batches"] == {"all": 3, "to_run": 3}

    batches = expand_studies([small]).batches
    networks, dor, angara = (
        batches[batch].jobs
        for batch in (
            ("topologies", "small.torus-1"),
            ("routes", "small.dor-1"),
            ("routes", "small.angara-sssp-1"),
        )
    )
    for job in networks:
        write_outcome(job, "ok")
    Path("results/batches/topologies").mkdir(parents=True)
    Path("results/batches/topologies/small.torus-1.json").write_text("{}")
    write_outcome(dor[0], "unsupported")
    write_outcome(dor[1], "timeout")
    write_outcome(angara[0], "ok", fingerprint="of other code")
    angara[1].outcome.parent.mkdir(parents=True)
    angara[1].outcome.write_text("{")
    before = sorted(Path("results").rglob("*"))

    rows = {
        (row["topology"], row["routing"]): (row["state"], row["reason"])
        for row in csv.DictReader(io.StringIO(plan(capsys, "--format", "csv")))
    }
    assert rows == {
        ("torus~dims=4", ""): ("cached", ""),
        ("torus~dims=4x2", ""): ("cached", ""),
        ("torus~dims=4", "dor"): ("cached", ""),
        ("torus~dims=4x2", "dor"): ("failed", "t"),
        ("torus~dims=4", "angara-sssp"): ("stale", ""),
        ("torus~dims=4", "angara-sssp~tie_seed=1"): ("failed", "its outcome cannot be read"),
        ("torus~dims=4x2", "angara-sssp"): ("missing", ""),
        ("torus~dims=4x2", "angara-sssp~tie_seed=1"): ("missing", ""),
    }
    assert plan(capsys).endswith(
        "\nnetworks: 2 (2 cached)\n"
        "route tables: 6 (1 cached, 2 missing, 1 stale, 2 failed)\n"
        "batches: 3, of which 2 would run\n"
    )
    assert sorted(Path("results").rglob("*")) == before

    Path("results").rename("elsewhere")
    assert "networks: 2 (2 cached)" in plan(capsys, "--results", "elsewhere")
    assert "networks: 2 (2 missing)" in plan(capsys)
