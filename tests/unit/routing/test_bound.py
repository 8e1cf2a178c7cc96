"""Bounds as jobs, in evaluate and in plans."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from routelab.api import InputError, RouteTable, Topology
from routelab.cli import main
from routelab.jobs.folder_job import run_job, write_failure
from routelab.jobs.limits import Failure
from routelab.metrics import bounds as core
from routelab.metrics.bounds import BOUND_FIELDS, bound_facts, bound_from_weights, network_graph
from routelab.results.outcome import read_outcome
from routelab.results.tables import read_tuples
from routelab.routing import bound, topology
from routelab.routing.bound import ANY, BARE
from routelab.routing.facts import routing_facts
from routelab.routing.routing import Routing
from routelab.workflow.evaluate import evaluate_routings
from routelab.workflow.plan.expansion import expand_studies
from routelab.workflow.stages.bounds import BoundJob, rules_ids
from routelab.workflow.stages.topologies import TopologyJob


def weights(folder: Path) -> np.ndarray:
    rows = read_tuples(folder / "bound.csv", bound.WEIGHT_COLUMNS, {"channel", "weight"})
    assert [row[0] for row in rows] == list(range(len(rows)))
    return np.array([row[4] for row in rows]).astype(np.int64)


def bound_job(network: str, rules: str, folder: Path) -> BoundJob:
    return BoundJob(folder=str(folder), topology=network, text=rules, digest="abc")


def test_written_weights_prove_the_bound_independently(tmp_path: Path) -> None:
    from routelab_plugins.rules.angara import AngaraRules

    network = topology.load_network("torus~dims=2x4")[1]
    for rules, graph in (
        ("angara", AngaraRules().routing_graph(network)),
        (BARE, network_graph(network)),
    ):
        job = bound_job("torus~dims=2x4", rules, tmp_path / rules)
        outcome = run_job(job)
        assert read_outcome(tmp_path / rules / "outcome.json") == outcome
        assert (outcome.kind, outcome.routing, outcome.status) == ("bound", rules, "ok")
        assert outcome.provenance["fingerprint"] == job.fingerprint != ""
        proven = bound_from_weights(graph, weights(tmp_path / rules))
        assert float(proven) == outcome.facts["bound_value"]
    assert outcome.facts["turn_set"] == "all minimal routes"


def test_rules_that_do_not_apply_and_networks_that_are_none_are_outcomes(tmp_path: Path) -> None:
    (tmp_path / "two.csv").write_text("source,target\na,b\n")
    network = f"graph~file={tmp_path / 'two.csv'}"
    outcome = run_job(bound_job(network, "angara", tmp_path / "a"))
    assert outcome.status == "unsupported"
    assert "direction labels" in outcome.reason
    run_job(TopologyJob(folder=str(tmp_path / "none"), text="torus~dims=4,fail_switches=4"))
    outcome = run_job(bound_job(str(tmp_path / "none"), "angara", tmp_path / "b"))
    assert (outcome.status, outcome.kind) == ("unsupported", "bound")
    assert outcome.reason.startswith("no network: ")


def test_rules_that_are_not_reproducible_have_no_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from routelab_plugins.rules.angara import AngaraRules

    drawn = replace(AngaraRules.capabilities, deterministic=False)
    monkeypatch.setattr(AngaraRules, "capabilities", drawn)
    outcome = run_job(bound_job("torus~dims=2x4", "angara", tmp_path / "a"))
    assert (outcome.status, "not reproducible" in outcome.reason) == ("unsupported", True)


def test_a_job_that_is_stopped_leaves_an_outcome(tmp_path: Path) -> None:
    job = bound_job("torus~dims=4", "angara", tmp_path / "o")
    write_failure(job, Failure("timeout", "took too long"))
    outcome = read_outcome(tmp_path / "o" / "outcome.json")
    assert (outcome.status, outcome.reason, outcome.kind) == ("timeout", "took too long", "bound")
    assert (outcome.topology, outcome.routing) == ("torus~dims=4", "angara")
    assert outcome.provenance["fingerprint"] == job.fingerprint
    assert [plugin["name"] for plugin in outcome.provenance["plugins"]] == ["angara"]


def test_evaluate_finds_the_bound_of_each_rules() -> None:
    names = ["angara-sssp", "angara-sssp~tie_seed=1", "sssp@angara~turns=exact", "dor"]
    rows = evaluate_routings("torus~dims=2x4", names, bound_seconds=60)
    assert [row["lower_bound_rules"] for row in rows] == [5, 5, 4, 4]
    for row in rows:
        assert list(row)[-len(BOUND_FIELDS) :] == list(BOUND_FIELDS)
        assert row["gap"] == row["max_load"] - row["lower_bound_rules"] >= 0
        assert row["optimal"] == (row["gap"] == 0)
        assert row["lower_bound_topology"] == 4


def test_less_than_a_route_is_a_gap_where_channels_have_several_speeds() -> None:
    # two pairs on one route, over a channel of 100 or one of 80 beside it: 2, or 2 x 1.25. Split,
    # 2 / 1.8 = 1.11 would be possible, and the least load of a whole route above is 1.25
    network = Topology.create(
        num_switches=2,
        channel_source=[0, 0],
        channel_target=[1, 1],
        channel_capacity=[100, 80],
        terminal_switch=[0, 0, 1],
    )
    first, last = [], []
    for chosen, best in ((0, True), (1, False)):
        routed = Routing.from_name("first@unrestricted").routes(network)
        table = RouteTable.from_lengths(network, [[0, 1], [-1, 0]], [chosen])
        routed = replace(routed, table=table)
        facts = routing_facts(routed)
        rough = bound_facts(facts, core.lower_bound_rules(routed.graph), None)
        first.append((rough["lower_bound_rules"], rough["gap"], rough["optimal"]))
        columns = bound.NetworkBounds(network).facts(routed, "unrestricted", facts)
        last.append((columns["lower_bound_rules"], columns["gap"], columns["optimal"]))
        assert columns["optimal"] is best
        assert columns["bound_method"] == "milp"
    assert first == [(1.25, 0.75, False), (1.25, 1.25, False)]
    assert last == [(2, 0, True), (2, 0.5, False)]


def test_channels_csv_has_the_load_that_the_maximum_is_taken_of(tmp_path: Path) -> None:
    (tmp_path / "fabric.csv").write_text("source,target,capacity\na,b,100\nb,c,25\n")
    folder = tmp_path / "route"
    network = f"graph~file={tmp_path / 'fabric.csv'}"
    assert main(["route", network, "first@unrestricted", "-o", str(folder)]) == 0
    columns = ("channel", "source", "target", "direction", "load")
    rows = read_tuples(folder / "channels.csv", columns, {"channel", "load"})
    assert [row[4] for row in rows] == [2, 2, 8, 8]
    assert read_outcome(folder / "outcome.json").facts["max_load"] == 8


def test_evaluate_prints_bounds_on_request_and_rejects_a_limit_of_zero() -> None:
    (row,) = evaluate_routings("torus~dims=4", ["dor"])
    assert not set(BOUND_FIELDS) & set(row)
    with pytest.raises(InputError, match="more than 0 seconds"):
        evaluate_routings("torus~dims=4", ["dor"], bound_seconds=0)


STUDY = """
title: t
topologies: [torus~dims=4, torus~dims=4x2]
routings: [angara-sssp, "first@angara", "sssp@angara~turns=exact", balanced-dor]
metrics: [channel-load]
"""


def test_a_study_s_bounds_are_jobs_of_networks_and_rules(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(f"{STUDY}bound: true\n")
    plan = expand_studies([tmp_path / "a.yaml"])
    rules = [BARE, "angara", "angara~turns=exact"]
    networks = ["torus~dims=4", "torus~dims=4x2"]
    bounds = plan.of("bounds")
    assert set(bounds) == {(t, r) for t in networks for r in rules}
    shown = plan.studies["a"]
    named = rules_ids(shown.parts)
    assert named["torus~dims=4", "first@angara"] == "angara"
    assert named["torus~dims=4", "balanced-dor"] == BARE
    assert set(shown.ids("bounds")) == set(bounds)
    jobs = {job.folder: job for b in plan.batches.values() if b.kind == "bounds" for job in b.jobs}
    assert set(jobs) == {f"results/a/bounds/{t}/{r}" for t, r in bounds}
    job = jobs["results/a/bounds/torus~dims=4/angara~turns=exact"]
    assert (job.topology, job.text) == ("results/a/topologies/torus~dims=4", "angara~turns=exact")
    wanted = plan.manifests(shown)
    assert all(
        str(plan.manifest(batch)) in wanted
        for batch in plan.batches.values()
        if batch.kind != "topologies"
    )


def test_a_study_asks_for_bounds_of_any_length(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(f"{STUDY}bound: {{any_length: true}}\n")
    plan = expand_studies([tmp_path / "a.yaml"])
    assert {r for _, r in plan.of("bounds")} == {ANY, BARE, "angara", "angara~turns=exact"}
    job = bound_job("dragonfly~h=2", ANY, tmp_path / "bound")
    outcome = run_job(job)
    assert (outcome.status, outcome.facts["bound_load"], outcome.facts["turn_set"]) == (
        "ok",
        67,
        "all routes",
    )
    assert any(weights(tmp_path / "bound"))


def test_a_changed_time_limit_makes_bounds_stale_and_no_routes(tmp_path: Path) -> None:
    plans = []
    for key in ("false", "true", "{seconds: 5}", "{exact: true}"):
        (tmp_path / "a.yaml").write_text(f"{STUDY}bound: {key}\n")
        plans.append(expand_studies([tmp_path / "a.yaml"]))
    assert not plans[0].of("bounds")
    bounds = [plan.of("bounds")["torus~dims=4", "angara"] for plan in plans[1:]]
    assert len({job.fingerprint for job in bounds}) == 3
    routes = [{k: job.fingerprint for k, job in plan.of("routes").items()} for plan in plans]
    assert all(fingerprints == routes[0] for fingerprints in routes)
