from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from routelab.report.page.commands import run_command, study_command
from routelab.report.page.summary import _difference_text, summarize, verdict_counts
from routelab.report.rows.study_rows import StudyRows


def test_a_table_that_is_not_proven_is_said(world):
    world.add("a")
    world.add("b", facts={"deadlock": "cycle"})
    world.add("c", facts={"deadlock": None})
    views = StudyRows(world.records)
    assert summarize(views, [])[1] == (
        "Proven free of deadlock: 1 of 3 route tables; not proven: 1 (cycle), 1 (unproven)."
    )
    assert verdict_counts(views, []) == [
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


def test_what_files_of_networks_have_that_is_not_read_is_said_once(world):
    notes = {"file_notes": "not read: column delay"}
    world.add("dor", facts=notes)
    world.add("sssp", facts=notes)
    world.simulate("dor", facts=notes)
    rows = StudyRows(world.records, world.simulated)
    about_files = [text for text in summarize(rows, []) if "delay" in text]
    assert about_files == ["File of torus~dims=4, torus~dims=4x2: not read: column delay."]
    assert not [text for text in summarize(StudyRows([]), []) if text.startswith("File")]


def test_commands_name_metrics_that_run_only_where_they_are_named(world):
    record = replace(world.add("dor"), metrics=("channel-load", "traffic-load~matrix=a b.csv"))
    assert run_command(record) == (
        "routelab route torus~dims=4 dor --metrics 'channel-load+traffic-load~matrix=a b.csv'"
    )


def test_commands_use_canonical_names_and_shell_quotes(world):
    record = world.add("sssp@angara~turns=exact", alias="mine")
    assert run_command(record) == "routelab route torus~dims=4 sssp@angara~turns=exact"
    nested = world.add("v~base=[dor]")
    assert run_command(nested) == "routelab route torus~dims=4 'v~base=[dor]'"
    choice = "snakemake report --config studies="
    assert study_command(Path("config/studies/angara-table2.yaml")) == f"{choice}angara-table2"
    assert study_command(Path("config/studies/examples/x.yaml")) == f"{choice}x"
    assert study_command(Path("/else/where/x.yaml")) == f"{choice}/else/where/x.yaml"


def test_differences_near_100_per_cent_have_no_exponent():
    values = {"improvement_percent": 99.7, "improvement_low": -99.4, "improvement_high": 120}
    names = {"benchmark": "osu", "topology": "t", "routing": "a", "baseline": "b", "size": 8}
    assert _difference_text(values | names).endswith("(−99 to +120 %)")
    assert _difference_text(values | names).startswith("+100 % by a over b")
