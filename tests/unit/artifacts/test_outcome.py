from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from routelab.api import InputError
from routelab.artifacts.outcome import Outcome, read_outcome, write_outcome

GOOD = Outcome(
    kind="route",
    topology="torus~dims=4x2",
    routing="sssp@angara",
    facts={"pairs": 56, "max_load": 7.5, "deadlock": "free"},
    provenance={"seed": 3, "plugins": [{"name": "angara"}]},
)


def test_outcome_comes_back(tmp_path: Path) -> None:
    write_outcome(GOOD, tmp_path / "outcome.json")
    assert read_outcome(tmp_path / "outcome.json") == GOOD


def test_numbers_without_a_value_are_null(tmp_path: Path) -> None:
    facts = {"a": math.nan, "b": np.float64(math.inf), "c": None, "d": np.int64(4)}
    write_outcome(Outcome("route", "t", facts=facts), tmp_path / "o.json")
    assert "NaN" not in (tmp_path / "o.json").read_text()
    assert read_outcome(tmp_path / "o.json").facts == {"a": None, "b": None, "c": None, "d": 4}


def test_keys_are_those_of_the_record(tmp_path: Path) -> None:
    write_outcome(GOOD, tmp_path / "o.json")
    content = json.loads((tmp_path / "o.json").read_text())
    assert content["format"] == "outcome/1"
    assert set(content) == {"format", "kind", "topology", "routing", "status", "reason"} | {
        "facts",
        "provenance",
        "files",
        "sha256",
    }


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
