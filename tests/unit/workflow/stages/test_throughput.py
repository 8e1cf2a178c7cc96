"""Bounds of throughput as jobs, on the command line, in plans and in reports' commands."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from routelab.cli import main
from routelab.jobs.folder_job import run_job
from routelab.metrics import as_fraction
from routelab.metrics.bounds.throughput import (
    ChannelWeights,
    Traffic,
    accepted_from_weights,
    bound_throughput,
    sustained_from_weights,
)
from routelab.registry.instances import load
from routelab.results.outcome import read_outcome
from routelab.results.tables import read_rows
from routelab.routing.topology import load_network
from routelab.simulation.case import look_up_routing
from routelab.simulation.run import run_simulation
from routelab.workflow.plan.expansion import expand_studies
from routelab.workflow.stages.throughput import ThroughputJob

NETWORK, TRAFFIC = "torus~dims=8", "tornado"


def written(folder: Path, network, load: str) -> ChannelWeights:
    """The weights that a job wrote for a load; empty for the sustained load."""
    rows = [
        row
        for row in read_rows(folder / "bound.csv", ["seed"], ("load", "kind", "source", "target"))
        if str(row["load"] or "") == load
    ]
    arrays = {
        "channel": np.zeros(network.num_channels, dtype=np.int64),
        "injection": np.zeros(network.num_terminals, dtype=np.int64),
        "ejection": np.zeros(network.num_terminals, dtype=np.int64),
    }
    for row in rows:
        if row["kind"] != "one":
            arrays[row["kind"]][int(row["number"])] = int(row["weight"])
    (unit,) = [int(row["weight"]) for row in rows if row["kind"] == "one"]
    return ChannelWeights(**arrays, one=unit)


def test_a_search_does_not_stay_where_its_weights_are_too_steep() -> None:
    """The loads of few pairs over many routes settle long before they are balanced."""
    network = load_network("random-regular~n=32,degree=8,terminals=5")[1]
    demand = load("traffic", "switch-permutation").demand(network, 0)
    (accepted,) = bound_throughput(network, demand, seconds=5.0).accepted
    assert accepted.attained < accepted.value < accepted.attained * 1.015


def test_written_weights_prove_the_bound_independently(tmp_path: Path) -> None:
    job = ThroughputJob(
        folder=str(tmp_path / "t"), topology=NETWORK, text="hotspot", digest="a", loads=(0.5, 1.0)
    )
    outcome = run_job(job)
    assert read_outcome(tmp_path / "t" / "outcome.json") == outcome
    assert (outcome.kind, outcome.routing, outcome.status) == ("throughput", "hotspot", "ok")
    network = load_network(NETWORK)[1]
    traffic = Traffic(network, load("traffic", "hotspot").demand(network, 0))
    facts = outcome.facts["throughput_by_seed"]["0"]
    value = sustained_from_weights(traffic, written(tmp_path / "t", network, ""))
    assert float(value or 0) == facts["channel_bound"]
    for point in facts["accepted"]:
        own = written(tmp_path / "t", network, str(point["load"]))
        start, slope = accepted_from_weights(traffic, own)
        assert float(start + slope * as_fraction(point["load"])) == point["accepted_bound"]


def test_traffic_that_does_not_apply_is_an_outcome(tmp_path: Path) -> None:
    job = ThroughputJob(folder=str(tmp_path / "t"), topology="mesh~dims=5x3", text="bit-reversal")
    outcome = run_job(job)
    assert (outcome.status, outcome.reason) == (
        "unsupported",
        "bit-reversal: needs a power of two terminals; this network has 15",
    )


def test_the_command_prints_bounds_and_weights(capfd: pytest.CaptureFixture[str]) -> None:
    words = ["bound", NETWORK, "--traffic", TRAFFIC, "--load", "0.2+1"]
    assert main([*words, "--format", "json"]) == 0
    facts = json.loads(capfd.readouterr().out)
    assert facts["sustained_bound"] == 8 / 15
    assert [point["load"] for point in facts["accepted"]] == [0.2, 1]
    assert main([*words, "--format", "csv"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines[0] == "seed,load,kind,number,source,target,weight"
    assert len(lines) == 1 + 3 * (1 + 16)
    assert main(words) == 0
    assert "sustained_bound     0.5333" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--load", "1"], "--load needs --traffic; add it"),
        (["angara", "--traffic", "uniform"], "rules 'angara': bounds of traffic hold for any"),
        (["--traffic", "uniform", "--load", "0.5,x"], "--load 0.5,x: 'x' is not a number above 0"),
        (["--traffic", "uniform", "--exact"], "--exact cannot be combined with --traffic"),
        (["--traffic", "uniform", "--any-length"], "--any-length cannot be combined with"),
        (["angara", "--any-length"], "rules 'angara': --any-length bounds all routes"),
        (["--exact", "--any-length"], "--exact cannot be combined with --any-length"),
    ],
)
def test_options_of_the_other_kind_of_bound_are_refused(words, message, capfd) -> None:
    assert main(["bound", NETWORK, *words]) == 2
    assert message in capfd.readouterr().err


STUDY = """
title: t
topologies: [torus~dims=4, torus~dims=4x2]
routings: [dor, minimal]
traffic: [uniform, tornado]
simulation: {loads: 0.2+0.4, seeds: 2, seed: {sweep: [3, 4]}}
"""


def test_a_study_s_bounds_are_jobs_of_networks_and_traffic(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(f"{STUDY}bound: true\n")
    assert not expand_studies([tmp_path / "a.yaml"]).of("throughput")
    (tmp_path / "a.yaml").write_text(f"{STUDY}bound: {{any_routing: true, seconds: 9}}\n")
    jobs = expand_studies([tmp_path / "a.yaml"]).of("throughput")
    networks, traffic = ("torus~dims=4", "torus~dims=4x2"), ("uniform", "tornado")
    assert set(jobs) == {(t, pattern) for t in networks for pattern in traffic}
    job = jobs["torus~dims=4", "tornado"]
    assert isinstance(job, ThroughputJob)
    assert (job.loads, job.seeds, job.seconds) == ((0.2, 0.4, 1.0), (3, 4, 5), 9)


@pytest.mark.parametrize("traffic", ["tornado", "hotspot~share=0.9"])
def test_simulations_accept_no_more_than_the_bound(traffic: str) -> None:
    network = load_network(NETWORK)[1]
    engine = load("engine", "packet~loads=0.4+1,vcs=4,sample_cycles=500,precision=0.1")
    result = run_simulation(network, look_up_routing("minimal"), load("traffic", traffic), engine)
    demand = load("traffic", traffic).demand(network, 0)
    bound = bound_throughput(network, demand, (0.4, 1.0))
    loads = result.tables["loads"]
    for accepted, low, point in zip(
        loads["accepted_load"], loads["accepted_load_low"], bound.accepted, strict=True
    ):
        assert low <= point.value
        assert accepted <= point.value * 1.05
        assert accepted >= 0.3 * point.value
