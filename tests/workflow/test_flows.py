"""Studies with workloads: what Snakemake runs for them, and one small study through everything."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import pytest

pytestmark = pytest.mark.workflow

STUDY = """\
title: Run
topologies: [torus~dims=4x2]
routings: [dor, {{angara-bfs: {{tie_seed: {{range: 2}}}}}}]
workloads: [{{use: osu-alltoall, as: alltoall}}, {{use: "npb-cg~class=S", as: CG}}]
flow: {{machine: fast, latency: {latency}, iterations: {{by: {{CG: 2}}}}}}
tables:
  times:
    of: flows
    names: {{benchmark: workload}}
    rows: [benchmark, routing]
    values: [timed_s, improvement_percent]
    relative: {{to: angara-bfs, column: timed_s, median: true}}
    over: {{tie_seed: median}}
    runs: false
figures:
  bars: {{of: flows, kind: bar, x: workload, y: timed_s}}
  shares: {{of: flow-channels, kind: ecdf, x: share, col: workload}}
  ranks: {{of: flow-ranks, kind: box, x: workload, y: timed_s}}
"""


@pytest.fixture
def flowing(folder):
    folder.write("config/clusters/fast.yaml", "machine: {link_bandwidth: 4.0e+9}\n")
    folder.write("config/studies/small.yaml", STUDY.format(latency="1.0e-6"))
    return folder


def test_batches_of_flows_run_behind_their_network_and_again_when_settings_change(flowing):
    made = flowing.ran()
    jobs = [path for path in made if path.startswith("flows/")]
    assert len(jobs) == 6
    call = flowing.by_output()["batches/flows/1.json"]
    assert call[:3] == ["NUMBA=1", "OMP=1", "batch"]
    lists = sorted((flowing.path / "results/.plan").glob("warm-*.json"))
    warm = [job for path in lists for job in json.loads(path.read_text())["jobs"]]
    flows = [job["text"] for job in warm if job["class"].endswith(":FlowJob")]
    assert flows == ["dor", "angara-bfs"]
    assert flowing.ran() == []
    flowing.write("config/studies/small.yaml", STUDY.format(latency="2.0e-6"))
    others = [path for path in flowing.ran() if not path.startswith("report")]
    assert len(others) == 6
    assert all(path.startswith("flows/") and "latency=2e-06" in path for path in others)
    flowing.write("config/clusters/fast.yaml", "machine: {link_bandwidth: 5.0e+9}\n")
    assert sum(path.startswith("flows/") for path in flowing.ran()) == 6


def test_a_small_study_from_networks_to_times(flowing):
    (flowing.path / "bin/routelab").unlink()  # the stub
    # kernels that were compiled before are used: this is no test of the compiler
    for name in ("ROUTELAB_CACHE_DIR", "XDG_CACHE_HOME"):
        flowing.env.pop(name)
        if name in os.environ:
            flowing.env[name] = os.environ[name]
    run = flowing.run()
    assert run.returncode == 0, run.stdout + run.stderr
    results = flowing.path / "results"
    outcomes = [
        json.loads(path.read_text()) for path in results.glob("small/flows/*/*/*/*/outcome.json")
    ]
    assert [outcome["status"] for outcome in outcomes] == ["ok"] * 6
    report = results / "report/small"
    rows = read(report / "tables/times.csv")
    assert list(rows[0]) == ["benchmark", "routing", "timed_s", "improvement_percent"]
    named = {(row["benchmark"], row["routing"]): row for row in rows}
    assert float(named["alltoall", "angara-bfs"]["improvement_percent"]) == 0
    # seven messages of 1 MiB through one way in take longer than one through a channel
    assert float(named["alltoall", "dor"]["timed_s"]) > 2**20 / 4e9
    for name in ("bars", "shares", "ranks"):
        for suffix in ("svg", "png", "pdf", "csv"):
            assert (report / f"figures/{name}.{suffix}").stat().st_size > 0
    assert len(read(report / "flows.csv")) == 6
    assert "6 flow simulations on 1 network, all of them ok." in (report / "index.html").read_text()


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))
