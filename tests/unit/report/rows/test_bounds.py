"""Bounds in reports: joined to runs, and told of when they are missing."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from routelab.metrics.bounds import LoadBound, bound_numbers
from routelab.report.page.commands import throughput_command
from routelab.report.page.missing_rows import missing_results, missing_rows
from routelab.report.page.summary import summarize
from routelab.report.rows.routes import RouteRecord
from routelab.report.rows.study_rows import StudyRows
from routelab.results.outcome import Outcome, write_outcome

TABLE = {"multipath": False, "minimal": True, "shortest_legal": True}


def bounded(record: RouteRecord, folder: Path, rules: int | None, network: int) -> RouteRecord:
    """The record with bounds; one of the rules that is 0 has failed."""
    for name, load in (("rules", rules), ("network", network)):
        bound = LoadBound(
            float(load or 0), Fraction(load or 0), "lp", name, 0.1, np.empty(0, np.int64)
        )
        outcome = Outcome("bound", record.topology, name, facts=bound_numbers(bound))
        if load == 0:
            outcome = Outcome("bound", record.topology, name, "failed", "it broke")
        write_outcome(outcome, folder / name / "outcome.json")
    return replace(
        record,
        rules_bound=None if rules is None else folder / "rules",
        network_bound=folder / "network",
    )


def test_runs_have_the_bounds_of_their_rules_and_of_the_network(world, tmp_path) -> None:
    legal = bounded(world.add("bfs", load=[6], facts=TABLE), tmp_path / "a", 6, 4)
    free = bounded(
        world.add("whole", load=[6], facts=TABLE | {"shortest_legal": None}),
        tmp_path / "b",
        None,
        4,
    )
    study_rows = StudyRows([legal, free])
    row_set = study_rows.routes
    columns = ["lower_bound_rules", "lower_bound_topology", "gap", "turn_set"]
    assert row_set.frame[columns].iloc[0].tolist() == [6, 4, 0, "rules"]
    assert row_set.frame[columns].iloc[1].tolist()[1:] == [4, 2, "network"]
    assert "Maximum load proven the least that the rules of a routing allow: 1 of 2 tables." in (
        summarize(study_rows, [])
    )


def test_runs_have_the_bound_for_routes_of_any_length(world, tmp_path) -> None:
    record = bounded(
        world.add("bfs", load=[9], facts=TABLE | {"reachable_pairs": 12}), tmp_path, 6, 4
    )
    bound = LoadBound(5.5, Fraction(6), "lp", "all routes", 0.1, np.empty(0, np.int64))
    facts = bound_numbers(bound) | {"pairs": 12}
    outcome = Outcome("bound", record.topology, "_any", facts=facts)
    write_outcome(outcome, tmp_path / "any/outcome.json")
    record = replace(record, any_length_bound=tmp_path / "any")
    row = StudyRows([record]).routes.frame.iloc[0]
    columns = ["lower_bound_any_length", "gap_any_length", "load_to_bound"]
    assert row[columns].tolist() == [6, 3, 1.5]
    write_outcome(
        replace(outcome, status="failed", reason="it broke"), tmp_path / "any/outcome.json"
    )
    study_rows = StudyRows([record])
    assert study_rows.routes.frame[columns[:2]].isna().all(axis=None)
    assert missing_rows(study_rows)[0]["routing"] == "bound for routes of any length"


def test_a_failed_bound_leaves_empty_columns_and_is_reported(world, tmp_path) -> None:
    study_rows = StudyRows([bounded(world.add("bfs", facts=TABLE), tmp_path, 0, 4)])
    row_set = study_rows.routes
    row = row_set.frame.iloc[0]
    assert row["lower_bound_topology"] == 4
    assert row[["lower_bound_rules", "gap", "optimal", "turn_set"]].isna().all()
    assert "Without a bound: 1 network × rules (rules: it broke)." in summarize(study_rows, [])


def test_a_pending_bound_is_reported(world, tmp_path) -> None:
    record = replace(world.add("bfs", facts=TABLE), network_bound=tmp_path / "torus" / "_network")
    study_rows = StudyRows([record])
    assert [outcome.status for outcome in study_rows.routes.bound_outcomes] == ["not-run"]
    assert "Without a bound: 1 network × rules (_network: not run yet)." in summarize(
        study_rows, []
    )
    assert [loss.sentence for loss in missing_results("s", study_rows)] == [
        "1 of 1 bound of s has not run yet"
    ]


def test_a_bound_that_cannot_be_read_has_failed(world, tmp_path) -> None:
    record = replace(world.add("bfs", facts=TABLE), network_bound=tmp_path / "torus" / "_network")
    (tmp_path / "torus" / "_network").mkdir(parents=True)
    (tmp_path / "torus" / "_network" / "outcome.json").write_text("{")
    (outcome,) = StudyRows([record]).routes.bound_outcomes
    assert (outcome.status, outcome.topology) == ("failed", "torus")
    assert "damaged" in outcome.reason


def throughput(folder: Path, seeds: dict[str, float]) -> None:
    """Write bounds for any routing: of each seed, the line 0.2 + slope × load."""
    numbers = {
        seed: {
            "sustained_bound": slope,
            "accepted": [{"load": 0.8, "accepted_attained": 0.1, "start": 0.2, "slope": slope}],
        }
        for seed, slope in seeds.items()
    }
    facts = {"throughput_by_seed": numbers}
    outcome = Outcome("throughput", "torus~dims=4x2", "uniform", facts=facts)
    write_outcome(outcome, folder / "outcome.json")


def test_simulated_loads_have_the_bounds_of_their_seeds(world, tmp_path) -> None:
    curve = [{"load": 0.4}, {"load": 0.8}]
    throughput(tmp_path / "t/uniform", {"0": 0.25, "1": 0.75, "2": 9})
    record = world.simulate("dor", curve=curve, seeds=2)
    study_rows = StudyRows([], [replace(record, throughput=tmp_path / "t/uniform")])
    rows = study_rows.loads.frame
    assert rows["accepted_bound"].tolist() == [0.4, 0.6000000000000001]
    assert rows["sustained_bound"].tolist() == [0.25, 0.25]
    assert rows["accepted_attained"].fillna(0).tolist() == [0, 0.1]
    # seed 4 has no bound
    other = replace(world.simulate("dor", curve=curve, seed=4), throughput=tmp_path / "t/uniform")
    assert StudyRows([], [other]).loads.frame["accepted_bound"].isna().all()


def test_a_bound_for_any_routing_that_is_missing_is_named_with_its_command(world, tmp_path) -> None:
    record = replace(world.simulate("dor"), throughput=tmp_path / "torus~dims=4x2/uniform")
    study_rows = StudyRows([], [record])
    assert study_rows.loads.frame["accepted_bound"].isna().all()
    assert [loss.sentence for loss in missing_results("s", study_rows)] == [
        "1 of 1 bound of s has not run yet"
    ]
    (outcome,) = study_rows.simulations.throughput_outcomes
    assert throughput_command(record, outcome) == "routelab bound torus~dims=4x2 --traffic uniform"
