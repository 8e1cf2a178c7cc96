"""Studies with traffic: what Snakemake runs for them, and one small study through everything."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import pytest

pytestmark = pytest.mark.workflow

STUDY = """\
title: Simulated
topologies: [torus~dims=4x4]
routings: [dor, rdr]
traffic: [uniform, {{tornado: {{shift: 1x0}}}}]
simulation:
  {{loads: [0.1, 0.2, 0.9], vcs: 4, precision: {precision}, sample_cycles: 20, max_cycles: 4000}}
tables:
  latency:
    of: loads
    rows: [traffic, load, routing]
    values: [latency_mean, accepted_load, saturated]
  ratios:
    of: loads
    rows: [traffic, routing]
    values: [latency_mean_ratio]
    relative: {{to: dor, column: latency_mean}}
    where: {{load: 0.1}}
figures:
  curve: {{of: loads, kind: curve, x: load, y: latency_mean, col: traffic}}
  packets: {{of: latencies, kind: ecdf, x: latency, col: traffic, where: {{load: 0.1}}}}
  boxes: {{of: terminals, kind: box, x: traffic, y: accepted, where: {{load: 0.1}}}}
  ranked: {{of: channels, kind: ranked, y: utilisation, col: traffic, where: {{load: 0.1}}}}
  heat: {{of: channels, kind: heat, x: at_x, y: at_y, colour: utilisation, where: {{load: 0.1}}}}
  net: {{of: channels, kind: network, colour: utilisation, where: {{load: 0.1, traffic: uniform}}}}
"""


@pytest.fixture
def simulated(folder):
    folder.write("config/studies/small.yaml", STUDY.format(precision=0.2))
    return folder


def test_batches_of_simulations_run_behind_their_network_with_one_thread(simulated):
    made = simulated.ran()
    jobs = [path for path in made if path.startswith("simulations/")]
    folders = {tuple(path.split("/")[1:4]) for path in jobs}
    assert folders == {
        ("torus~dims=4x4", routing, traffic)
        for routing in ("dor", "rdr")
        for traffic in ("uniform", "tornado~shift=1x0")
    }
    # a routing without a table is not routed
    assert [path for path in made if path.startswith("routes/")] == ["routes/torus~dims=4x4/dor"]
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


def test_other_settings_are_simulated_anew_and_failed_ones_tried_again(simulated):
    (simulated.path / "status").write_text("failed")
    simulated.ran()
    (simulated.path / "status").write_text("ok")
    again = simulated.ran()
    assert sum(path.startswith("simulations/") for path in again) == 4
    simulated.write("config/studies/small.yaml", STUDY.format(precision=0.3))
    others = [path for path in simulated.ran() if not path.startswith("report")]
    assert len(others) == 4
    assert all(path.startswith("simulations/") and "precision=0.3" in path for path in others)


def test_a_small_study_from_networks_to_curves(simulated):
    (simulated.path / "bin/routelab").unlink()  # the stub
    # kernels that were compiled before are used: this is no test of the compiler
    for name in ("ROUTELAB_CACHE_DIR", "XDG_CACHE_HOME"):
        simulated.env.pop(name)
        if name in os.environ:
            simulated.env[name] = os.environ[name]
    run = simulated.run()
    assert run.returncode == 0, run.stdout + run.stderr
    results = simulated.path / "results"
    outcomes = [
        json.loads(path.read_text())
        for path in results.glob("small/simulations/*/*/*/*/outcome.json")
    ]
    assert [outcome["status"] for outcome in outcomes] == ["ok"] * 4

    report = results / "report/small"
    rows = {
        (row["traffic"], row["load"], row["routing"]): row
        for row in read(report / "tables/latency.csv")
    }
    # one hop, five cycles: router and link, router, injection and ejection; little to wait for
    for routing in ("dor", "rdr"):
        assert 5 <= float(rows["tornado~shift=1x0", "0.1", routing]["latency_mean"]) < 5.5
        # two hops on average to the 15 others: 32 / 15
        assert float(rows["uniform", "0.1", routing]["latency_mean"]) > 3 + 2 * 32 / 15
    ratios = {
        row["traffic"]: float(row["latency_mean_ratio"])
        for row in read(report / "tables/ratios.csv")
    }
    assert ratios["tornado~shift=1x0"] == pytest.approx(1, abs=0.05)
    for name in ("curve", "packets", "boxes", "ranked", "heat", "net"):
        for suffix in ("svg", "png", "pdf", "csv"):
            assert (report / f"figures/{name}.{suffix}").stat().st_size > 0
    assert len(read(report / "simulations.csv")) == 12
    page = (report / "index.html").read_text()
    assert "4 simulations on 1 network, all of them ok." in page


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))
