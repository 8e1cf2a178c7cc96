"""Speed of the flow engine beside SimGrid's: one schedule, one platform, wall time of both.

SimGrid's time is that of smpirun from its start to its end, platform and traces read, as users wait
for it; traces are written beforehand. Kernels are compiled. Read the ratio of one run: machines
differ and are shared.
"""

from __future__ import annotations

import re
import shutil
import time
from dataclasses import replace

import numpy as np
import pytest

from routelab.api import Collective, ExportPlugin, Job, Program, WorkloadPlugin
from routelab.registry.instances import load
from routelab.routing.routing import Routing
from routelab.simulation.flow.engine import run_flows
from routelab.simulation.flow.paths import Paths
from routelab.simulation.flow.schedule import Schedule, schedule
from routelab.simulation.smpi import simgrid as smpi
from routelab.toolkit.machine import Machine

pytestmark = pytest.mark.skipif(
    shutil.which(smpi.PROGRAM) is None, reason=f"needs SimGrid: {smpi.PACKAGE}"
)
MACHINE = Machine(
    link_bandwidth=4e9, injection_bandwidth=6e9, ejection_bandwidth=6e9, hop_latency=0.0
)
CASES = ("linear", "pairwise", "npb-mg~class=W", "npb-cg~class=W", "npb-ft~class=W")


def scheduled(name: str) -> Schedule:
    """An alltoall of 1 MiB, or a benchmark, on 32 ranks."""
    if name in ("linear", "pairwise"):
        return schedule(Program(32, (Collective("alltoall", 2**20),), ""), {"alltoall": name})
    workload = load("workload", name)
    assert isinstance(workload, WorkloadPlugin)
    program = schedule(workload.program(Job(32)))
    # all of it is timed, so that SimGrid replays it once
    return replace(program, timed=(0, len(program.tape)))


@pytest.mark.parametrize("name", CASES)
def test_both_engines(benchmark, name: str) -> None:
    """The best of three runs of ours, one of SimGrid's; the ratio beside them."""
    topology = load("topology", "torus~dims=4x2x2x2").build()
    table = Routing.from_name("angara-sssp").table(topology)
    paths, job = Paths.create(table, np.arange(32)), scheduled(name)
    run_flows(job, paths, MACHINE)
    exporter = load("export", "simgrid~latency=per-route")
    assert isinstance(exporter, ExportPlugin)
    platform = exporter.export(table, MACHINE)["platform.xml"]
    replayed = smpi.replay(job, platform, [f"t{rank}" for rank in range(32)], MACHINE)
    times: list[float] = []

    def run() -> None:
        began = time.perf_counter()
        run_flows(job, paths, MACHINE)
        times.append(time.perf_counter() - began)

    benchmark.group = re.sub("~.*", "", name)
    benchmark.pedantic(run, rounds=3)
    benchmark.extra_info.update(
        simgrid_seconds=round(replayed.smpirun_seconds, 3),
        ratio=round(replayed.smpirun_seconds / min(times), 1),
    )
    print(f"\n{name}: {min(times):.4f} s, SimGrid {replayed.smpirun_seconds:.2f} s")
