from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from routelab.report.rows.routes import RouteRows
from routelab.report.rows.simulations import SimulationRows
from routelab.results.json_files import load_sealed, write_json
from routelab.results.outcome import Outcome, read_outcome, write_outcome


def test_one_row_a_run_with_facts_metrics_and_parameters(world):
    world.add("bfs", "4", load=[3, 1], metrics={"phase_load": 7.5}, ties="balanced")
    world.add("genetic~seed=2", "4x2", load=[5], seed=2)
    frame = RouteRows(world.records).frame
    assert frame["routing"].tolist() == ["bfs", "genetic~seed=2"]
    assert frame["nodes"].tolist() == [4, 8]
    assert frame["max_load"].tolist() == [3, 5]
    assert frame["phase_load"][0] == 7.5
    assert pd.isna(frame["phase_load"][1])
    assert frame["topology.dims"].tolist() == ["4", "4x2"]
    assert frame["routing.ties"][0] == frame["ties"][0] == "balanced"
    assert frame["seed"][1] == 2


def test_a_row_has_the_facts_of_its_network_unless_the_run_has_them_too(world):
    world.add("a", "4", facts={"switches": 3})
    world.add("b", "4x2", status="unsupported")
    world.add("c", "8")
    for record, diameter in zip(world.records, (2, 3, None), strict=True):
        facts = {"diameter": diameter, "switches": 99, "terminals": 4}
        outcome = Outcome("topology", record.topology, facts=facts)
        write_outcome(outcome, record.topology_directory / "outcome.json")
    (world.records[2].topology_directory / "outcome.json").write_text("{")
    frame = RouteRows(world.records).frame
    assert frame["diameter"].tolist()[:2] == [2, 3]
    assert pd.isna(frame["diameter"][2])
    assert frame["switches"].tolist()[:2] == [3, 99]


def test_rows_of_a_survey_ignore_folders_of_networks(world):
    record = world.add("a", "4")
    result = (Outcome("route", record.topology, "a", facts={"terminals": 4}), ())
    frame = RouteRows([replace(record, survey_result=result)]).frame
    assert "switches" not in frame


def test_a_bare_parameter_is_the_routings_where_both_have_it(world):
    world.add("a~seed=3", topology_parameters={"seed": 8}, seed=3)
    world.add("b", topology_parameters={"seed": 8})
    frame = RouteRows(world.records).frame
    assert frame["seed"][0] == 3
    assert pd.isna(frame["seed"][1])
    assert frame["topology.seed"].tolist() == [8, 8]


def test_a_missing_outcome_is_not_run_and_a_damaged_one_is_a_failure(world):
    for routing in ("a", "b", "c"):
        world.add(routing)
    (world.records[0].directory / "outcome.json").unlink()
    (world.records[1].directory / "outcome.json").write_text("{")
    outcome = world.records[2].directory / "outcome.json"
    write_json(outcome, load_sealed(outcome.read_bytes()) | {"status": "not-run"})
    row_set = RouteRows(world.records)
    assert [outcome.status for outcome in row_set.outcomes] == ["not-run", "failed", "failed"]
    assert row_set.outcomes[0].reason.endswith("a/outcome.json does not exist")
    assert "damaged" in row_set.outcomes[1].reason
    # no file may have this status
    assert "status is 'not-run', expected one of" in row_set.outcomes[2].reason
    assert row_set.frame["status"].tolist() == ["not-run", "failed", "failed"]
    assert not row_set.has_results


def test_results_of_another_table_are_not_shown_beside_it(world):
    def mark(folder, **provenance):
        outcome = read_outcome(folder / "outcome.json")
        provenance = {**outcome.provenance, **provenance}
        write_outcome(replace(outcome, provenance=provenance), folder / "outcome.json")

    for routing, digest in (("a", "old"), ("b", "new")):
        table = world.add(routing, "4x2", metrics={"phase_load": 7.5})
        mark(table.directory, digest="new")
        mark(table.metrics_directory, sources={"table": digest})
        curve = [{"load": 0.5, "latency_mean": 10.0}]
        mark(world.simulate(routing, curve=curve).directory, sources={"table": digest})
    tables = RouteRows(world.records)
    for rows in (tables, SimulationRows(world.simulated, tables, "traffic")):
        assert [outcome.status for outcome in rows.outcomes] == ["failed", "ok"]
        assert "another route table" in rows.outcomes[0].reason
    assert tables.metrics["routing"].unique().tolist() == ["b"]


