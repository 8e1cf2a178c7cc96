"""Values as tables on the terminal show them."""

from __future__ import annotations

import pytest

from routelab.commands._output import cell


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (56.0, "56"),
        (1e6, "1000000"),
        (25.333333333332, "25.33"),
        (0.7071067811865476, "0.7071"),
        (12345.678, "12345.7"),
        (28, "28"),
        (True, "True"),
        ("4x2", "4x2"),
    ],
)
def test_numbers_are_short_and_never_lose_their_size(value, text):
    assert cell(value) == text
