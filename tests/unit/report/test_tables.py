from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from routelab.api import InputError
from routelab.report.rows.routes import RouteRows
from routelab.report.tables import build_table
from routelab.results.outcome import read_outcome, write_outcome

PUBLISHED = "routing,nodes,sigma4,max_load\nbfs,4,0.5,6\nbfs,8,,9\nother,4,1,1\n"


def built(study, world, name="t"):
    place = study.place("tables", name)
    return build_table(name, study.tables[name], RouteRows(world.records), study.reference, place)


def column(table, name):
    return [row.get(name) for row in table.rows]


def test_runs_pool_to_the_lower_median_and_the_range(world, write_study):
    for seed, load in enumerate([9, 3, 7, 5]):
        world.add(f"genetic~seed={seed}", load=[load], seed=seed)
    for tie, load in enumerate([28, 30, 27, 28, 29]):
        world.add(f"sssp~tie_seed={tie}", load=[load], tie_seed=tie)
    study = write_study(
        "tables:\n  t: {rows: [routing, nodes], values: [max_load], "
        "over: {seed: median, tie_seed: range}}\n"
    )
    table = built(study, world)
    assert column(table, "routing") == ["genetic", "sssp"]
    assert column(table, "max_load") == [5, 28]
    assert column(table, "max_load_low") == [5, 27]
    assert column(table, "max_load_high") == [5, 30]
    assert column(table, "runs") == [4, 5]


def test_medians_come_before_the_range(world, write_study):
    loads = {(0, 0): 1, (0, 1): 2, (0, 2): 99, (1, 0): 10, (1, 1): 20, (1, 2): 30}
    for (tie, seed), load in loads.items():
        world.add(f"g~seed={seed},tie_seed={tie}", load=[load], seed=seed, tie_seed=tie)
    study = write_study(
        "tables: {t: {rows: [routing], values: [max_load], "
        "over: {seed: median, tie_seed: range}}}\n"
    )
    (row,) = built(study, world).rows
    assert (row["max_load"], row["max_load_low"], row["max_load_high"]) == (2, 2, 20)


def test_the_mean_of_truth_values_is_a_share(world, write_study):
    for seed, routable in enumerate([1, 0, 1, 1]):
        world.add(f"g~seed={seed}", metrics={"routable": routable}, load=[seed], seed=seed)
    world.add("g~seed=4", status="timeout", seed=4)
    study = write_study(
        "tables: {t: {rows: [routing], values: [routable, max_load], over: {seed: mean}}}\n"
    )
    table = built(study, world)
    (row,) = table.rows
    assert (row["routable"], row["max_load"], row["runs"]) == (0.75, 1.5, 4)
    assert table.averages
    assert len(table.notes) == 1


def test_means_come_before_medians_and_the_range(world, write_study):
    loads = {0: [1, 2], 1: [10, 30], 2: [5, 5]}
    for tie, seed_loads in loads.items():
        for seed, load in enumerate(seed_loads):
            world.add(f"g~seed={seed},tie_seed={tie}", load=[load], seed=seed, tie_seed=tie)
    text = "tables: {t: {rows: [routing], values: [max_load], over: {seed: mean, tie_seed: %s}}}\n"
    (row,) = built(write_study(text % "range"), world).rows
    assert (row["max_load"], row["max_load_low"], row["max_load_high"]) == (5, 1.5, 20)
    (row,) = built(write_study(text % "median"), world).rows
    assert row["max_load"] == 5
    assert "max_load_low" not in row


def test_words_have_no_mean(world, write_study):
    world.add("bfs", "4", tie_seed=0)
    study = write_study(
        "tables: {t: {rows: [routing], values: [deadlock], over: {tie_seed: mean}}}\n"
    )
    with pytest.raises(InputError, match=r"tables.t: values: column 'deadlock' holds words"):
        built(study, world)


def test_published_numbers_join_on_keys_and_leave_gaps(world, write_study):
    for dims in ("4x2x2", "4x2", "4"):
        world.add("bfs", dims, load=[6])
    study = write_study(
        "tables: {t: {rows: [routing, nodes], values: [max_load], "
        "beside: {reference: table.csv, on: [routing, nodes], prefix: theirs_}}}\n",
        PUBLISHED,
    )
    table = built(study, world)
    assert column(table, "nodes") == [4, 8, 16]
    assert column(table, "theirs_max_load") == [6, 9, None]
    assert column(table, "theirs_sigma4") == [0.5, None, None]


