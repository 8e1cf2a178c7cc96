"""Speed of the packet engine: switch-to-switch flit-hops per second of CPU time, kernels compiled.

CPU time per packet hop (`test_packet_hops`) compares routers and lengths of packets: the engine
moves packets, so that a hop of sixteen flits takes about as long as that of one.

Floor: 8 million with packets of one flit and 80 million with 16-flit packets under virtual
cut-through, on 8x8 and 8x8x8; a third of the rate of 8x8 up to 20,000 switches; 70 % of a
built-in algorithm's rate for one of twenty lines. Read the rates of one run against each other:
machines differ and are shared.
"""

from __future__ import annotations

import resource

import pytest

from routelab.api import Demand, HopProgram, Topology
from routelab.routing.routing import Routing
from routelab.routing.topology import load_network
from routelab.simulation import OpenLoop, Router, Simulation

CYCLES = {"8x8": 30_000, "8x8x8": 5_000, "10x10x10": 2_500, "16x16x16": 600, "7x7x7x7x7": 150}

QUEUED, COMBINED = {"router": "input-queued"}, {"router": "combined"}
LONG = {"packet_flits": 16, "buffer_flits": 64}
PHITS = {"vcs": 9, "packet_flits": 16, "buffer_flits": 160}
HOPS = [
    ("torus~dims=8x8x8", "dor", QUEUED, 0.5, 2_000),
    ("torus~dims=8x8x8", "dor", COMBINED, 0.5, 2_000),
    ("torus~dims=8x8", "dor", QUEUED, 0.5, 30_000),
    ("torus~dims=8x8", "dor", COMBINED, 0.5, 30_000),
    ("torus~dims=8x8", "dor", QUEUED | LONG, 0.5, 200_000),
    ("torus~dims=8x8", "dor", COMBINED | LONG, 0.5, 200_000),
    ("random-regular~n=64,degree=12,terminals=6", "polarized", COMBINED | PHITS, 0.9, 5_000),
    ("dragonfly~h=3", "ugal", COMBINED, 0.5, 3_000),
]
"""Network, routing, settings of the routers, load and cycles."""


def rate(
    topology: Topology, program: HopProgram, router: Router, load: float, cycles: int
) -> float:
    """Flit-hops per CPU-second, after a warm-up of a third of the cycles."""
    demand = Demand.uniform(topology, "everybody to all others")
    simulation = Simulation(topology, program, router, OpenLoop(demand, load), seed=1)
    simulation.run(max(cycles // 3, 60))
    before = simulation.cpu_seconds
    counts = simulation.run(cycles)
    return counts.flit_hops / (simulation.cpu_seconds - before)


def measured(
    benchmark, network: str, routing: str, router: Router, load: float, cycles: int
) -> None:
    """The best of three rates, and the memory of the process at its largest, beside the time."""
    topology = load_network(network)[1]
    program = Routing.from_name(routing).prepare(topology, router.vcs)
    rates: list[float] = []

    def run() -> None:
        rates.append(rate(topology, program, router, load, cycles))

    benchmark.group = f"{network} {router.packet_flits}-flit"
    benchmark.pedantic(run, rounds=3)
    benchmark.extra_info.update(
        network=network,
        routing=routing,
        load=load,
        vcs=router.vcs,
        packet_flits=router.packet_flits,
        million_flit_hops_per_cpu_second=round(max(rates) / 1e6, 2),
        ns_per_packet_hop=round(1e9 * router.packet_flits / max(rates), 1),
        all_rates=[round(speed / 1e6, 2) for speed in rates],
        peak_memory_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    )
    print(
        f"\n{network} {routing} load {load} {router.vcs} VCs: {max(rates) / 1e6:.1f} million/s, "
        f"{1e9 * router.packet_flits / max(rates):.0f} ns per packet hop"
    )


@pytest.mark.parametrize(("network", "routing", "settings", "load", "cycles"), HOPS)
def test_packet_hops(
    benchmark, network: str, routing: str, settings: dict[str, object], load: float, cycles: int
) -> None:
    measured(benchmark, network, routing, Router(**settings), load, cycles)


@pytest.mark.parametrize("dims", ["8x8", "8x8x8"])
@pytest.mark.parametrize("load", [0.3, 0.5])
@pytest.mark.parametrize("vcs", [2, 4])
@pytest.mark.parametrize("flits", [1, 16])
def test_tori(benchmark, dims: str, load: float, vcs: int, flits: int) -> None:
    router = Router(vcs=vcs, packet_flits=flits, buffer_flits=8 if flits == 1 else 4 * flits)
    measured(benchmark, f"torus~dims={dims}", "dimension-order", router, load, CYCLES[dims])


@pytest.mark.parametrize("dims", CYCLES)
def test_size(benchmark, dims: str) -> None:
    network = f"torus~dims={dims}"
    measured(benchmark, network, "dimension-order", Router(vcs=2), 0.2, CYCLES[dims])


@pytest.mark.parametrize("routing", ["dimension-order", "rdr", "minimal-adaptive", "valiant"])
def test_algorithms(benchmark, routing: str) -> None:
    measured(benchmark, "torus~dims=8x8", routing, Router(vcs=4), 0.2, CYCLES["8x8"])
