"""A comparison on this machine whose launcher, benchmarks and fabric do what they are told."""

import re
import sys
from pathlib import Path

import pytest

from routelab.api import (
    BenchmarkError,
    BenchmarkPlugin,
    BenchmarkResult,
    FigureOfMerit,
)
from routelab.cluster.bench.comparison import Comparison, ComparisonPart
from routelab.cluster.bench.fabric.fabric import Fabric, FabricError
from routelab.cluster.bench.launchers import Launcher
from routelab.cluster.bench.plan import MeasurementPlan
from routelab.cluster.bench.session import Session
from routelab.cluster.bench.store import RunStore
from routelab.registry.instances import load_routing
from routelab.routing.routing import Routing
from routelab.routing.topology import load_network
from routelab.study.bench_settings import BenchSettings
from routelab.study.cluster.keys import load_cluster

MPIEXEC = """#!/bin/sh
[ "$1" = --version ] && { echo "a launcher for tests"; echo "version 1.2.3"; exit; }
shift; size=$1; shift
i=0
while [ $i -lt $size ]; do PMI_RANK=$i PMI_SIZE=$size "$@" || exit; i=$((i + 1)); done
"""


class Benchmark(BenchmarkPlugin):
    """Runs a Python file and expects one line with a time from rank 0."""

    name = "told"
    summary = "Does what a file says"
    figure = "time"

    def executables(self, ranks):
        return ("python3",)

    def supports(self, ranks, ranks_per_node):
        return "it needs fewer than 100 ranks" if ranks >= 100 else None

    def command(self, task):
        return (str(task.executable), "script.py", str(task.ranks))

    def files(self, task):
        return {"script.py": self.script}

    def parse(self, output, task):
        times = re.findall(r"^time (\S+) s$", output.stdout, re.MULTILINE)
        if len(times) != 1:
            raise BenchmarkError("no-result", "told: there is no line with a time")
        return BenchmarkResult((FigureOfMerit("time", float(times[0]), "s", "lower"),), "1.0")


class Recorder(Fabric):
    """Writes down what is asked of it, and fails where it is told to."""

    export = ""

    def __init__(self, record):
        self.record = record
        self.fails = ()

    def _do(self, what, job):
        with self.record.open("a") as stream:
            stream.write(f"{what} {job.routing}\n")
        if what in self.fails:
            raise FabricError(f"{what} does not work")

    def apply(self, job, run):
        self._do("apply", job)

    def restore(self, job, run):
        self._do("restore", job)

    @property
    def done(self):
        return self.record.read_text().splitlines() if self.record.exists() else []


OK = """
import os
if os.environ["PMI_RANK"] == "0":
    print("time 1.5 s")
"""


class Site:
    """What a test changes, and the sessions that it makes."""

    def __init__(self, folder: Path):
        self.folder = folder
        program = folder / "mpiexec"
        program.write_text(MPIEXEC)
        program.chmod(0o755)
        (folder / "test.yaml").write_text(
            f"launcher: mpiexec\nprogram: {program}\nfabric: {{apply: [on], restore: [off]}}\n"
        )
        self.fabric = Recorder(folder / "record")
        self.scripts = {"one": OK, "two": OK}
        self.routings = ("angara-bfs", "angara-sssp")
        self.settings = {"repeats": 2, "warm_up": 1, "seconds": 120}
        self.apply = True
        self.ranks_per_node = 1
        self.store = folder

    def session(
        self, topology="torus~dims=2", hosts=(), executable=Path(sys.executable), **options
    ):
        file = load_cluster(self.folder / "test.yaml")
        name, network = load_network(topology)
        chosen = tuple(ComparisonPart(text, load_routing(text).name) for text in self.routings)
        benchmarks = {}
        for key, script in self.scripts.items():
            benchmarks[key] = Benchmark()
            benchmarks[key].script = script
        comparison = Comparison(
            topology,
            chosen,
            tuple(ComparisonPart(key, f"told~name={key}") for key in benchmarks),
            BenchSettings(**self.settings),
        )
        plan = MeasurementPlan(
            comparison,
            name,
            file,
            Launcher(
                file.cluster,
                file.cluster.program,
                hosts,
                network.num_terminals,
                self.ranks_per_node,
            ),
            {routing.id: Routing.from_name(routing.text).reroute(network) for routing in chosen},
            {},
            benchmarks,
            dict.fromkeys(benchmarks, executable),
            self.fabric if self.apply else None,
        )
        store = RunStore(self.store / "runs")
        return Session(
            plan,
            store,
            self.store / "fabrics",
            lambda topology, routing: Routing.from_name(routing).reroute(load_network(topology)[1]),
            **options,
        )


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path)
