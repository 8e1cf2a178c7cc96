from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routelab.report.labels import number_text


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
        ("seed", 9007199254740993, "9007199254740993"),  # equal to ...992 as a float
    ],
)
def test_numbers_as_tables_show_them(column, value, text):
    assert number_text(column, value) == text


@given(st.floats(-1e6, 1e6, allow_nan=False))
def test_shown_numbers_are_near_and_never_in_exponent_form_when_large(value):
    text = number_text("x", value)
    assert float(text) == pytest.approx(value, rel=1e-3, abs=1e-300)
    assert "e" not in text or abs(value) < 1
