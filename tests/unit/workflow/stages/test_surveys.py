"""Surveys: which runs there are, how they are cut, and what a shard does with its limits."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from routelab.api import InputError
from routelab.jobs.batches import run_batch, write_jobs
from routelab.results.survey_table import read_survey_table
from routelab.study import Limits
from routelab.workflow.plan.expansion import expand_studies
from routelab.workflow.stages import surveys
from routelab.workflow.stages.surveys import SurveyItem, SurveyJob, store, survey_runs
from routelab.workflow.survey.rows import SurveyNetwork

SURVEY = """\
title: Survey
survey: {{runs: {runs}}}
topologies:
  - torus: {{dims: {{boxes: {{dimensions: 2, sizes: [2, 4]}}}}}}
  - torus: {{dims: {{boxes: {{dimensions: 3, sizes: [2, 3]}}}}}}
routings:
  - dor
  - {{use: angara-bfs, on: {on}}}
"""


@pytest.fixture
def plan(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def planned(on="{sample: 3}", runs=7, name="survey"):
        path = Path(f"{name}.yaml")
        path.write_text(SURVEY.format(on=on, runs=runs))
        return expand_studies([path])

    return planned


def sampled(plan):
    return [t for t, r in rows_of(plan) if r == "angara-bfs"]


def rows_of(plan):
    (shown,) = plan.studies.values()
    return survey_runs(shown.parts)


def test_a_survey_has_no_jobs_but_shards_of_whole_networks(plan):
    planned = plan()
    assert {job.kind for job in planned.jobs.values()} == {"surveys"}
    shards = [job for batch in planned.batches.values() for job in batch.jobs]
    assert len(shards) == len(planned.batches) == len(planned.jobs)
    runs = [item for shard in shards for item in shard.runs]
    assert len(runs) == len(set(runs)) == 9 + 8 + 2 * 3
    networks = [{item.topology for item in shard.items} for shard in shards]
    assert sum(map(len, networks)) == len(set.union(*networks)) == 17
    # networks are dealt out in turn, so no shard has only small ones
    assert {len(some) for some in networks} == {4, 5}
    assert planned.manifests() == [f"results/survey/surveys/{n}.csv" for n in (1, 2, 3, 4)]


def test_a_sample_is_of_each_entry_and_larger_ones_include_it(plan):
    three = sampled(plan("{sample: 3}"))
    assert [text.count("x") for text in three] == [1, 1, 1, 2, 2, 2]
    five = sampled(plan("{sample: 5}", name="larger"))
    assert set(three) < set(five)
    assert len(five) == 10
    assert sampled(plan("{sample: 3, seed: 1}", name="other")) != three


def test_a_limit_of_size_counts_switches(plan):
    small = sampled(plan("{max_nodes: 8}"))
    assert small == [
        *(f"torus~dims={dims}" for dims in ("2x2", "2x3", "2x4", "3x2", "4x2", "2x2x2"))
    ]


def test_a_rows_fingerprint_is_that_of_its_run_alone(plan):
    first, second = (
        rows_of(plan(*which)) for which in (("{sample: 3}", 7), ("{sample: 5}", 30, "b"))
    )
    common = set(first) & set(second)
    assert common == set(first)
    assert all(first[run] == second[run] for run in common)
    keys = [item.fingerprint for item in second.values()]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize(
    ("topologies", "routings", "message"),
    [
        (
            "[{graph: {file: g.graphml}}]",
            "[{use: dor, on: {max_nodes: 8}}]",
            "bad.yaml:4: routings[0]: on.max_nodes needs networks with the parameter 'dims'",
        ),
        ("[{use: torus~dims=4, on: {sample: 1}}]", "[dor]", "bad.yaml:3: topologies[0]: on: "),
        ("[torus~dims=4]", "[{use: dor, on: {}}]", "bad.yaml:4: routings[0].on: set families"),
        ("[torus~dims=4]", "[{use: dor, on: {families: [tours]}}]", "did you mean 'torus'?"),
    ],
)
def test_wrong_choices_of_networks_are_rejected(
    topologies, routings, message, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    Path("g.graphml").write_text("")
    Path("bad.yaml").write_text(
        f"title: t\nsurvey: true\ntopologies: {topologies}\nroutings: {routings}\n"
    )
    with pytest.raises(InputError) as raised:
        expand_studies(["bad.yaml"])
    assert message in str(raised.value)


def survey_job(folder, *items, name="s-1", seconds=60.0):
    return SurveyJob(
        folder=str(folder / name),
        ids=(name,),
        text="s",
        digest="d",
        limits=Limits(seconds=seconds, memory_gb=4.0),
        items=items,
        results=str(folder),
    )


def job_of(folder, *names, seconds=60.0):
    items = [
        SurveyItem(f"{number:064x}", topology, routing)
        for number, (topology, routing) in enumerate(names)
    ]
    return survey_job(folder, *items, seconds=seconds)


def done(job):
    """Does a job; returns how many rows were missing and the table."""
    folder = Path(job.results)
    missing = len(job.missing())
    write_jobs([job], folder / "spec.json")
    assert run_batch(folder / "spec.json", folder / "s.csv") == bool(missing)
    assert job.missing() == () or {status for status, _ in job.statuses()} & {"failed", "timeout"}
    with (folder / "s.csv").open(newline="") as file:
        return missing, list(csv.DictReader(file))


RING, MESH, BROKEN = "torus~dims=4", "mesh~dims=3x2", "torus~dims=3x3,failed_links=0-8"


def test_every_run_leaves_a_row_with_its_outcome(tmp_path):
    names = (RING, "dor"), (RING, "angara-bfs"), (MESH, "angara-sssp"), (BROKEN, "dor")
    job = job_of(tmp_path, *names)
    missing, rows = done(job)
    assert missing == 4
    assert [(row["topology"], row["routing"]) for row in rows] == [
        (item.topology, item.routing) for item in job.items
    ]
    assert [row["status"] for row in rows] == ["ok", "ok", "ok", "unsupported"]
    assert "0-8 is not a link" in rows[3]["reason"]
    # a ring of four: 16 hops over 8 channels
    ring = [rows[0][name] for name in ("max_load", "mean_load", "deadlock")]
    assert ring == ["2", "2.0", "proven"]
    assert float(rows[1]["cpu_seconds"]) > 0
    table = read_survey_table(tmp_path / "s.csv")
    assert {row["origin"] for row in table.rows} == set(table.origins)

    assert done(job) == (0, rows)


def test_a_run_beyond_its_limit_is_a_row_and_tried_again(tmp_path, monkeypatch):
    real = surveys.route_row

    def slow_at_the_second(network, routing, metrics):
        while routing == "angara-bfs":
            pass
        return real(network, routing, metrics)

    names = [(RING, "dor"), (RING, "angara-bfs"), (RING, "angara-sssp")]
    for topology, routing in names:  # loads their kernels here, for all children
        real(SurveyNetwork(topology), routing, ())
    job = job_of(tmp_path, *names, seconds=2.0)
    monkeypatch.setattr(surveys, "route_row", slow_at_the_second)
    missing, rows = done(job)
    assert missing == 3
    assert [row["status"] for row in rows] == ["ok", "timeout", "ok"]
    assert rows[1]["reason"].startswith("reached its limit of 2 CPU-s (limits.seconds)")

    monkeypatch.setattr(surveys, "route_row", real)
    missing, rows = done(job)
    assert missing == 1
    assert [row["status"] for row in rows] == ["ok", "ok", "ok"]


def test_rows_are_found_whichever_shard_made_them(tmp_path):
    names = [(RING, "dor"), (RING, "angara-bfs"), (MESH, "dor")]
    done(job_of(tmp_path, *names))
    assert set(store(tmp_path).statuses().values()) == {"ok", "origin"}
    all_items = job_of(tmp_path, *names).items
    missing, rows = done(survey_job(tmp_path, *all_items[1:], name="other-1"))
    assert (missing, len(rows)) == (0, 2)


def test_bounds_stand_beside_the_runs_of_their_rules(tmp_path):
    rules = "angara~turns=exact"
    items = [
        SurveyItem("0" * 64, "torus~dims=4x2"),
        SurveyItem("1" * 64, "torus~dims=4x2", rules=rules),
    ]
    runs = [
        SurveyItem("2" * 64, "torus~dims=4x2", f"sssp@{rules}", rules),
        SurveyItem("3" * 64, "torus~dims=4x2", "angara-sssp", "angara"),
    ]
    lost = SurveyItem("4" * 64, "torus~dims=4x2", rules="angara")
    with store(tmp_path).writer("old") as writer:
        writer.append(lost.fingerprint, "unsupported", {"status": "unsupported", "reason": "so"})
    missing, rows = done(survey_job(tmp_path, *items, lost, *runs))
    assert missing == 4
    # angara.md: on 2x4 the exact turns lower the optimum from 5 to 4, as on 4x2
    assert (rows[0]["lower_bound_rules"], rows[0]["turn_set"]) == ("4", "angara/exact")
    assert int(rows[0]["gap"]) == int(rows[0]["max_load"]) - 4
    assert rows[0]["optimal"] == ("true" if rows[0]["gap"] == "0" else "false")
    # the bound of the bare network is no stand-in for a missing one
    assert (rows[1]["gap"], rows[1]["lower_bound_rules"], rows[1]["bound_reason"]) == ("", "", "so")
    assert rows[1]["lower_bound_topology"] == "4"


def test_a_plan_tries_again_the_rows_that_failed(plan):
    keys = [item.fingerprint for item in rows_of(plan(runs=30)).values()]
    with store(Path("results/survey")).writer("a") as writer:
        for key, status in zip(keys, ("ok", "unsupported", "timeout"), strict=False):
            writer.append(key, status, {})
    assert plan(runs=30).failed() == 1
