"""Simulations and metrics read tables of the stage ``routes``, or compute those they lack."""

from __future__ import annotations

import csv
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from golden_rows import NOT_COMPARED

from routelab.api import InputError
from routelab.jobs.folder_job import run_job
from routelab.results.outcome import OUTCOME, read_outcome, write_outcome
from routelab.routing.route import ROUTES
from routelab.routing.routing import Routing
from routelab.workflow.plan.expansion import expand_studies
from routelab.workflow.stages import simulations
from routelab_plugins.rules.unrestricted import Unrestricted

STUDY = """\
title: Tables
topologies: [torus~dims=4x2]
routings: [lash, rdr]
traffic: [uniform]
simulation: {loads: [0.3], warmup_cycles: 50, sample_cycles: 50, precision: 0.5}
workloads: ["npb-cg~class=S"]
"""


@pytest.fixture
def jobs(tmp_path, monkeypatch):
    """Jobs of a study by kind and routing; the network is built."""
    monkeypatch.chdir(tmp_path)
    Path("tables.yaml").write_text(STUDY)
    by_ids = {
        (job.kind, job.ids[1] if len(job.ids) > 1 else ""): job
        for job in expand_studies([Path("tables.yaml")]).jobs.values()
    }
    run_job(by_ids["topologies", ""])
    return by_ids


@pytest.fixture
def computed(monkeypatch):
    """Routings whose tables were computed for a simulation or metrics."""
    names = []

    compute = Routing.table

    def table(routing, network):
        if not routing.known_tables:
            names.append(routing.name)
        return compute(routing, network)

    monkeypatch.setattr(Routing, "table", table)
    return names


def result(job):
    """Everything that a job has found, without times."""
    outcome = run_job(job)
    facts = {key: value for key, value in outcome.facts.items() if key not in NOT_COMPARED}
    files = {
        path.name: [
            {key: value for key, value in row.items() if key not in NOT_COMPARED}
            for row in csv.DictReader(path.open())
        ]
        for path in Path(job.folder).glob("*.csv")
    }
    return outcome.status, facts, files


@pytest.mark.parametrize("kind", ["metrics", "simulations", "flows"])
def test_a_table_that_is_read_gives_the_results_of_a_computed_one(jobs, computed, kind):
    job = jobs[kind, "lash"]
    without = result(job)
    assert (without[0], computed) == ("ok", ["lash"])
    assert len(without[2]) > 0
    run_job(jobs["routes", "lash"])
    assert result(job) == without
    assert computed == ["lash"]
    if kind != "metrics":
        folders = jobs["routes", "lash"].folder, job.folder
        table, simulated = (read_outcome(Path(folder, OUTCOME)).facts for folder in folders)
        assert simulated["routing_seconds"] == table["routing_seconds"]


@pytest.mark.parametrize("kind", ["metrics", "flows"])
def test_a_table_of_other_code_is_not_read(jobs, computed, kind):
    routes = jobs["routes", "lash"]
    run_job(replace(routes, digest="of other code"))
    assert result(jobs[kind, "lash"])[0] == "ok"
    assert computed == ["lash"]


@pytest.fixture
def draw(jobs, monkeypatch):
    """Compute the table of ``lash``, as an algorithm that is not reproducible may do."""

    def compute(other="lash"):
        routes, drawn = Routing.routes, Routing.from_name(other)
        with monkeypatch.context() as patch:
            patch.setattr(Routing, "routes", lambda _, network: routes(drawn, network))
            assert run_job(jobs["routes", "lash"]).status == "ok"

    return compute


@pytest.mark.parametrize("kind", ["metrics", "simulations", "flows"])
def test_results_of_a_table_that_was_drawn_again_are_computed_again(jobs, draw, kind, monkeypatch):
    job = jobs[kind, "lash"]
    assert result(job)[0] == "ok"
    draw()
    assert not job.is_done()  # its table was its own
    # as if the job had been killed: finished loads stay
    monkeypatch.setattr(simulations.FinishedParts, "close", lambda self, done: None)
    first = result(job)
    draw()
    assert job.is_done()
    draw("dor")
    assert not job.is_done()
    second = result(job)
    assert job.is_done()
    shutil.rmtree(Path(job.folder).parent)
    assert result(job) == second
    assert (second == first) == (kind == "flows")  # its programs take equally long on both


