"""Sizes are read as the IEC and the SI define their units, and written so that they come back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routelab.api import Bytes, Parameters, parameter
from routelab.api.parameters import bytes_text, parse_bytes
from routelab.registry.parameters import read_parameters


class Sized(Parameters):
    size: Bytes = parameter(1 << 20, ge=0, description="how much")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4096", 4096),
        ("1MiB", 1_048_576),
        ("1MB", 1_000_000),
        ("64kib", 65536),
        ("64KB", 64000),
        ("1.5 GiB", 3 << 29),
        ("7B", 7),
        ("0", 0),
    ],
)
def test_units(text, value):
    assert Sized(size=text).size == value


@given(st.integers(0, 1 << 45))
def test_a_size_comes_back(value):
    assert parse_bytes(bytes_text(value)) == value
    assert Sized(**Sized(size=value).texts()).size == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (1000, "1kB"),
        (1024, "1KiB"),
        (1_024_000, "1000KiB"),
        (1_000_000, "1MB"),
        (77, "77"),
    ],
)
def test_the_text_is_one(value, text):
    assert Sized(size=value).texts() == {"size": text}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("1M", "'1M' is not a size; write 4096, 64KiB, 1MiB or 1MB"),
        ("-4", "is not a size"),
        ("1.0001KiB", "is not a whole number of bytes"),
        ("much", "is not a size"),
    ],
)
def test_invalid_sizes_are_rejected(text, problem):
    _, problems = read_parameters(Sized, {"size": text})
    assert problem in problems[0]
