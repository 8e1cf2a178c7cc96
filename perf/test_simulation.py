"""Speed of the packet engine: switch-to-switch flit-hops per second of CPU time, kernels compiled.

Floor: 8 million with packets of one flit and 80 million with 16-flit packets under virtual
cut-through, on 8x8 and 8x8x8; a third of the rate of 8x8 up to 20,000 switches; 70 % of a
built-in algorithm's rate for one of twenty lines. Read the rates of one run against each other:
machines differ and are shared.
"""

from __future__ import annotations

import resource

import pytest

from routelab.api import Demand, HopProgram, Topology
from routelab.registry.instances import load_routing
from routelab.simulation import OpenLoop, Router, Simulation
from routelab.simulation.programs import program
from routelab.toolkit import build_grid

CYCLES = {"8x8": 30_000, "8x8x8": 5_000, "10x10x10": 2_500, "16x16x16": 600, "7x7x7x7x7": 150}


def rate(topology: Topology, made: HopProgram, router: Router, load: float, cycles: int) -> float:
    """Flit-hops per CPU-second, after a warm-up of a third of the cycles."""
    demand = Demand.uniform(topology, "everybody to all others")
    simulation = Simulation(topology, made, router, OpenLoop(demand, load), seed=1)
    simulation.run(max(cycles // 3, 60))
    before = simulation.cpu_seconds
    counts = simulation.run(cycles)
    return counts.flit_hops / (simulation.cpu_seconds - before)


def measured(benchmark, dims: str, routing: str, router: Router, load: float) -> None:
    """The best of three rates, and the memory of the process at its largest, beside the time."""
    topology = build_grid("torus", tuple(map(int, dims.split("x"))), wrap=True)
    made = program(load_routing(routing), topology, router.vcs)
    rates: list[float] = []

    def run() -> None:
        rates.append(rate(topology, made, router, load, CYCLES[dims]))

    benchmark.group = f"{dims} {router.packet_flits}-flit"
    benchmark.pedantic(run, rounds=3)
    benchmark.extra_info.update(
        dims=dims,
        routing=routing,
        load=load,
        vcs=router.vcs,
        packet_flits=router.packet_flits,
        million_flit_hops_per_cpu_second=round(max(rates) / 1e6, 2),
        all_rates=[round(one / 1e6, 2) for one in rates],
        peak_memory_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    )
    print(f"\n{dims} {routing} load {load} {router.vcs} VCs: {max(rates) / 1e6:.1f} million/s")


@pytest.mark.parametrize("dims", ["8x8", "8x8x8"])
@pytest.mark.parametrize("load", [0.3, 0.5])
@pytest.mark.parametrize("vcs", [2, 4])
@pytest.mark.parametrize("flits", [1, 16])
def test_tori(benchmark, dims: str, load: float, vcs: int, flits: int) -> None:
    router = Router(vcs=vcs, packet_flits=flits, buffer_flits=8 if flits == 1 else 4 * flits)
    measured(benchmark, dims, "dimension-order", router, load)


@pytest.mark.parametrize("dims", CYCLES)
def test_size(benchmark, dims: str) -> None:
    measured(benchmark, dims, "dimension-order", Router(vcs=2), 0.2)


@pytest.mark.parametrize("routing", ["dimension-order", "rdr", "minimal-adaptive", "valiant"])
def test_algorithms(benchmark, routing: str) -> None:
    measured(benchmark, "8x8", routing, Router(vcs=4), 0.2)
