from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routelab.report.labels import label, number_text


@pytest.mark.parametrize(
    ("column", "value", "text"),
    [
        ("max_load", 28, "28"),
        ("max_load", 28.0, "28"),
        ("sigma4", 0, "0.000"),
        ("paper_sigma4", 12.254, "12.254"),
        ("sigma4", 6.2984, "6.298"),
        ("mean_load", 10.3226, "10.32"),
        ("mean_load", 12345.67, "12345.7"),
        ("routing_seconds", 0.000123456, "0.0001235"),
        ("max_load", None, ""),
        ("sigma4", math.nan, ""),
        ("deadlock", "proven", "proven"),
        ("x", True, "yes"),
        ("x", -0.0, "0"),
    ],
)
def test_numbers_as_tables_show_them(column, value, text):
    assert number_text(column, value) == text


@given(st.floats(-1e6, 1e6, allow_nan=False))
def test_shown_numbers_are_near_and_never_in_exponent_form_when_large(value):
    text = number_text("x", value)
    assert float(text) == pytest.approx(value, rel=1e-3, abs=1e-300)
    assert "e" not in text or abs(value) < 1


def test_columns_have_names_for_people():
    assert label("sigma4") == "load deviation σ(4) (routes)"
    assert label("max_load_gain_mean") == "reduction of maximum channel load, mean (%)"
    assert label("paper_max_load") == "published maximum channel load (routes)"
    assert label("cpu_seconds_argmax") == "network with the highest CPU time"
    assert label("fail_links") == "failed links"
    assert label("hops_mean", "loads") == "mean path length (hops)"
    assert label("load", "loads") == "offered load (flits per cycle)"


def test_properties_of_a_machine_have_units_where_they_are_settings():
    assert label("link_bandwidth", "flows") == "link bandwidth (bytes/s)"
    assert label("overhead", "flows") == "overhead (s)"
    assert label("latency", "flows") == "latency (s)"
    assert label("latency", "latencies") == "latency (cycles)"