def test_rules_that_are_not_reproducible_are_not_those_of_the_table(jobs, draw, monkeypatch):
    draw()
    columns = {}
    for reproducible in (True, False):
        drawn = replace(Unrestricted.capabilities, deterministic=reproducible)
        monkeypatch.setattr(Unrestricted, "capabilities", drawn)
        status, _, files = result(jobs["metrics", "lash"])
        columns[reproducible] = {row["metric"]: row["value"] for row in files["metrics.csv"]}
        assert status == "ok"
    missing = columns[True].keys() - columns[False].keys()
    assert "mean_routes" in missing
    assert "max_load" not in missing


def test_a_table_of_a_network_that_was_drawn_again_is_computed_again(jobs, draw):
    draw()
    assert jobs["routes", "lash"].is_done()
    run_job(replace(jobs["topologies", ""], text="torus~dims=2x4"))
    assert not jobs["metrics", "lash"].is_done()
    assert not jobs["routes", "lash"].is_done()
    draw()
    assert jobs["routes", "lash"].is_done()


def test_a_table_that_ran_out_of_time_is_not_tried_again(jobs, computed):
    path = Path(jobs["routes", "lash"].folder, OUTCOME)
    run_job(jobs["routes", "lash"])
    write_outcome(replace(read_outcome(path), status="timeout", reason="over 5 s"), path)
    outcome = run_job(jobs["flows", "lash"])
    assert (outcome.status, outcome.reason) == ("timeout", "route table: over 5 s")
    assert computed == []


def test_jobs_do_not_draw_a_table_that_failed_each_for_itself(jobs, computed, monkeypatch):
    path = Path(jobs["routes", "lash"].folder, OUTCOME)
    run_job(jobs["routes", "lash"])
    write_outcome(replace(read_outcome(path), status="failed", reason="bad luck"), path)
    assert run_job(jobs["flows", "lash"]).status == "ok"
    drawn = replace(Unrestricted.capabilities, deterministic=False)
    monkeypatch.setattr(Unrestricted, "capabilities", drawn)
    outcome = run_job(jobs["flows", "lash"])
    assert (outcome.status, outcome.reason) == ("failed", "route table: bad luck")
    assert computed == ["lash"]


def test_a_missing_table_is_not_measured_and_reported_once(jobs, computed):
    path = Path(jobs["routes", "lash"].folder, OUTCOME)
    run_job(jobs["routes", "lash"])
    write_outcome(replace(read_outcome(path), status="unsupported", reason="a ring"), path)
    job = jobs["metrics", "lash"]
    outcome = run_job(job)
    assert (outcome.status, outcome.reason) == ("unsupported", "a ring")
    assert (job.statuses(), computed) == ([], [])


def test_a_metric_that_fails_loses_no_table(jobs, monkeypatch):
    def fail(self, context):
        raise RuntimeError("no number")

    run_job(jobs["routes", "lash"])
    task, _ = jobs["metrics", "lash"].load()
    (plugin,) = [plugin for plugin in task.plugins if plugin.name == "channel-load"]
    monkeypatch.setattr(type(plugin), "measure_in", fail)
    assert "no number" in run_job(jobs["metrics", "lash"]).reason
    assert [reason for _, reason in jobs["metrics", "lash"].statuses()] != [""]
    assert jobs["routes", "lash"].status() == run_job(jobs["flows", "lash"]).status == "ok"


@pytest.mark.parametrize("kind", ["metrics", "flows"])
@pytest.mark.parametrize("file", [OUTCOME, ROUTES])
def test_a_damaged_table_ends_with_its_file(jobs, file, kind):
    run_job(jobs["routes", "lash"])
    path = Path(jobs["routes", "lash"].folder, file)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InputError, match=str(path)):
        run_job(jobs[kind, "lash"])


def test_a_routing_without_a_table_needs_only_the_network(jobs, computed):
    job = jobs["simulations", "rdr"]
    assert job.needs == (jobs["topologies", ""].folder,)
    assert result(job)[0] == "ok"
    assert computed == []
