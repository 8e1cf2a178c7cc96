"""Number formats of columns."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routelab.report.number_formats import TIMES, column_format

SIZES = st.floats(1e-9, 1e9) | st.floats(-1e9, -1e-9) | st.just(0.0) | st.integers(-9999, 9999)
COLUMNS = ("max_load", "cpu_seconds", "gap_percent", "max_load_ratio", "sigma4", "mean_hops")


def shown(column, *values, published=()):
    form = column_format(column, "routes", values, published)
    return form.label, *map(form.text, values)


@pytest.mark.parametrize(
    ("column", "values", "texts"),
    [
        ("max_load", (28, 30.0), ("maximum channel load (routes)", "28", "30")),
        ("max_load", (28, 30.5), ("maximum channel load (routes)", "28.0", "30.5")),
        ("mean_hops", (1.5, 2, 2.25), ("mean path length (hops)", "1.50", "2.00", "2.25")),
        ("gap_percent", (0, 7.692), ("gap to the bound (%)", "0.0", "7.7")),
        ("gap", (7.74e-13, -3e-14, 2), ("gap to the bound (routes)", "0", "0", "2")),
        ("gap_percent_mean", (3.21,), ("gap to the bound, mean (%)", "3.2")),
        (
            "max_load_ratio",
            (1, 1.139),
            ("maximum channel load relative to baseline", "1.00", "1.14"),
        ),
        ("max_load_gain", (12.25,), ("reduction of maximum channel load (%)", "12.2")),
        ("sigma4", (0, 6.2984), ("load deviation σ(4) (routes)", "0.000", "6.298")),
        ("cpu_seconds", (0.0021, 0.5), ("CPU time (ms)", "2.1", "500")),
        ("cpu_seconds", (0.25, 1.5), ("CPU time (s)", "0.25", "1.50")),
        ("cpu_seconds", (2e-6, 5e-6), ("CPU time (µs)", "2", "5")),
        ("cpu_seconds_mean", (0.25,), ("CPU time, mean (ms)", "250")),
        ("deadlock", ("proven", None, math.nan), ("deadlock freedom", "proven", "", "")),
        ("x", (True, False), ("x", "yes", "no")),
        ("gap_percent", (-0.01,), ("gap to the bound (%)", "0.0")),
    ],
)
def test_the_unit_decides_the_decimals(column, values, texts):
    assert shown(column, *values) == texts


def test_upper_bounds_are_rounded_up():
    form = column_format("accepted_bound", "loads", [0.931021, 0.5, 1])
    assert [form.text(number) for number in (0.931021, 0.5, 1)] == ["0.932", "0.500", "1.000"]


def test_published_numbers_have_no_more_decimals_than_were_printed():
    form = column_format("max_load_ratio", "routes", [1.605], published=[1.6, 2])
    assert (form.text(1.605), form.as_published(1.6), form.as_published(1.605)) == (
        "1.60",
        "1.6",
        "1.6",
    )


@given(column=st.sampled_from(COLUMNS), values=st.lists(SIZES, min_size=1, max_size=8))
def test_shown_numbers_parse_back_within_rounding(column, values):
    form = column_format(column, "routes", values)
    assert form.scale in [scale for scale, _ in TIMES]
    for value in values:
        number = float(form.text(value))
        step = 10.0**-form.decimals if form.decimals is not None else abs(value / form.scale) / 999
        assert abs(number - value / form.scale) <= 0.5001 * step + 1e-12


@given(values=st.lists(st.floats(1e-7, 1e4), min_size=1, max_size=8))
def test_times_have_the_unit_of_the_longest(values):
    form = column_format("cpu_seconds", "routes", values)
    assert form.unit == next((unit for scale, unit in TIMES if max(values) >= scale), "µs")
