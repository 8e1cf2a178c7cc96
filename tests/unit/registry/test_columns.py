"""Columns are declared where they are produced, and the registry collects them."""

from __future__ import annotations

import inspect

import pytest

from routelab import __version__
from routelab.api import Column, MetricPlugin, PluginError
from routelab.registry.catalogue import installed_catalogue
from routelab.registry.columns import (
    Columns,
    columns_of,
    core_columns,
    default_metrics,
    installed_columns,
    left_out_metrics,
    metric_clashes,
    only_columns_of,
    plugin_columns,
)
from routelab.registry.instances import load
from routelab.report.labels import label, number_text
from routelab.routing.route import route_network
from routelab.routing.routing import Routing
from routelab.toolkit import build_grid


def test_the_first_declaration_counts_and_rows_are_apart():
    first, second = Column("load", "one"), Column("load", "two", of=("routes", "loads"))
    columns = Columns([first, second])
    assert columns.find("load", "routes") is first
    assert columns.find("load", "loads") is second
    assert columns.find("load") is first
    assert columns.find("load", "flows") is None
    assert columns.rows_of("load") == ["routes", "loads"]
    assert list(columns) == [first, second]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"name": "two words"}, "the name must consist of letters, digits and underscores"),
        ({"meaning": ""}, "the meaning is missing or ends with a full stop"),
        ({"meaning": "Ends here."}, "the meaning is missing or ends with a full stop"),
        ({"better": "up"}, "better is 'up', expected 'lower', 'higher' or ''"),
        ({"seeds": "median"}, "seeds is 'median', expected mean"),
        ({"of": ("tables",)}, "of is ('tables',), expected some of routes"),
        ({"of": ()}, "of is (), expected some of routes"),
        ({"meaning": 3}, "meaning is 3, expected a text"),
        ({"unit": None, "name": 7}, "name is 7, expected a text; unit is None, expected a text"),
        ({"of": "routes"}, "of is 'routes', expected a tuple of texts"),
        ({"shown": ("everywhere",)}, "shown is ('everywhere',), expected some of evaluate"),
    ],
)
def test_a_wrong_column_says_where_it_is_declared(wrong, message):
    column = Column(**{"name": "x", "meaning": "something"} | wrong)
    assert message in column.problem
    name, line = wrong.get("name", "x"), inspect.currentframe().f_lineno - 2
    assert column.problem.startswith(f"column {name!r} in {__file__}, line {line}: ")
    assert column.problem != "" == Column("x", "something").problem


METRIC = """
from routelab.api import Column, MetricPlugin


class {0}(MetricPlugin):
    name = "{1}"
    summary = "Says 1"
    columns = (Column("{2}", "one"),)

    def measure(self, table, graph):
        return []
"""


def test_a_wrong_column_costs_its_plugin_and_not_the_others_of_the_module(site):
    source = METRIC.format("Good", "good", "good") + METRIC.format("Bad", "bad", "two words")
    site.install("pair", {"metric": {"good": "pair:Good", "bad": "pair:Bad"}}, {"pair.py": source})
    entries = {entry.key: entry for entry in site.catalogue().entries("metric")}
    assert entries["good"].status == "ok"
    assert entries["bad"].status == "broken"
    line = source[: source.index('Column("two words"')].count("\n") + 1
    assert f"column 'two words' in {site.folder}/pair.py, line {line}: the" in entries["bad"].cause


def test_columns_that_are_none_name_the_class(site):
    source = METRIC.format("Bad", "bad", "x").replace('(Column("x", "one"),)', "7")
    site.install("lone", {"metric": {"bad": "lone:Bad"}}, {"lone.py": source})
    (cause,) = [entry.cause for entry in site.catalogue().entries("metric") if entry.key == "bad"]
    assert f"found 7 ({site.folder}/lone.py, line 5)" in cause


def test_of_two_metrics_with_one_column_the_second_is_left_out(site):
    keys = {"aaa": "max_hops", "bbb": "deadlock", "ccc": "mine", "ddd": "mine"}
    source = "".join(METRIC.format(key.capitalize(), key, name) for key, name in keys.items())
    points = {"metric": {key: f"four:{key.capitalize()}" for key in keys}}
    site.install("four", points, {"four.py": source})
    installed_catalogue.cache_clear()
    assert metric_clashes() == {
        "aaa": "metric 'aaa' of four 1.0 has the column 'max_hops', as metric 'route-length' of "
        f"routelab {__version__}",
        "bbb": "metric 'bbb' of four 1.0 has the column 'deadlock', as route tables",
        "ddd": "metric 'ddd' of four 1.0 has the column 'mine', as metric 'ccc' of four 1.0",
    }
    assert left_out_metrics() == metric_clashes()
    metrics = default_metrics()
    assert "ccc" in metrics
    assert "route-length" in metrics
    assert not left_out_metrics().keys() & set(metrics)


def test_wrong_columns_of_another_distribution_cost_only_themselves(site, caplog):
    site.install("more", {"columns": {"more": "nowhere:COLUMNS"}}, {})
    core_columns.cache_clear()
    try:
        assert {"max_load", "deadlock"} <= {column.name for column in core_columns()}
        assert "more (nowhere:COLUMNS) cannot be used: ModuleNotFoundError" in caplog.text
    finally:
        core_columns.cache_clear()


def test_every_fact_and_measurement_of_a_run_is_declared(tmp_path):
    matrix = tmp_path / "matrix.csv"
    matrix.write_text("source,target,bytes\n0,1,8\n")
    entries = [
        entry
        for entry in installed_catalogue().entries("metric")
        if entry.distribution == "routelab"
    ]
    needed = {"traffic-load": f"~matrix={matrix}"}
    metrics = [load("metric", entry.key + needed.get(entry.key, "")) for entry in entries]
    routing = Routing.from_name("angara-sssp")
    _, facts, measured = route_network(build_grid("torus", (4, 2), True), routing, metrics)
    assert len(measured.rows) > 30
    columns = Columns([*core_columns(), *plugin_columns([*routing.plugins, *metrics])])
    for measurement, column in measured.rows:
        assert columns.find(measurement.metric, "routes") == column
    assert set(facts) <= set(columns.of("routes"))


def test_names_with_parameters_belong_to_the_instance():
    (sigma,) = [
        column
        for column in load("metric", "channel-load~k=2").list_columns()
        if "sigma" in column.name
    ]
    assert (sigma.name, sigma.label) == ("sigma2", "load deviation σ(2) (routes)")
    assert installed_columns().find("sigma2") is None
    assert installed_columns().find("sigma4", "routes").decimals == 3


def test_a_report_knows_the_columns_of_its_plugins_with_their_parameters():
    with only_columns_of([load("metric", "channel-load~k=2")]):
        assert label("sigma2") == "load deviation σ(2) (routes)"
        assert number_text("sigma2", 0.5) == "0.500"
        assert installed_columns().find("max_load") is not None
        assert installed_columns().find("mean_routes") is None
    assert installed_columns().find("mean_routes") is not None
    assert number_text("sigma2", 0.5) == "0.5"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda: [1], "mine: list_columns() returned 1, expected a Column"),
        (lambda: None, "mine: list_columns() raised TypeError"),
        (lambda: {}["x"], "mine: list_columns() raised KeyError: 'x'"),
    ],
)
def test_a_plugin_whose_columns_cannot_be_listed_is_named(answer, message):
    class Mine(MetricPlugin):
        name = "mine"

        def list_columns(self):
            return answer()

        def measure(self, table, graph):
            return []

    with pytest.raises(PluginError) as raised:
        columns_of(Mine())
    assert str(raised.value).startswith(message)
