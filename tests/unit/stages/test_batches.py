"""A batch does what is missing, each job under its own limits, and loses nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from routelab.stages.batches import Batch, Run, run_batch

from routelab.api import InputError, RoutelabError
from routelab.artifacts.outcome import read_outcome

pytestmark = pytest.mark.builtins

LIMITS = {"seconds": 60.0, "memory_gb": 4.0}


@pytest.fixture
def network(tmp_path: Path) -> str:
    folder = tmp_path / "networks" / "ring"
    run = Run(str(folder), "n1", topology="torus~dims=4", **LIMITS)
    do(tmp_path, "topologies", run)
    return str(folder)


def do(folder: Path, kind: str, *runs: Run) -> int:
    spec = folder / "spec.json"
    Batch(kind, "x", runs).write_spec(spec)
    return run_batch(spec, folder / "manifest.json")


def route(tmp_path: Path, network: str, routing: str, mark: str = "f", **limits: float) -> Run:
    folder = tmp_path / "routes" / routing
    values = {**LIMITS, **limits}
    return Run(str(folder), mark, topology=network, routing=routing, **values)


def test_only_what_is_not_done_runs(tmp_path: Path, network: str) -> None:
    runs = [route(tmp_path, network, name) for name in ("dor", "angara-sssp")]
    assert do(tmp_path, "routes", *runs) == 2
    times = [run.outcome.stat().st_mtime_ns for run in runs]
    assert do(tmp_path, "routes", *runs) == 0
    runs[1].outcome.unlink()
    assert do(tmp_path, "routes", *runs) == 1
    upgraded = route(tmp_path, network, "dor", mark="g")
    assert do(tmp_path, "routes", upgraded, runs[1]) == 1
    assert read_outcome(upgraded.outcome).provenance["fingerprint"] == "g"
    assert runs[0].outcome.stat().st_mtime_ns > times[0]


def test_every_end_of_a_job_is_an_outcome(tmp_path: Path, network: str) -> None:
    slow = str(tmp_path / "networks" / "cube")
    do(tmp_path, "topologies", Run(slow, "n2", topology="torus~dims=8x8x8", **LIMITS))
    bad = Run(str(tmp_path / "bad"), "n3", topology="torus~dims=4,failed_links=0-9", **LIMITS)
    do(tmp_path, "topologies", bad)
    runs = [
        route(tmp_path, network, "dor"),
        route(tmp_path, slow, "p2-sssp@up-down", seconds=2),
        route(tmp_path, str(tmp_path / "bad"), "dfsssp"),
        route(tmp_path, slow, "angara-bfs", memory_gb=0.001),
    ]
    assert do(tmp_path, "routes", *runs) == 4
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert [entry["status"] for entry in manifest["outcomes"]] == [
        "ok",
        "timeout",
        "unsupported",
        "failed",
    ]
    assert "memory" in manifest["outcomes"][3]["reason"]
    # what failed or ran out of time is tried again, what is not supported is a result
    assert do(tmp_path, "routes", *runs) == 2


def test_an_outcome_that_cannot_be_written_stops_the_batch(tmp_path: Path, network: str) -> None:
    (tmp_path / "routes").write_text("a file where a folder is needed")
    with pytest.raises(RoutelabError, match="no outcome was written"):
        do(tmp_path, "routes", route(tmp_path, network, "dor"))
    assert (
        not (tmp_path / "manifest.json").exists()
        or "routes/dor" not in (tmp_path / "manifest.json").read_text()
    )


def test_a_damaged_spec_is_refused(tmp_path: Path) -> None:
    (tmp_path / "spec.json").write_text("{")
    with pytest.raises(InputError, match="damaged"):
        run_batch(tmp_path / "spec.json", tmp_path / "manifest.json")
