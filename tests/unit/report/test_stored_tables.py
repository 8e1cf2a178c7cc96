"""Tables that are read from their CSV files."""

from __future__ import annotations

import pytest

from routelab.report.rows.routes import RouteRows
from routelab.report.stored_tables import table_from_csv
from routelab.report.table_formats import layout, to_csv
from routelab.report.tables import build_table

BESIDE = "beside: {reference: table.csv, on: [routing, nodes], prefix: printed_}"
TABLES = {
    "plain": "rows: [routing, nodes], values: [max_load, min_load]",
    "pooled": "rows: [routing, nodes], values: [min_load, max_load], over: {seed: range}, "
    f"{BESIDE}",
    "counted": "rows: [routing], values: [max_load], over: {seed: range}, count: true",
    "pivot": "rows: [nodes], values: [topology], pivot: {by: routing, value: max_load}, "
    "over: {seed: range}",
    "pivots": "rows: [nodes], pivot: {by: routing, value: [max_load, min_load], groups: names}, "
    f"over: {{seed: range}}, {BESIDE}",
    "statistics": "rows: [routing], statistics: {max_load: [mean, max, argmax]}, "
    "over: {seed: range}",
}
PUBLISHED = "routing,nodes,max_load,remark\nx_low,4,7,=why\nbfs,5,9,\n"


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_read_as_it_was_written(world, write_study, name):
    for seed, load in enumerate([7, 9, 8] if name != "plain" else [7]):
        for dims in ("4", "5"):
            world.add(f"bfs~seed={seed}", dims, load=[load, 1], alias="bfs", seed=seed)
            world.add(f"dor~seed={seed}", dims, load=[load + 0.25, 2], alias="x_low", seed=seed)
    study = write_study(f"tables: {{t: {{{TABLES[name]}}}}}\n", PUBLISHED)
    spec = study.tables["t"]
    table = build_table("t", spec, RouteRows(world.records), study.reference, "")
    stored = table_from_csv("t", spec, to_csv(table))
    assert stored.columns == table.columns
    assert to_csv(stored) == to_csv(table)
    texts = [
        [[str(cell) for cell in row] for row in layout(content).rows] for content in (stored, table)
    ]
    assert texts[0] == texts[1]


def test_columns_that_the_study_no_longer_has_are_left_out(write_study):
    spec = write_study("tables: {t: {rows: [routing], values: [max_load]}}\n").tables["t"]
    stored = table_from_csv("t", spec, "routing,max_load,old\nbfs,7,1\n")
    assert [column.name for column in stored.columns] == ["routing", "max_load"]
