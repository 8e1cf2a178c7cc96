"""Statistics of many runs, comparisons between routings, and columns made from others."""

from __future__ import annotations

import pytest

from routelab.api import InputError
from routelab.report.figures.kinds import draw_figure
from routelab.report.figures.request import FigureRequest
from routelab.report.rows.routes import RouteRows
from routelab.report.tables import build_table
from routelab.study import Figure, Table

KINDS = ("ratio_mean", "ratio_total", "gain_total")


@pytest.fixture
def three(world):
    """Two routings on three networks, one of them also under another reading."""
    loads = {"4x2": (6, 8, 4), "2x4": (5, 5, 5), "3x3": (9, 6, 6)}
    for dims, (sssp, bfs, other) in loads.items():
        facts = {"gap": sssp - 5, "optimal": sssp == 5}
        world.add("sssp", dims, load=[sssp], facts=facts, tie_seed=0)
        world.add("bfs", dims, load=[bfs], sort="sum")
        world.add("bfs~sort=min", dims, load=[other], sort="min")
    return world


def built(world, **spec):
    table = build_table("t", Table(**spec), RouteRows(world.records), None, "here: ")
    return [{key: row[key] for key in row if key != "routing"} for row in table.rows], table


def test_statistics_are_over_all_networks(three):
    rows, _ = built(
        three,
        rows=["routing"],
        statistics={"max_load": ["mean", "median", "min", "max", "sum"], "optimal": ["share"]},
        where={"routing": "sssp"},
    )
    assert rows == [
        {
            "max_load_mean": pytest.approx(20 / 3),
            "max_load_median": 6,
            "max_load_min": 5,
            "max_load_max": 9,
            "max_load_sum": 20,
            "optimal_share": pytest.approx(1 / 3),
            "systems": 3,
        }
    ]


def test_extremes_name_their_networks(three):
    rows, _ = built(
        three,
        rows=["sizes"],
        statistics={"max_load": ["min", "argmin", "max", "argmax"]},
        where={"routing": "sssp"},
    )
    first = {"max_load_min": 5, "max_load_argmin": "2x4", "max_load_max": 6}
    assert rows[0] == {"sizes": "4x2", **first, "max_load_argmax": "4x2", "systems": 2}
    assert (rows[1]["sizes"], rows[1]["max_load_argmin"]) == ("3x3", "3x3")


def test_a_comparison_is_with_the_same_network(three):
    spec = {"rows": ["dims"], "where": {"routing": "sssp"}}
    rows, _ = built(
        three,
        **spec,
        relative={"to": "bfs", "column": "max_load"},
        values=["max_load_reference", "max_load_ratio", "max_load_gain", "max_load_group"],
    )
    assert [tuple(row.values())[2:] for row in rows] == [
        (8, 0.75, 25.0, "less"),
        (5, 1.0, 0.0, "equal"),
        (6, 1.5, -50.0, "greater"),
    ]


def test_totals_are_of_the_sums_and_ranges_over_settings(three):
    rows, table = built(
        three,
        rows=["routing", "relative_to"],
        relative={"to": "bfs", "column": "max_load"},
        statistics={"max_load_ratio": ["mean", "total"], "max_load_gain": ["total", "argmax"]},
        where={"routing": "sssp"},
        over={"sort": "range", "tie_seed": "range"},
    )
    (row,) = rows
    ends = [f"max_load_{what}_{end}" for what in KINDS for end in ("low", "high")]
    assert [column.name for column in table.columns if column.role in ("low", "high")] == ends
    assert row["max_load_gain_argmax"] == "4x2"
    # 20 against 19 under the first reading, 20 against 15 under the other
    assert (row["max_load_ratio_total_low"], row["max_load_ratio_total_high"]) == (
        pytest.approx(20 / 19),
        pytest.approx(20 / 15),
    )
    assert row["max_load_ratio_mean"] == pytest.approx((0.75 + 1 + 1.5) / 3)
    assert row["max_load_gain_total_low"] == pytest.approx(100 * (1 - 20 / 15))
    assert row["systems"] == 3


def test_groups_are_in_order_and_hold_every_system_once(three):
    spec = Figure(
        kind="bar",
        x="max_load_group",
        y="max_load_ratio",
        statistic="total",
        mark=1,
        relative={"to": "bfs", "column": "max_load"},
        where={"routing": "sssp"},
    )
    data = draw_figure(FigureRequest(spec, RouteRows(three.records), (), "here: ")).data
    assert data.to_numpy().tolist() == [
        ["sssp", "less", 0.75, 1],
        ["sssp", "equal", 1.0, 1],
        ["sssp", "greater", 1.5, 1],
    ]


def test_columns_that_follow_from_sizes_and_bounds(three):
    frame = RouteRows(three.records).frame
    assert frame["dimensions"].tolist() == [2] * 9
    assert frame["smallest_size"].tolist() == [2] * 6 + [3] * 3
    assert frame["sizes"].tolist() == ["4x2"] * 6 + ["3x3"] * 3
    # a gap of one route is near, whatever the bound; of four on five it is not
    assert frame["near_optimal"].dropna().tolist() == [True, True, False]
    assert frame["gap_percent"].dropna().tolist() == [20, 0, 80]


def test_rows_are_chosen_by_limits(three):
    rows, _ = built(
        three, rows=["dims"], values=["max_load"], where={"routing": "sssp", "nodes": {"max": 8}}
    )
    assert [row["dims"] for row in rows] == ["4x2", "2x4"]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            {"relative": {"to": "dor", "column": "max_load"}, "values": ["max_load_ratio"]},
            "here: relative: no routing 'dor'; there are sssp, bfs, bfs~sort=min",
        ),
        (
            {"relative": {"to": "bfs", "column": "maxload"}, "values": ["max_load"]},
            "here: relative: no column 'maxload'; did you mean 'max_load'?",
        ),
        (
            {
                "relative": {"to": ["bfs", "bfs~sort=min"], "column": "max_load"},
                "values": ["max_load_ratio"],
            },
            "here: relative: several runs to compare with; name one routing",
        ),
        (
            {"statistics": {"max_load": ["share"]}},
            "'max_load' is not a truth value and has no share",
        ),
        ({"statistics": {"max_load": ["total"]}}, "'max_load' has no total; only ratios"),
        ({"statistics": {"dims": ["mean"]}}, "column 'dims' holds words, numbers are needed"),
        ({"statistics": {"loda": ["mean"]}}, "here: statistics: no column 'loda'"),
    ],
)
def test_undefined_statistics_are_rejected(three, spec, message):
    with pytest.raises(InputError) as raised:
        built(three, rows=["routing"], **spec)
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({}, "a table needs either values or statistics"),
        (
            {"values": ["a"], "statistics": {"a": ["min"]}},
            "a table needs either values or statistics",
        ),
        ({"statistics": {"a": ["min"]}, "count": True}, "statistics cannot be combined with count"),
        ({"values": ["a"], "where": {"a": {}}}, "add min, max or both"),
        ({"statistics": {"a": ["mode"]}}, "Input should be"),
    ],
)
def test_tables_that_contradict_themselves_are_refused(spec, message):
    with pytest.raises(ValueError, match=message):
        Table(rows=["routing"], **spec)
