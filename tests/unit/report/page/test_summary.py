from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from routelab.report.page.commands import run_command, study_command
from routelab.report.page.summary import summarize, verdicts
from routelab.report.rows.study_rows import StudyRows
from routelab.report.tables import build_table

PUBLISHED = "routing,nodes,max_load\nbfs,8,48\nsssp,8,28\ngenetic,8,25\n"
TABLE = (
    "tables: {t: {title: Loads, rows: [routing, nodes], values: [max_load], "
    "over: {tie_seed: range}, beside: {reference: table.csv, on: [routing, nodes]}}}\n"
)


@pytest.fixture
def compared(world, write_study):
    for tie, load in enumerate([48, 40, 60]):
        world.add(f"bfs~tie_seed={tie}", "4x2", load=[load], tie_seed=tie)
    for tie, load in enumerate([30, 30, 27]):
        world.add(f"sssp~tie_seed={tie}", "4x2", load=[load], tie_seed=tie)
    world.add("genetic", "4x2", load=[26], tie_seed=0)
    world.add("dor", "4x2", status="unsupported", reason="no", tie_seed=0)
    study = write_study(TABLE, PUBLISHED)
    study_rows = StudyRows(world.records)
    row_set = study_rows.routes
    return study_rows, build_table("t", study.tables["t"], row_set, study.reference, "")


def test_sentences_are_made_from_the_data(compared):
    study_rows, table = compared
    assert summarize(study_rows, [table]) == [
        "8 runs on 1 network: 7 ok, 1 unsupported.",
        "All 7 route tables are proven free of deadlock.",
        (
            "Loads, 3 published numbers: 1 equal to ours as printed, "
            "1 within the range of our runs; ours is higher in 1."
        ),
    ]


def test_a_table_that_is_not_proven_is_said(world):
    world.add("a")
    world.add("b", facts={"deadlock": "cycle"})
    world.add("c", facts={"deadlock": None})
    study_rows = StudyRows(world.records)
    assert summarize(study_rows, [])[1] == (
        "Proven free of deadlock: 1 of 3 route tables; not proven: 1 (cycle), 1 (unproven)."
    )
    assert verdicts(study_rows, []) == [
        ("a", "proven", "bubble", "1", 1),
        ("b", "cycle", "bubble", "1", 1),
        ("c", "", "bubble", "1", 1),
    ]


def test_algorithms_without_tables_have_their_own_verdicts(world):
    world.add("dor")
    for routing, verdict in (("dor", "proven"), ("ugal", "proven if declared"), ("par", None)):
        world.simulate(routing, facts={"deadlock": verdict})
    sentences = summarize(StudyRows(world.records, world.simulated), [])
    assert "The route table is proven free of deadlock." in sentences
    assert (
        "Deadlock freedom of the other routings, in 2 simulations: 1 proven if declared, "
        "1 unproven." in sentences
    )


def test_simulated_routers_are_named_once(world):
    for routing in ("dor", "sssp"):
        world.simulate(routing, router="combined", vcs=2, buffer_flits=16)
        world.simulate(routing, router="input-queued", vcs=2, buffer_flits=16, priority="random")
    study_rows = StudyRows(world.records, world.simulated)
    assert (
        "Simulated routers: combined input and output queues with speed-up 2, 2 virtual channels "
        "of 16 flits at inputs and 96 at outputs, virtual cut-through, packets of 1 flit; "
        "input-queued, 2 virtual channels of 16 flits, virtual cut-through, packets of 1 flit."
        in summarize(study_rows, [])
    )


def test_verdicts_count_pooled_runs_together(compared):
    study_rows, _ = compared
    assert verdicts(study_rows, ["tie_seed"])[:2] == [
        ("bfs", "proven", "bubble", "1", 3),
        ("sssp", "proven", "bubble", "1", 3),
    ]


def test_commands_name_metrics_that_run_only_where_they_are_named(world):
    record = replace(world.add("dor"), metrics=("channel-load", "traffic-load~matrix=a b.csv"))
    assert run_command(record) == (
        "routelab route torus~dims=4 dor --metrics 'channel-load+traffic-load~matrix=a b.csv'"
    )


def test_commands_use_canonical_names_and_quote_what_a_shell_would_change(world):
    record = world.add("sssp@angara~turns=exact", alias="mine")
    assert run_command(record) == "routelab route torus~dims=4 sssp@angara~turns=exact"
    nested = world.add("v~base=[dor]")
    assert run_command(nested) == "routelab route torus~dims=4 'v~base=[dor]'"
    choice = "snakemake report --config studies="
    assert study_command(Path("config/studies/angara-table2.yaml")) == f"{choice}angara-table2"
    assert study_command(Path("config/studies/examples/x.yaml")) == f"{choice}x"
    assert study_command(Path("/else/where/x.yaml")) == f"{choice}/else/where/x.yaml"