def test_a_published_row_that_stands_twice_is_refused(world, write_study):
    world.add("bfs", "4")
    study = write_study(
        "tables: {t: {rows: [routing], values: [max_load], "
        "beside: {reference: table.csv, on: [routing]}}}\n",
        PUBLISHED,
    )
    with pytest.raises(InputError, match=r"demo.yaml:\d+: tables.t: .*two rows for bfs"):
        built(study, world)


def test_counting_shows_the_distribution_of_results(world, write_study):
    for tie, load in enumerate([[28, 8], [27, 9], [28, 8], [28, 7]]):
        world.add(f"sssp~tie_seed={tie}", load=load, tie_seed=tie)
    world.add("sssp~tie_seed=4", status="timeout", tie_seed=4)
    study = write_study(
        "tables: {t: {rows: [routing], values: [max_load, min_load], "
        "over: {tie_seed: range}, count: true}}\n"
    )
    table = built(study, world)
    assert [(r["max_load"], r["min_load"], r["runs"]) for r in table.rows] == [
        (27, 9, 1),
        (28, 7, 1),
        (28, 8, 2),
    ]
    assert table.notes == ("Without a result: 1 of 5 runs of sssp (reached a limit: because)",)


def test_failed_runs_and_runs_without_some_values_are_both_noted(world, write_study):
    world.add("sssp~tie_seed=0", load=[3], metrics={"sigma4": 2.0}, tie_seed=0)
    world.add("sssp~tie_seed=1", status="timeout", tie_seed=1)
    half = world.add("sssp~tie_seed=2", load=[4], tie_seed=2)
    (half.metrics_directory / "metrics.csv").write_text("metric,value,unit,better\n")
    path = half.metrics_directory / "outcome.json"
    outcome = read_outcome(path)
    write_outcome(replace(outcome, status="failed", reason="half", files={"metrics.csv": {}}), path)
    study = write_study(
        "tables: {t: {rows: [routing], values: [sigma4], over: {tie_seed: median}}}\n"
    )
    first, second = built(study, world).notes
    assert first.startswith("Without a result: 1 of 3 runs of sssp")
    assert second.startswith("Without some values: 1 of 3 runs of sssp")


def test_rows_that_mix_different_things_are_refused(world, write_study):
    world.add("bfs~ties=a", ties="a")
    world.add("bfs~ties=b", ties="b")
    study = write_study("tables: {t: {rows: [nodes], values: [max_load]}}\n")
    with pytest.raises(
        InputError, match=r"rows nodes do not distinguish bfs~ties=a .* from bfs~ties=b"
    ):
        built(study, world)


def test_a_row_whose_runs_all_failed_stays_with_a_note(world, write_study):
    world.add("bfs", "4", status="unsupported", reason="needs a ring")
    world.add("dor", "4", load=[2])
    study = write_study("tables: {t: {rows: [routing, nodes], values: [max_load]}}\n")
    table = built(study, world)
    assert column(table, "nodes") == [4, 4]
    assert column(table, "max_load") == [None, 2]
    assert table.notes == (
        "Without a result: 1 of 1 runs of bfs, nodes 4 (unsupported: needs a ring)",
    )


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("rows: [routing], values: [max_laod]", "no column 'max_laod'; did you mean 'max_load'"),
        ("rows: [rooting], values: [max_load]", "no column 'rooting'; did you mean 'routing'"),
        ("rows: [routing], values: [max_load], over: {sed: median}", "over: no parameter 'sed'"),
        ("rows: [routing], values: [max_load], where: {foo: 1}", "where: no column 'foo'"),
    ],
)
def test_mistakes_name_their_place(world, write_study, spec, message):
    world.add("bfs", seed=1)
    study = write_study(f"tables:\n  t: {{{spec}}}\n")
    with pytest.raises(InputError, match=rf"demo.yaml:5: tables.t: .*{message}"):
        built(study, world)


@given(loads=st.lists(st.integers(1, 9), min_size=1, max_size=8))
@settings(
    max_examples=20,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_every_pooled_number_was_attained_by_a_run(loads, tmp_path_factory, world, write_study):
    world.results = tmp_path_factory.mktemp("world")
    world.records = []
    for tie, load in enumerate(loads):
        world.add(f"sssp~tie_seed={tie}", "2", load=[load, load - 1], tie_seed=tie)
    study = write_study(
        "tables: {t: {rows: [routing], values: [max_load, min_load], over: {tie_seed: range}}}\n"
    )
    table = built(study, world)
    frame = RouteRows(world.records).frame
    for row in table.rows:
        assert row["max_load_low"] <= row["max_load"] <= row["max_load_high"]
        for value in ("max_load", "min_load"):
            attained = set(frame[value])
            assert {row[value], row[f"{value}_low"], row[f"{value}_high"]} <= attained
