"""Columns that need a setting of an engine are refused if all simulations have it off."""

from __future__ import annotations

import pytest

from routelab.api import InputError
from routelab.simulation.packet.columns import COLUMNS
from routelab.simulation.packet.facts import saturation_facts
from routelab.simulation.packet.measurement.intervals import Estimate
from routelab.simulation.packet.measurement.saturation import Saturation
from routelab.study.view_columns import named_columns
from routelab.study.views import Figure, Table
from routelab.workflow.plan.preview import check_studies

STUDY = """\
title: t
topologies: [torus~dims=4]
routings: [dor]
traffic: [uniform]
simulation: {%s}
"""
TABLE = "tables: {t: {of: simulations, rows: [routing], values: [%s]}}\n"
SEARCH = "5: {}: column {!r}: needs `find_saturation`; add `find_saturation: true` in 'simulation'"
FINISH = "5: {}: column {!r}: needs `messages`; add `messages` in 'simulation'"


@pytest.fixture
def mistakes_of(tmp_path):
    """What is wrong with a study, without its path and with the line counted from the study's."""

    def mistakes_of(settings, views):
        path = tmp_path / "study.yaml"
        path.write_text(STUDY % settings + views)
        try:
            check_studies([path])
        except InputError as error:
            return [line.removeprefix(f"{path}:") for line in str(error).splitlines()]
        return []

    return mistakes_of


def at(line, text):
    return text.replace("5:", f"{line}:", 1)


def test_columns_of_the_search_need_find_saturation(mistakes_of):
    wanted = [at(6, SEARCH.format("tables.t.values", "throughput"))]
    for settings in ("vcs: 2", "find_saturation: false", "messages: 3"):
        assert mistakes_of(settings, TABLE % "throughput") == wanted
    for settings in ("find_saturation: true", "find_saturation: {sweep: [false, true]}"):
        assert mistakes_of(settings, TABLE % "throughput") == []


def test_these_are_the_columns_that_a_search_adds():
    estimate = Estimate(0.5, 0.1, 3, 0.95, True)
    saturation = Saturation(0.5, 0.6, estimate, estimate, 0.6, (), "text")
    assert set(saturation_facts(saturation)) == {
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


def test_a_throughput_of_terminals_needs_messages(mistakes_of):
    figure = "figures: {t: {of: terminals, kind: ecdf, x: throughput}}\n"
    assert mistakes_of("vcs: 2", figure) == [at(6, FINISH.format("figures.t.x", "throughput"))]
    assert mistakes_of("messages: 3", figure) == []
    table = TABLE % "terminal_throughput"
    assert mistakes_of("vcs: 2", table) == [
        at(6, FINISH.format("tables.t.values", "terminal_throughput"))
    ]
    assert mistakes_of("messages: 3", table) == []
