"""Tables and figures ask for what the study's simulations find out, or are refused at once."""

from __future__ import annotations

import pytest

from routelab.api import InputError
from routelab.config import load_study
from routelab.config.missing_columns import named_columns
from routelab.config.views import Figure, Table
from routelab.simulation.measuring.intervals import Estimate
from routelab.simulation.measuring.saturation import Saturation
from routelab.simulation.packet.columns import COLUMNS
from routelab.stages.engines.packet.facts import saturation_facts

STUDY = """\
title: t
topologies: [torus~dims=4]
routings: [dor]
traffic: [uniform]
simulation: {%s}
"""
TABLE = "tables: {t: {of: simulations, rows: [routing], values: [%s]}}\n"
SEARCH = "5: tables.t: {}: needs `find_saturation`; add `find_saturation: true` in 'simulation'"
FINISH = "5: {}: {}: needs `messages`; add `messages` in 'simulation'"


@pytest.fixture
def told(tmp_path):
    """What is wrong with a study, without its path and with the line counted from the study's."""

    def told(settings, views):
        path = tmp_path / "study.yaml"
        path.write_text(STUDY % settings + views)
        try:
            load_study(path)
        except InputError as error:
            return [line.removeprefix(f"{path}:") for line in str(error).splitlines()]
        return []

    return told


def at(line, text):
    return text.replace("5:", f"{line}:", 1)


@pytest.mark.parametrize("column", ["throughput", "saturation_load", "saturation_bound"])
def test_what_a_search_finds_needs_a_search(told, column):
    wanted = [at(6, SEARCH.format(column))]
    assert told("vcs: 2", TABLE % column) == wanted
    assert told("find_saturation: false", TABLE % column) == wanted
    assert told("find_saturation: true", TABLE % column) == []
    assert told("find_saturation: {sweep: [false, true]}", TABLE % column) == []
    assert told("messages: 3", TABLE % column) == wanted


def test_both_are_named_in_one_message(told):
    (line,) = told("vcs: 2", TABLE % "throughput, latency_mean, saturation_load")
    assert line == at(6, SEARCH.format("saturation_load, throughput"))


@pytest.mark.parametrize(
    "view",
    [
        "{of: simulations, kind: scatter, x: nodes, y: throughput}",
        "{of: simulations, kind: scatter, x: throughput, y: nodes}",
        "{of: loads, kind: curve, x: load, y: latency_mean, hue: throughput}",
        "{of: loads, kind: curve, x: load, y: latency_mean, where: {throughput: {min: 0.5}}}",
        "{of: loads, kind: line, x: load, y: x, relative: {to: dor, column: throughput}}",
    ],
)
def test_wherever_a_figure_asks(told, view):
    (line,) = told("vcs: 2", f"figures: {{t: {view}}}\n")
    assert line == at(6, SEARCH.format("throughput")).replace("tables.t", "figures.t")
    assert told("find_saturation: true", f"figures: {{t: {view}}}\n") == []


def test_a_throughput_of_terminals_needs_messages(told):
    figure = "figures: {t: {of: terminals, kind: ecdf, x: throughput}}\n"
    assert told("vcs: 2", figure) == [at(6, FINISH.format("figures.t", "throughput"))]
    assert told("messages: 3", figure) == []
    table = TABLE % "terminal_throughput"
    assert told("vcs: 2", table) == [at(6, FINISH.format("tables.t", "terminal_throughput"))]
    assert told("messages: 3", table) == []


def test_tables_of_routes_have_none(told):
    table = "tables: {t: {rows: [routing], values: [saturation_load]}}\n"
    text = "6: tables.t: saturation_load: only simulations have this; use 'of: simulations'"
    assert told("find_saturation: true", table) == [text]


def test_the_mistake_stands_beside_the_others(told):
    lines = told("vcs: 2", TABLE % "throughput" + "cites: nobody\n")
    assert at(6, SEARCH.format("throughput")) in lines
    assert len(lines) == 2


def test_these_are_the_columns_that_a_search_adds():
    one = Estimate(0.5, 0.1, 3, 0.95, True)
    found = Saturation(0.5, 0.6, one, one, 0.6, (), "text")
    assert set(saturation_facts(found)) == {
        column.name for column in COLUMNS if column.needs == "find_saturation"
    }


def test_all_that_is_named_is_asked_for():
    table = Table(
        of="loads", rows=["a"], statistics={"b": ["mean"]}, where={"c": 1},
        relative={"to": "x", "column": "d"},
    )  # fmt: skip
    assert {column for _, column in named_columns(table)} == set("abcd")
    renamed = table.model_copy(update={"names": {"a": "z"}})
    assert {column for _, column in named_columns(renamed)} == set("zbcd")
    figure = Figure(kind="heat", of="channels", x="a", y="b", colour="c", col="d", where={"e": 1})
    assert {column for _, column in named_columns(figure)} == set("abcde")
