"""Columns are declared where they are produced, and the registry collects them."""

from __future__ import annotations

import pytest

from routelab.api import Column, MetricPlugin, PluginError
from routelab.registry.catalogue import installed_catalogue
from routelab.registry.columns import (
    Columns,
    columns_of,
    core_columns,
    installed_columns,
    only_columns_of,
    plugin_columns,
)
from routelab.registry.instances import load, load_routing
from routelab.report.labels import label, number_text
from routelab.routing.route import route_network
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
        ({"shown": ("everywhere",)}, "shown is ('everywhere',), expected some of evaluate"),
    ],
)
def test_a_wrong_column_is_refused_where_it_is_declared(wrong, message):
    with pytest.raises(PluginError) as raised:
        Column(**{"name": "x", "meaning": "something"} | wrong)
    assert message in str(raised.value)


def test_every_fact_and_measurement_of_a_run_is_declared(tmp_path):
    matrix = tmp_path / "matrix.csv"
    matrix.write_text("source,target,bytes\n0,1,8\n")
    entries = [
        one for one in installed_catalogue().entries("metric") if one.distribution == "routelab"
    ]
    needed = {"traffic-load": f"~matrix={matrix}"}
    metrics = [load("metric", entry.key + needed.get(entry.key, "")) for entry in entries]
    routing = load_routing("angara-sssp")
    _, facts, measured = route_network(build_grid("torus", (4, 2), True), routing, metrics)
    assert len(measured) > 30
    columns = Columns([*core_columns(), *plugin_columns([*routing.plugins, *metrics])])
    for one, column in measured:
        assert columns.find(one.metric, "routes") == column
    assert set(facts) <= set(columns.of("routes"))


def test_names_with_parameters_belong_to_the_instance():
    (sigma,) = [
        one for one in load("metric", "channel-load~k=2").list_columns() if "sigma" in one.name
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
    ("found", "message"),
    [
        (lambda: [1], "mine: list_columns() returned 1, expected a Column"),
        (lambda: None, "mine: list_columns() raised TypeError"),
        (lambda: {}["x"], "mine: list_columns() raised KeyError: 'x'"),
    ],
)
def test_a_plugin_whose_columns_cannot_be_listed_is_named(found, message):
    class Mine(MetricPlugin):
        name = "mine"

        def list_columns(self):
            return found()

        def measure(self, table, graph):
            return []

    with pytest.raises(PluginError) as raised:
        columns_of(Mine())
    assert str(raised.value).startswith(message)
