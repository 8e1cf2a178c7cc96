"""Studies with traffic: what Snakemake runs for them."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.workflow

STUDY = """\
title: Simulated
topologies: [torus~dims=4x4]
routings: [dor, rdr]
traffic: [uniform, {tornado: {shift: 1x0}}]
simulation: {loads: [0.1]}
"""


@pytest.fixture
def simulated(folder):
    folder.write("config/studies/small.yaml", STUDY)
    return folder


def test_batches_of_simulations_run_behind_their_network_with_one_thread(simulated):
    outputs = simulated.ran()
    jobs = [path for path in outputs if path.startswith("simulations/")]
    folders = {tuple(path.split("/")[1:4]) for path in jobs}
    assert folders == {
        ("torus~dims=4x4", routing, traffic)
        for routing in ("dor", "rdr")
        for traffic in ("uniform", "tornado~shift=1x0")
    }
    # a routing without a table is not routed
    assert [path for path in outputs if path.startswith("routes/")] == ["routes/torus~dims=4x4/dor"]
    call = simulated.by_output()["batches/simulations/1.json"]
    assert call[:3] == ["NUMBA=1", "OMP=1", "batch"]
    lists = sorted((simulated.path / "results/.plan").glob("warm-*.json"))
    warm = [job for path in lists for job in json.loads(path.read_text())["jobs"]]
    kinds = [(job["class"].rpartition(":")[2], job["text"]) for job in warm]
    assert kinds == [
        ("TopologyJob", "torus~dims=4x4"),
        ("RouteJob", "dor"),
        ("MetricJob", "dor"),
        ("SimulationJob", "dor"),
        ("SimulationJob", "rdr"),
    ]
    assert simulated.ran() == []
