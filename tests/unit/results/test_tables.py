"""CSV tables: what was written is read, and what is damaged is told of."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from routelab.api import InputError
from routelab.results.tables import read_tuples, write_csv

COLUMNS = ("name", "value", "unit")


def test_no_number_is_nan(tmp_path: Path) -> None:
    write_csv(tmp_path / "x.csv", COLUMNS, [("a", None, "")])
    ((name, value, unit),) = read_tuples(tmp_path / "x.csv", COLUMNS, {"value"})
    assert (name, unit) == ("a", "")
    assert math.isnan(value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it ends within a line"),
        (b"name,value,unit\na,1,b\na,1", "it ends within a line"),
        (b"a,b\n", "expected the columns name,value,unit"),
        (b"name,value,unit\na,1\n", "is damaged"),
        (b"name,value,unit\na,one,b\n", "could not convert string to float: 'one'"),
        (b'name,value,unit\n"a,1,b\n', "is damaged"),
        (b"\xff\n", "is damaged"),
    ],
)
def test_damage_is_reported_with_the_file_and_the_fix(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        read_tuples(path, COLUMNS, {"value"})
    assert str(path) in str(caught.value)
    assert "remove its folder and run again" in str(caught.value)


def test_a_missing_table_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read .*x\.csv: No such file"):
        read_tuples(tmp_path / "x.csv", COLUMNS, ())
