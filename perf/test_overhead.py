"""What the workflow costs beside computing: processor time for 10, 100 and 1000 pairs.

A pair is a network and a routing. The same pairs go through Snakemake, with its jobs' imports,
processes, files and the report, and through a loop in one process that keeps nothing. Kernels
are compiled beforehand. Processor seconds of all processes together, since wall time depends on
who else uses the machine; `overhead_ms` is the difference for one pair.
"""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NETWORKS = ("4x2", "4x4", "4x2x2", "4x4x2", "4x2x2x2")
PAIRS = (10, 100, 1000)

STUDY = """\
title: Overhead
topologies:
  - torus: {{dims: {{sweep: [{dims}]}}}}
routings:
  - angara-sssp: {{tie_seed: {{range: {seeds}}}}}
tables:
  loads: {{rows: [routing, topology], values: [max_load], over: {{tie_seed: median}}}}
"""

LOOP = """\
import json, sys, time
from routelab.registry.catalogue import installed_catalogue
from routelab.registry.instances import load
from routelab.routing.route import route_network
from routelab.routing.routing import Routing
from routelab.routing.topology import load_network

dims, seeds = sys.argv[1].split(","), int(sys.argv[2])
metrics = [load("metric", e.key) for e in installed_catalogue().entries("metric") if e.plugin]
names = [f"angara-sssp~tie_seed={i}" if i else "angara-sssp" for i in range(seeds)]
routings = [Routing.from_name(name) for name in names]
route_network(load_network(f"torus~dims={dims[0]}")[1], routings[0], metrics)
begin = time.process_time()
for each in dims:
    network = load_network(f"torus~dims={each}")[1]
    for routing in routings:
        route_network(network, routing, metrics)
print(json.dumps({"computing": time.process_time() - begin}))
"""


def cpu_of(command: list[str], folder: Path) -> tuple[float, str]:
    """Processor seconds of a command and of all its children, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def workflow(folder: Path, pairs: int) -> list[str]:
    """The command that runs a study of so many pairs, whose files are written here."""
    studies = folder / "config" / "studies"
    studies.mkdir(parents=True)
    (folder / "config" / "config.yaml").write_text("studies: [overhead]\n")
    text = STUDY.format(dims=", ".join(NETWORKS), seeds=pairs // len(NETWORKS))
    (studies / "overhead.yaml").write_text(text)
    snakefile = str(ROOT / "Snakefile")
    return [sys.executable, "-m", "snakemake", "--snakefile", snakefile, "--cores", "2"]


@pytest.fixture(scope="module", autouse=True)
def compiled(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Kernels in the cache, for both ways."""
    folder = tmp_path_factory.mktemp("warm")
    cpu_of(workflow(folder, len(NETWORKS)), folder)


@pytest.mark.parametrize("pairs", PAIRS)
def test_overhead(benchmark, tmp_path: Path, pairs: int) -> None:
    command = workflow(tmp_path, pairs)
    spent, wall = [], []

    def run() -> None:
        begin = time.perf_counter()
        spent.append(cpu_of(command, tmp_path)[0])
        wall.append(time.perf_counter() - begin)

    benchmark.group = "workflow"
    benchmark.pedantic(run, rounds=1)
    outcomes = list((tmp_path / "results").glob("*/routes/*/*/outcome.json"))
    assert len(outcomes) == pairs
    assert all(json.loads(path.read_text())["status"] == "ok" for path in outcomes)

    again, _ = cpu_of(command, tmp_path)
    shutil.rmtree(tmp_path / "results")
    loop = [sys.executable, "-c", LOOP, ",".join(NETWORKS), str(pairs // len(NETWORKS))]
    process, printed = cpu_of(loop, tmp_path)
    computing = json.loads(printed)["computing"]
    benchmark.extra_info.update(
        pairs=pairs,
        workflow_cpu_seconds=round(spent[0], 2),
        workflow_wall_seconds=round(wall[0], 2),
        nothing_to_do_cpu_seconds=round(again, 2),
        one_process_cpu_seconds=round(process, 2),
        computing_cpu_seconds=round(computing, 3),
        ratio=round(spent[0] / process, 2),
        overhead_ms_per_pair=round(1000 * (spent[0] - computing) / pairs, 1),
    )
    print(json.dumps(benchmark.extra_info))
