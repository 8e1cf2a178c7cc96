"""Figures that compare runs: improvements, bounds, Pareto fronts and heat maps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from routelab.api import InputError
from routelab.report.figures.kinds import draw_figure
from routelab.report.figures.kinds.scatter import pareto_front
from routelab.report.figures.request import FigureRequest
from routelab.report.rows.routes import RouteRows
from routelab.study import Figure, load_reference
from routelab.study.views import Beside

IMPROVEMENT = Figure(
    kind="improvement",
    x="nodes",
    y="improvement_percent",
    relative={"to": "bfs", "column": "max_load"},
)
BOUND = Figure(kind="bound", x="nodes", y="max_load", bound="lower_bound_rules")
PARETO = Figure(kind="scatter", x="max_load", y="sigma4", front=True)
HEAT = Figure(kind="heat", x="nodes", y="routing", colour="max_load")
SPECS = [
    *(IMPROVEMENT, BOUND, PARETO, HEAT),
    *(Figure(kind="ecdf", x="load"), Figure(kind="network", colour="load")),
    Figure(kind="line", x="nodes", y="max_load"),
]


def drawn(world, spec, pooled=()):
    return draw_figure(FigureRequest(spec, RouteRows(world.records), pooled, "here: "))


@pytest.fixture
def runs(world):
    """Two networks; the baseline has 12 and 30, `sssp` two seeds, `dor` is worse on one."""
    for dims, loads in (("4", (12, 10, 8, 12)), ("4x2", (30, 20, 25, 40))):
        names = ("bfs", "sssp~seed=1", "sssp~seed=2", "dor")
        for name, load in zip(names, loads, strict=True):
            seed = {"seed": int(name[-1])} if name[-1].isdigit() else {}
            facts = {"lower_bound_rules": 8 if dims == "4" else 16}
            metrics = {"sigma4": 40.0 - load}
            world.add(name, dims, load=[load], facts=facts, metrics=metrics, **seed)
    return world


def test_an_improvement_is_the_median_over_all_pairs_with_their_range(runs):
    drawing = drawn(runs, IMPROVEMENT, ["seed"])
    rows = drawing.data.set_index(["routing", "nodes"])
    pairs = {
        ("sssp", 4): [100 * (12 / 10 - 1), 100 * (12 / 8 - 1)],
        ("sssp", 8): [100 * (30 / 20 - 1), 100 * (30 / 25 - 1)],
        ("dor", 4): [0.0],
        ("dor", 8): [100 * (30 / 40 - 1)],
    }
    assert set(rows.index) == set(pairs)
    for key, values in pairs.items():
        expected = [np.median(values), min(values), max(values), len(values)]
        assert rows.loc[key].tolist() == pytest.approx(expected)


def test_the_dot_of_the_baseline_is_on_its_line(runs):
    relative = {"to": "sssp", "column": "max_load", "median": True}
    spec = Figure(kind="improvement", x="nodes", y="improvement_percent", relative=relative)
    rows = drawn(runs, spec, ["seed"]).data.set_index(["routing", "nodes"])
    # two runs on each network: the lower median is the better one, in tables and here
    assert rows["improvement_percent"].loc["sssp"].tolist() == [0, 0]
    assert rows["improvement_percent"].loc["bfs"].tolist() == pytest.approx([-100 / 3, -100 / 3])


def test_a_bound_is_beside_the_value_and_the_gap_is_relative_to_it(runs):
    drawing = drawn(runs, BOUND, ["seed"])
    rows = drawing.data.set_index(["routing", "nodes"])
    # the median of a table's cell, and the range of its runs
    names = ["max_load", "max_load_low", "max_load_high", "lower_bound_rules", "gap_percent"]
    assert rows.loc[("sssp", 8), names].tolist() == [20, 20, 25, 16, 25]
    axis = drawing.figure.axes[0]
    heights = sorted(bar.get_height() for bar in axis.patches)
    assert heights == sorted(drawing.data["max_load"])
    assert {text.get_text() for text in axis.texts} == {"50 %", "88 %", "0 %", "25 %", "150 %"}


SOURCE = "key: demo\ntitle: T\nauthors: [A]\ntables: {loads.csv: Loads}\n"


def test_published_values_are_marked_on_their_bars(runs, tmp_path):
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo/citation.yaml").write_text(SOURCE)
    text = "routing,nodes,max_load\nbfs,4,11\ndor,8,33.5\nother,4,1\n"
    (tmp_path / "demo/loads.csv").write_text(text)
    spec = BOUND.model_copy(
        update={"beside": Beside(reference="loads.csv", on=["routing", "nodes"])}
    )
    request = FigureRequest(spec, RouteRows(runs.records), ["seed"], "here: ")
    cited = replace(request, reference=load_reference(tmp_path / "demo"))
    drawing = draw_figure(cited)
    published = drawing.data.set_index(["routing", "nodes"])["published"]
    assert published.dropna().to_dict() == {("bfs", 4): 11, ("dor", 8): 33.5}
    axis = drawing.figure.axes[0]
    bars = {(bar.get_x() + bar.get_width() / 2, bar.get_height()) for bar in axis.patches}
    marks = [tuple(mark) for points in axis.collections for mark in points.get_offsets().tolist()]
    published_marks = {(x, y) for x, y in marks if y in (11, 33.5)}
    assert len(published_marks) == 2
    places = {round(x, 6) for x, _ in bars}
    assert all(round(x, 6) in places for x, _ in published_marks)
    with pytest.raises(InputError, match="the study cites no reference"):
        draw_figure(request)


def test_published_improvements_are_marked_also_where_a_column_has_another_name(runs, tmp_path):
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo/citation.yaml").write_text(SOURCE)
    (tmp_path / "demo/loads.csv").write_text("routing,size,improvement_percent\nsssp,8,33\n")
    beside = Beside(reference="loads.csv", on=["routing", "size"])
    spec = IMPROVEMENT.model_copy(update={"beside": beside, "names": {"size": "nodes"}})
    reference = load_reference(tmp_path / "demo")
    request = FigureRequest(spec, RouteRows(runs.records), ["seed"], "here: ", reference=reference)
    drawing = draw_figure(request)
    published = drawing.data.set_index(["routing", "nodes"])["published"]
    assert published.dropna().to_dict() == {("sssp", 8): 33}
    marks = [mark for points in drawing.figure.axes[0].collections for mark in points.get_offsets()]
    assert 33 in [y for _, y in marks]
    spec = spec.model_copy(update={"names": {}})
    with pytest.raises(InputError, match="beside: on: the figure has no size"):
        draw_figure(replace(request, spec=spec))


def test_a_pareto_front_is_drawn_in_the_preferred_directions(runs):
    data = drawn(runs, PARETO.model_copy(update={"where": {"nodes": 4}})).data
    # more load always has less deviation here, so nothing dominates
    assert data["front"].all()
    runs.add("bad", "4", load=[12], facts={"lower_bound_rules": 8}, metrics={"sigma4": 28.5})
    drawing = drawn(runs, PARETO.model_copy(update={"where": {"nodes": 4}}))
    assert drawing.data.set_index("routing")["front"].to_dict() == {
        "bfs": True,
        "sssp~seed=1": True,
        "sssp~seed=2": True,
        "dor": True,
        "bad": False,
    }
    named = {text.get_text() for text in drawing.figure.axes[0].texts}
    assert named == {"bfs", "sssp~seed=1", "sssp~seed=2", "dor"}


COSTS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12)


@given(COSTS)
def test_the_front_equals_its_naive_twin(costs):
    naive = [
        not any(other[0] <= cost[0] and other[1] <= cost[1] and other != cost for other in costs)
        for cost in costs
    ]
    assert pareto_front(costs) == naive


def test_a_heat_map_of_runs_has_a_number_in_each_field(runs):
    drawing = drawn(runs, HEAT, ["seed"])
    axis = drawing.figure.axes[0]
    means = drawing.data.set_index(["routing", "nodes"])["max_load"].to_dict()
    assert means[("sssp", 4)] == 9
    rows, columns = ["bfs", "sssp", "dor"], [4, 8]
    shown = {
        (rows[int(text.get_position()[1])], columns[int(text.get_position()[0])]): text
        for text in axis.texts
    }
    assert {key: float(text.get_text()) for key, text in shown.items()} == pytest.approx(
        means, abs=0.05
    )


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.kind)
def test_nothing_is_drawn_without_results(world, spec):
    for routing in ("bfs", "dor"):
        world.add(routing, status="failed")
    assert drawn(world, spec) is None