def test_not_run_is_never_written(world, tmp_path):
    record = world.add("a")
    (record.directory / "outcome.json").unlink()
    (outcome,) = RouteRows([record]).outcomes
    with pytest.raises(ValueError, match="has no outcome to write"):
        write_outcome(outcome, tmp_path / "outcome.json")
    with pytest.raises(ValueError, match="status is 'not-run'"):
        Outcome("route", "t", "r", "not-run", "why")
    assert not (tmp_path / "outcome.json").exists()


def test_topology_that_failed_itself_leaves_nodes_unknown(world):
    record = world.add("a", status="failed")
    failed = Outcome("topology", record.topology, status="failed", reason="no dims")
    write_outcome(failed, record.topology_directory / "outcome.json")
    assert pd.isna(RouteRows(world.records).frame["nodes"][0])


def test_pooled_parameters_leave_the_names_of_routings_but_not_aliases(world):
    world.add("genetic~seed=3@angara~turns=exact", seed=3)
    world.add("genetic~seed=4@angara~turns=exact", alias="mine", seed=4)
    world.add("sssp~tie_seed=1", tie_seed=1)
    row_set = RouteRows(world.records)
    assert row_set.select({}, ["seed"], "").routing.tolist() == [
        "genetic@angara~turns=exact",
        "mine",
        "sssp~tie_seed=1",
    ]
    assert row_set.select({}, ["routing.tie_seed"], "").routing.tolist()[2] == "sssp"


def test_pooling_the_seed_of_routings_leaves_that_of_topologies(world):
    record = world.add("a~seed=3", seed=3)
    row_set = RouteRows([record])
    row_set.records = (
        type(record)(
            **{**vars(record), "topology": "t~seed=9", "topology_name": "t~seed=9"},
        ),
    )
    assert row_set.select({}, ["seed"], "").topology.tolist() == ["t~seed=9"]
    assert row_set.select({}, ["topology.seed"], "").topology.tolist() == ["t"]
    assert row_set.select({}, ["topology.seed"], "").routing.tolist() == ["a~seed=3"]


@pytest.mark.parametrize(
    ("where", "runs"),
    [
        ({"nodes": 8}, [1]),
        ({"nodes": [4, 16]}, [0, 2]),
        ({"nodes": "8"}, [1]),
        ({"dims": "4x2"}, [1]),
        ({"max_load": 3.0, "nodes": [4, 8]}, [0, 1]),
        ({"routing": "b"}, []),
    ],
)
def test_where_compares_values_of_any_type(world, where, runs):
    for dims in ("4", "4x2", "4x2x2"):
        world.add("a", dims, load=[3])
    assert RouteRows(world.records).select(where, [], "").index.tolist() == runs


def test_without_any_result_no_column_is_missed(world):
    world.add("a", status="failed")
    row_set = RouteRows(world.records)
    assert row_set.column(row_set.frame, "max_load", "").isna().all()


def test_channels_of_chosen_runs(world):
    world.add("a", load=[1, 2])
    world.add("b", load=[5])
    world.add("c", status="timeout")
    channels = RouteRows(world.records).channels([1, 2])
    assert set(channels["run"]) == {1}
    assert channels["load"].tolist() == [5.0] * 8
    assert channels["direction"].tolist()[:2] == ["+X", "-X"]


def test_metrics_have_a_preferred_direction(world):
    world.add("a", metrics={"sigma4": 1.5, "hops": 3})
    row_set = RouteRows(world.records)
    assert row_set.better == {"max_load": "lower", "sigma4": "lower"}
    assert row_set.metrics.set_index("metric").loc["sigma4", "value"] == 1.5


def test_a_filter_after_one_that_leaves_nothing_leaves_nothing(world):
    world.add("bfs", "4", load=[3, 1])
    frame = RouteRows(world.records).select({"routing": "none", "topology": "4"}, [], "")
    assert frame.empty
    assert "max_load" in frame
