"""The bars of a study's card."""

from __future__ import annotations

import pytest

from routelab.report.page.bars import answer_bars
from routelab.report.page.comparison import Case, Comparison, Value


def comparison_of(pairs, value="max_load", measure="value"):
    """A comparison of ``sssp`` with ``bfs`` on 2, 4, 8, ... nodes."""
    cases = tuple(
        Case({"nodes": str(2 ** (at + 1))}, *(Value(one, one, one) for one in pair))
        for at, pair in enumerate(pairs)
    )
    return Comparison(value, measure, "sssp", "bfs", False, cases, len(cases))


def texts_of(bars):
    return {row["name"]: [bar["text"] for bar in row["bars"]] for row in bars["rows"]}


def sizes_of(bars):
    return [[bar["size"] for bar in row["bars"]] for row in bars["rows"]]


def test_few_cases_have_a_bar_for_each_routing():
    bars = answer_bars(comparison_of([(5, 10), (20, 40)]), "maximum load", "routes")
    assert bars["series"] == ["sssp", "bfs"]
    assert bars["heading"] == "maximum load"
    assert texts_of(bars) == {"2 nodes": ["5", "10"], "4 nodes": ["20", "40"]}
    assert sizes_of(bars) == [[12.5, 25.0], [50.0, 100.0]]
    assert bars["more"] == 0


def test_more_cases_have_the_difference():
    pairs = [(5, 10), (12, 10), (10, 10), (9, 10), (8, 10), (19, 20)]
    bars = answer_bars(comparison_of(pairs), "maximum load", "routes")
    assert bars["series"] == ["sssp"]
    assert bars["heading"] == "maximum load, compared with bfs"
    assert [texts for (texts,) in texts_of(bars).values()] == [
        *("50 % lower", "20 % higher", "equal", "10 % lower", "20 % lower", "5 % lower")
    ]
    assert sizes_of(bars)[:3] == [[100.0], [40.0], [0.0]]


def test_large_differences_are_factors():
    pairs = [(30, 10)] + [(10, 10)] * 5
    assert texts_of(answer_bars(comparison_of(pairs), "maximum load", "routes"))["2 nodes"] == [
        "3 times"
    ]


def test_of_many_cases_the_extremes_have_bars():
    pairs = [(100 + percent, 100) for percent in range(9)]
    bars = answer_bars(comparison_of(pairs), "maximum load", "routes")
    assert [text for (text,) in texts_of(bars).values()] == [
        *("8 % higher", "7 % higher", "6 % higher", "2 % higher", "1 % higher", "equal")
    ]
    assert bars["more"] == 3


def test_a_value_of_zero_has_no_ratio_and_keeps_its_pair():
    pairs = [(0, 10)] + [(5, 10)] * 5
    assert texts_of(answer_bars(comparison_of(pairs), "maximum load", "routes"))["2 nodes"] == [
        *("0", "10")
    ]


@pytest.mark.parametrize(
    ("measure", "texts"),
    [
        ("improvement", ["25 % better", "3 % worse"]),
        ("gain", ["25 % lower", "3 % higher"]),
    ],
)
def test_improvements_are_bars_of_their_own(measure, texts):
    comparison = comparison_of([(25, 1), (-3, 1)], "improvement_percent", measure)
    bars = answer_bars(comparison, "run time", "flows")
    assert [text for (text,) in texts_of(bars).values()] == texts
    assert sizes_of(bars) == [[100.0], [12.0]]
    is_improvement = measure == "improvement"
    assert [bar["worse"] for row in bars["rows"] for bar in row["bars"]] == [False, is_improvement]
