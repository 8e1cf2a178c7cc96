"""The page about numbers tells of every column that a run can have, with its unit and direction."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from routelab.bounds import BOUND_FIELDS
from routelab.registry.catalogue import installed
from routelab.registry.instances import load, load_routing
from routelab.stages.facts import FIELDS
from routelab.stages.route import compute
from routelab.toolkit import build_grid

PAGE = Path(__file__).parents[2] / "docs/concepts/metrics.md"
ARROWS = {"lower": "↓", "higher": "↑", "": ""}

pytestmark = pytest.mark.builtins


@pytest.fixture(scope="module")
def told() -> dict[str, tuple[str, str]]:
    """Unit and direction of each column, from the tables of the page."""
    rows = re.findall(r"^\| `(\w+)` \|.+\|(.*)\|(.*)\|$", PAGE.read_text(), re.MULTILINE)
    columns = [name for name, _, _ in rows]
    assert len(columns) == len(set(columns))
    return {name: (unit.strip(), better.strip()) for name, unit, better in rows}


def test_every_metric_is_told_of_with_its_unit_and_direction(told, tmp_path) -> None:
    matrix = tmp_path / "matrix.csv"
    matrix.write_text("source,target,bytes\n0,1,8\n")
    entries = [one for one in installed().entries("metric") if one.distribution == "routelab"]
    needed = {"traffic-load": f"~matrix={matrix}"}
    metrics = [load("metric", entry.key + needed.get(entry.key, "")) for entry in entries]
    torus = build_grid("torus", (4, 2), True)
    result = compute(torus, load_routing("angara-sssp"), metrics)
    assert len(result.measurements) > 30
    for one in result.measurements:
        assert told[one.metric] == (one.unit, ARROWS[one.better]), one.metric
    assert set(result.facts) <= set(told)


def test_every_fact_is_told_of(told) -> None:
    assert {*FIELDS, *BOUND_FIELDS} <= set(told)
