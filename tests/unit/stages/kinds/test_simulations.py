"""Simulations read the route table of the stage ``routes``, and compute it where they cannot."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest
from golden_rows import NOT_COMPARED

from routelab.api import InputError
from routelab.artifacts.outcome import read_outcome, write_outcome
from routelab.jobs.folder_job import perform
from routelab.jobs.job import OUTCOME
from routelab.stages.engines import case
from routelab.stages.plan.expansion import expand_studies
from routelab.stages.route import ROUTES, apply_routing

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
    found = {
        (job.kind, job.ids[1] if len(job.ids) > 1 else ""): job
        for job in expand_studies([Path("tables.yaml")]).jobs.values()
    }
    perform(found["topologies", ""])
    return found


@pytest.fixture
def computed(monkeypatch):
    """Routings whose tables were computed for a simulation."""
    names = []

    def apply(network, algorithm):
        names.append(algorithm.name)
        return apply_routing(network, algorithm)

    monkeypatch.setattr(case, "apply_routing", apply)
    return names


def result(job):
    """Everything that a job has found, without times."""
    outcome = perform(job)
    facts = {key: value for key, value in outcome.facts.items() if not NOT_COMPARED.fullmatch(key)}
    files = {
        path.name: [
            {key: value for key, value in row.items() if not NOT_COMPARED.fullmatch(key)}
            for row in csv.DictReader(path.open())
        ]
        for path in Path(job.folder).glob("*.csv")
    }
    return outcome.status, facts, files


@pytest.mark.parametrize("kind", ["simulations", "flows"])
def test_a_table_that_is_read_gives_the_results_of_a_computed_one(jobs, computed, kind):
    job = jobs[kind, "lash"]
    without = result(job)
    assert (without[0], computed) == ("ok", ["lash"])
    assert len(without[2]) > 0
    perform(jobs["routes", "lash"])
    assert result(job) == without
    assert computed == ["lash"]
    seconds = read_outcome(Path(jobs["routes", "lash"].folder, OUTCOME)).facts["routing_seconds"]
    assert read_outcome(Path(job.folder, OUTCOME)).facts["routing_seconds"] == seconds


def test_a_table_of_other_code_is_not_read(jobs, computed):
    routes = jobs["routes", "lash"]
    perform(replace(routes, digest="of other code"))
    assert result(jobs["flows", "lash"])[0] == "ok"
    assert computed == ["lash"]


def test_a_table_that_ran_out_of_time_is_not_tried_again(jobs, computed):
    path = Path(jobs["routes", "lash"].folder, OUTCOME)
    perform(jobs["routes", "lash"])
    write_outcome(replace(read_outcome(path), status="timeout", reason="over 5 s"), path)
    outcome = perform(jobs["flows", "lash"])
    assert (outcome.status, outcome.reason) == ("timeout", "route table: over 5 s")
    assert computed == []


@pytest.mark.parametrize("file", [OUTCOME, ROUTES])
def test_a_damaged_table_ends_with_its_file(jobs, file):
    perform(jobs["routes", "lash"])
    path = Path(jobs["routes", "lash"].folder, file)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InputError, match=str(path)):
        perform(jobs["flows", "lash"])


def test_a_routing_without_a_table_needs_only_the_network(jobs, computed):
    job = jobs["simulations", "rdr"]
    assert job.needs == (jobs["topologies", ""].folder,)
    assert result(job)[0] == "ok"
    assert computed == []
