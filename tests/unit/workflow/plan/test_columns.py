"""study check finds columns that a study will not have, before anything runs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from routelab.api import InputError
from routelab.workflow.plan.preview import check_studies

STUDY = """\
title: t
topologies: [torus~dims=4x2]
routings: [dor, sssp@angara]
{more}
{views}
"""


@pytest.fixture
def mistakes_of(tmp_path):
    """The mistakes of a study with some views, without path and line."""

    def mistakes_of(views, more=""):
        path = tmp_path / "study.yaml"
        path.write_text(STUDY.format(views=views, more=more))
        try:
            check_studies([path])
        except InputError as error:
            return [line.partition(": ")[2] for line in str(error).splitlines()]
        return []

    return mistakes_of


def table(values, more=""):
    return f"tables: {{t: {{rows: [routing], values: [{values}]{more}}}}}"


@pytest.mark.parametrize(
    ("views", "place", "said"),
    [
        (table("max_laod"), "tables.t.values", "did you mean 'max_load'?"),
        (
            "figures: {f: {kind: bar, x: routing, y: max_laod}}",
            *("figures.f.y", "did you mean 'max_load'?"),
        ),
        (
            "tables: {t: {rows: [rooting], values: [max_load]}}",
            *("tables.t.rows", "did you mean 'routing'?"),
        ),
        (table("max_load", ", where: {dimz: 4x2}"), "tables.t.where", "did you mean 'dims'?"),
        (table("max_load", ", over: {sead: median}"), "tables.t.over", "did you mean 'seed'?"),
        (table("worst_permutation"), "tables.t.values", "add it to 'metrics'"),
        (table("generations"), "tables.t.values", "produced by the selection 'genetic'"),
        (table("gap"), "tables.t.values", "add 'bound: true'"),
        (table("max_load_ratio"), "tables.t.values", "need 'relative' in this view"),
        (table("median"), "tables.t.values", "use 'of: benchmarks'"),
    ],
)
def test_a_wrong_column_is_named_with_its_place_and_the_fix(mistakes_of, views, place, said):
    (line,) = mistakes_of(views)
    assert line.startswith(f"{place}: ")
    assert said in line


def test_bounds_for_any_routing_have_to_be_requested(mistakes_of):
    views, more = table("accepted_bound", ", of: loads"), "traffic: [uniform]"
    problem = (
        "tables.t.values: column 'accepted_bound': needs bounds for any routing; add "
        "'bound: {any_routing: true}'"
    )
    assert mistakes_of(views, f"{more}\nbound: true") == [problem]
    assert mistakes_of(views, f"{more}\nbound: {{any_routing: true}}") == []


def test_bounds_for_any_length_have_to_be_requested(mistakes_of):
    views = table("gap_any_length, load_to_bound, lower_bound_any_length")
    assert len(mistakes_of(views, "bound: true")) == 3
    assert "add 'bound: {any_length: true}'" in mistakes_of(views, "bound: true")[0]
    assert mistakes_of(views, "bound: {any_length: true}") == []


@pytest.mark.parametrize(
    ("views", "more"),
    [
        (table("max_load, min_load, sigma4, mean_turns, phase_load_shift, group_trees"), ""),
        (table("gap, optimal, gap_percent, near_optimal, lower_bound_rules"), "bound: true"),
        (table("worst_permutation"), "metrics: [worst-permutation]"),
        (table("sigma2"), "metrics: ['channel-load~k=2']"),
        (
            (
                "tables: {t: {rows: [routing, dims, rules.turns], values: [max_load_ratio, "
                "max_load_gain, relative_to], relative: {to: dor, column: max_load}, "
                "over: {ties: median}}}"
            ),
            "",
        ),
        ("tables: {t: {rows: [rule], names: {rule: routing}, values: [max_load]}}", ""),
        ("figures: {f: {kind: ecdf, x: load, hue: routing, col: nodes}}", ""),
        ("figures: {f: {kind: network, colour: load}}", ""),
        ("tables: {t: {rows: [routing], statistics: {max_load: [mean, argmax]}}}", ""),
    ],
)
def test_columns_of_the_study_are_accepted(mistakes_of, views, more):
    assert mistakes_of(views, more) == []


def test_two_producers_of_one_column_have_to_agree(mistakes_of, monkeypatch):
    from routelab_plugins.metric.route_length import RouteLength

    views = table("max_hops")
    assert mistakes_of(views) == []
    other = [replace(column, better="higher") for column in RouteLength.columns]
    monkeypatch.setattr(RouteLength, "columns", tuple(other))
    mistakes = mistakes_of(views)
    assert len(mistakes) == 2
    assert mistakes[0].startswith(
        "metric 'route-length' declares the column 'max_hops' otherwise than 'routelab'"
    )
