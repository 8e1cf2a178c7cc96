"""Speed of the flow engine: messages per second of CPU time, kernels compiled.

Floor: a million small messages a second where few share a channel (`neighbours`, and rounds of the
models of LU, CG and FT), and an alltoall of 32 nodes in 20 ms. `full` computes all shares anew at
every change. Read rates of one run against each other: machines differ and are shared.
"""

from __future__ import annotations

import time

import numpy as np
import pytest

from routelab.api import Job, RouteTable
from routelab.notebook import route
from routelab.registry.instances import load
from routelab.simulation.flow.engine import FlowSimulation
from routelab.simulation.flow.paths import Paths
from routelab.simulation.flow.schedule import Schedule, schedule
from routelab.toolkit import BlockBuilder, build_grid
from routelab.toolkit.machine import Machine

MACHINE = Machine(
    link_bandwidth=4e9, injection_bandwidth=4e9, ejection_bandwidth=4e9, memory_bandwidth=5e9
)


def torus_table() -> RouteTable:
    """The Angara paper's 32 nodes."""
    return route(build_grid("torus", (4, 2, 2, 2), wrap=True), "dor").table


def alltoall(kind: str) -> Schedule:
    """Of 1 MiB on 32 ranks, all at once or in phases."""
    rank, builder = np.arange(32), BlockBuilder(32)
    for step in range(1, 32):
        peer = rank ^ step
        if kind == "pairwise":
            builder.send_receive(rank, peer, 2**20, peer)
        else:
            builder.isend(rank, peer, 2**20).ireceive(rank, peer, 2**20)
    return _only(builder.wait(rank), 1)


def neighbours() -> Schedule:
    """128 ranks exchange 8 bytes with six others, 500 times."""
    rank, builder = np.arange(128), BlockBuilder(128)
    for step in (1, 4, 16):
        for peer in ((rank + step) % 128, (rank - step) % 128):
            builder.ireceive(rank, peer, 8).isend(rank, peer, 8)
    return _only(builder.wait(rank), 500)


def _only(builder: BlockBuilder, times: int) -> Schedule:
    return Schedule(
        ranks=(block := builder.build()).ranks,
        blocks=(block,),
        names=("block",),
        tape=np.zeros(times, np.int32),
        timed=(0, times),
        round_start=np.zeros(1, np.int64),
        total_rounds=0,
    )


def measured(benchmark, program: Schedule, table: RouteTable, *, full: bool = False) -> None:
    """The best of three rates, beside the work."""
    paths = Paths.create(table, np.arange(program.ranks) * 32 // program.ranks)
    FlowSimulation(program, paths, MACHINE).run(1)
    best = np.inf
    messages = 0.0

    def run() -> None:
        nonlocal best, messages
        simulation = FlowSimulation(program, paths, MACHINE, recompute_all=full)
        begin = time.thread_time()
        simulation.run()
        best = min(best, time.thread_time() - begin)
        result = simulation.result()
        share = result.rounds / result.total_rounds if result.total_rounds else 1
        messages = result.messages * share
        benchmark.extra_info.update(
            time_steps=result.time_steps,
            share_computations=result.share_computations,
            computed_shares=result.computed_shares,
        )

    benchmark.pedantic(run, rounds=3)
    benchmark.extra_info.update(million_messages_per_cpu_second=round(messages / best / 1e6, 3))
    print(f"\n{best * 1e3:.1f} ms, {messages / best / 1e6:.2f} million messages/s")


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("kind", ["linear", "pairwise"])
def test_alltoall(benchmark, kind: str, full: bool) -> None:
    measured(benchmark, alltoall(kind), torus_table(), full=full)


def test_neighbours(benchmark) -> None:
    measured(benchmark, neighbours(), torus_table())


@pytest.mark.parametrize("name", ["npb-lu", "npb-mg", "npb-cg", "npb-ft", "npb-is"])
def test_benchmarks(benchmark, name: str) -> None:
    program = load("workload", f"{name}~class=C").program(Job(128))
    measured(benchmark, schedule(program, iterations=2), torus_table())
