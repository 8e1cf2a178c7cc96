from __future__ import annotations

import json
import math
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from routelab.api import InputError
from routelab.results.json_files import read_json, to_json, to_plain, write_json

JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(JSON_VALUES)
def test_json_values_come_back(value: Any) -> None:
    assert json.loads(to_json(value)) == value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (math.nan, None),
        (-math.inf, None),
        (np.float64(math.nan), None),
        (np.float32(0.5), 0.5),
        (np.int16(7), 7),
        (np.bool_(True), True),
        (np.array([[1, 2], [3, 4]], np.uint8), [[1, 2], [3, 4]]),
        (np.array([1.0, math.inf]), [1.0, None]),
        ((1, (2,)), [1, [2]]),
        (MappingProxyType({1: Path("a/b")}), {"1": "a/b"}),
    ],
)
def test_plain_values(value: Any, expected: Any) -> None:
    plain = to_plain(value)
    assert plain == expected
    assert type(plain) is type(expected)


def test_values_beyond_json_are_rejected() -> None:
    with pytest.raises(TypeError, match="set"):
        to_json({"a": {1, 2}})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "damaged"),
        ('{"format": "outcome/1"', "damaged"),
        ("[1, 2]", "expected outcome/1, found no JSON object"),
        ('{"a": 1}', "found none"),
        ('{"format": "certificate/1"}', "found certificate/1; give a file of that format"),
        ('{"format": "outcome/2"}', "found outcome/2; a newer routelab"),
        ('{"format": "outcome/0"}', "found outcome/0; an older routelab"),
        ("\udcff", "damaged"),
    ],
)
def test_a_wrong_file_is_named_with_its_content(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "x.json"
    file.write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError, match=message) as caught:
        read_json(file, "outcome/1")
    assert str(file) in str(caught.value)


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nothing\.json"):
        read_json(tmp_path / "nothing.json", "outcome/1")


def test_a_file_name_that_is_not_utf_8_is_printable(tmp_path: Path) -> None:
    name = b"stra\xdfe.csv".decode(errors="surrogateescape")
    write_json(tmp_path / "a.json", {"format": "a/1", "reason": name, name: Path(name)})
    written = "stra\\udcdfe.csv"
    assert read_json(tmp_path / "a.json", "a/1")["reason"] == written
    assert read_json(tmp_path / "a.json", "a/1")[written] == written


@pytest.mark.parametrize("change", [("1.5", "2.5"), ('"sha256": "', '"sha256": "0')])
def test_modified_files_are_rejected(tmp_path: Path, change: tuple[str, str]) -> None:
    file = tmp_path / "x.json"
    write_json(file, {"format": "outcome/1", "load": 1.5})
    assert read_json(file, "outcome/1") == {"format": "outcome/1", "load": 1.5}
    file.write_text(file.read_text().replace(*change))
    with pytest.raises(InputError, match="another content than was written"):
        read_json(file, "outcome/1")
