from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from routelab.api import InputError
from routelab.results.outcome import (
    OUTCOME,
    Outcome,
    close_folder,
    has_valid_outcome,
    read_outcome,
    recorded_digest,
    recorded_status,
    write_outcome,
)
from routelab.results.tables import read_rows, read_tuples, write_csv

GOOD = Outcome(
    kind="route",
    topology="torus~dims=4x2",
    routing="sssp@angara",
    facts={"pairs": 56, "max_load": 7.5, "deadlock": "free"},
    provenance={"seed": 3, "plugins": [{"name": "angara"}]},
)


def test_numbers_without_a_value_are_null(tmp_path: Path) -> None:
    facts = {"a": math.nan, "b": np.float64(math.inf), "c": None, "d": np.int64(4)}
    write_outcome(Outcome("route", "t", facts=facts), tmp_path / "o.json")
    assert "NaN" not in (tmp_path / "o.json").read_text()
    assert read_outcome(tmp_path / "o.json").facts == {"a": None, "b": None, "c": None, "d": 4}


@pytest.mark.parametrize(
    ("status", "reason"), [("crashed", "because"), ("failed", ""), ("unsupported", "")]
)
def test_bad_status_cannot_be_made(status: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=status):
        Outcome("route", "t", "r", status=status, reason=reason)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "outcome/2"}, "newer routelab"),
        ({"status": "crashed"}, "status is 'crashed', expected one of"),
        ({"facts": ...}, "no facts"),
    ],
)
def test_damaged_outcome_is_reported(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    content = {**GOOD.to_json(), **change}
    kept = {key: value for key, value in content.items() if value is not ...}
    (tmp_path / "o.json").write_text(json.dumps(kept))
    with pytest.raises(InputError, match=message) as caught:
        read_outcome(tmp_path / "o.json")
    assert str(tmp_path / "o.json") in str(caught.value)


def test_a_file_that_is_not_the_listed_one_is_refused(tmp_path: Path) -> None:
    table = tmp_path / "bound.csv"
    write_csv(table, ("a", "b"), [(1, 2)])
    closed = close_folder(GOOD, tmp_path)
    assert read_outcome(tmp_path / OUTCOME) == closed
    assert list(closed.files) == ["bound.csv"]
    assert read_rows(table, ["a"]) == [{"a": 1, "b": 2}]
    table.write_text("a,b\n1,3\n")
    for read in (lambda: read_rows(table, ["a"]), lambda: read_tuples(table, ["a", "b"], ())):
        with pytest.raises(InputError, match=f"remove the folder {tmp_path} and run again"):
            read()


def test_a_folder_is_whole_with_all_files_of_their_sizes(tmp_path: Path) -> None:
    table, outcome = tmp_path / "bound.csv", tmp_path / OUTCOME
    table.write_text("a\n1\n")
    close_folder(Outcome("route", "t", provenance={"fingerprint": "f"}), tmp_path)
    assert has_valid_outcome(tmp_path, "f")
    assert not has_valid_outcome(tmp_path, "of other code")
    table.write_text("a\n")
    assert not has_valid_outcome(tmp_path, "f")
    table.unlink()
    assert not has_valid_outcome(tmp_path, "f")
    table.write_text("a\n1\n")
    outcome.write_text(outcome.read_text().replace('"t"', '"another"'))
    assert not has_valid_outcome(tmp_path, "f")


def test_an_outcome_is_read_once_until_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = []

    def read_and_count(path: Path, limit: int) -> bytes:
        reads.append(path)
        return path.read_bytes()

    monkeypatch.setattr("routelab.results.outcome.read_bytes", read_and_count)
    folder = str(tmp_path)
    assert recorded_status(folder) == {"status": "", "reason": ""}
    for digest in ("d", "another"):
        provenance = {"fingerprint": "f", "digest": digest}
        close_folder(Outcome("route", "t", provenance=provenance), tmp_path)
        reads.clear()
        for _ in range(3):
            assert has_valid_outcome(tmp_path, "f")
            assert recorded_digest(folder, "f") == digest
            assert recorded_status(folder) == {"status": "ok", "reason": ""}
        assert reads == [tmp_path / OUTCOME]
        (tmp_path / OUTCOME).unlink()
        assert not has_valid_outcome(tmp_path, "f")
        assert recorded_digest(folder) is None
