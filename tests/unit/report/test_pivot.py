"""Tables with a column for each routing."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from routelab.api import InputError
from routelab.report.rows.routes import RouteRows
from routelab.report.table_formats import layout, to_csv, to_latex
from routelab.report.tables import build_table
from routelab.study import Table

STUDY = "tables: {t: {rows: [topology], values: [nodes], pivot: {by: routing, value: max_load}}}\n"


def built(text, world, write_study):
    study = write_study(text)
    return build_table("t", study.tables["t"], RouteRows(world.records), None, "t: ")


@pytest.fixture
def loads(world):
    """Two networks and three routings; ``minimal`` is the name of a column, too."""
    for dims, values in (("4", (6, 5, 9)), ("5", (8, 8, None))):
        for routing, load in zip(("minimal", "bfs", "genetic"), values, strict=True):
            if load is None:
                world.add(routing, dims, status="unsupported", reason="no")
            else:
                world.add(routing, dims, load=[load])
    return world


def test_the_note_on_a_lost_run_names_its_column(loads, write_study):
    (note,) = built(STUDY, loads, write_study).notes
    assert "genetic" in note


def test_the_best_of_each_row_is_bold_in_every_format(loads, write_study):
    table = built(STUDY, loads, write_study)
    shown = layout(table)
    assert [(group.text, group.span) for group in shown.groups][2:] == [("maximum channel load", 3)]
    assert [heading.text for heading in shown.headings] == ["", "", "minimal", "bfs", "genetic"]
    bold = [[cell.text for cell in row if cell.best] for row in shown.rows]
    assert bold == [["5"], ["8", "8"]]  # less is better; equal as printed
    assert r"6 & \textbf{5} & 9 \\" in to_latex(table)
    assert to_csv(table).splitlines()[0] == "topology,nodes,minimal,bfs,genetic"
    assert to_csv(table).splitlines()[2].endswith(",8,8,")


def test_other_values_are_the_same_for_all_of_a_row(loads, write_study):
    text = STUDY.replace("[nodes]", "[min_load]")
    with pytest.raises(InputError, match="min_load is not the same for each routing of a row"):
        built(text, loads, write_study)


def test_a_routing_named_like_a_column_of_the_table_is_refused(world, write_study):
    world.add("nodes", "4", load=[6])
    with pytest.raises(InputError, match="pivot: nodes is a column of the table, too"):
        built(STUDY, world, write_study)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"count": True}, "pivot cannot be combined with count"),
        ({"values": ["max_load"]}, "pivot.value names a column twice, or one that is in values"),
        ({"beside": {"reference": "a.csv", "on": ["nodes"]}}, "beside.on names nodes"),
        ({"rows": ["topology", "routing"]}, "pivot.by is routing, which is also in rows"),
        ({"statistics": {"max_load": ["min"]}}, "a table needs either values or statistics"),
    ],
)
def test_a_pivot_excludes_keys_that_add_columns(keys, message):
    pivot = {"by": "routing", "value": "max_load"}
    with pytest.raises(ValidationError, match=message):
        Table.model_validate({"rows": ["topology"], "pivot": pivot, **keys})


SEVERAL = """
tables:
  plain:
    rows: [nodes, routing]
    values: [max_load, sigma4]
    over: {seed: range}
    beside: {reference: table.csv, on: [nodes, routing]}
  t:
    rows: [nodes]
    over: {seed: range}
    beside: {reference: table.csv, on: [nodes, routing]}
    pivot: {by: routing, value: [max_load, sigma4], groups: GROUPS}
"""
PUBLISHED = "nodes,routing,max_load\n4,bfs,5\n4,genetic,8\n5,bfs,9\n"


@pytest.fixture
def seeds(world):
    """Two networks, three routings, and two seeds of one of them."""
    for dims, more in (("4", 0), ("5", 1)):
        world.add("bfs", dims, load=[5 + more], metrics={"sigma4": 1.5})
        for seed in (1, 2):
            load = [6 + more + seed]
            world.add(f"genetic~seed={seed}", dims, load=load, metrics={"sigma4": 1.25}, seed=seed)
        world.add("dor", dims, load=[7], metrics={"sigma4": 2.0})
    return world


@pytest.mark.parametrize("groups", ["names", "values"])
def test_a_pivot_holds_the_numbers_of_the_table_without_it(groups, seeds, write_study):
    study = write_study(SEVERAL.replace("GROUPS", groups), PUBLISHED)
    plain, table = (
        build_table(name, study.tables[name], RouteRows(seeds.records), study.reference, "t: ")
        for name in ("plain", "t")
    )
    expected = {
        (row["nodes"], row["routing"], column.name): row[column.name]
        for row in plain.rows
        for column in plain.columns
        if column.role not in ("row", "runs")
    }
    pivoted = {
        (row["nodes"], column.by, column.source): row.get(column.name)
        for row in table.rows
        for column in table.columns
        if column.by
    }
    unpublished = {(nodes, "dor", "paper_max_load") for nodes in (4, 5)}
    assert pivoted == {key: value for key, value in expected.items() if key not in unpublished}
    header, first, _ = to_csv(table).splitlines()
    cells = dict(zip(header.split(","), first.split(","), strict=True))
    assert cells["max_load (genetic)"] == "7"
    assert cells["max_load_high (genetic)"] == "8"
    assert cells["paper_max_load (bfs)"] == "5"
