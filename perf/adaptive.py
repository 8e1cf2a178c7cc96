"""Simulate adaptive routings on random graphs; print accepted loads and speeds.

Settings of the Polarized paper's switch model where it states them: packets of 16 phits, buffers of
160 in and 96 out per virtual channel, 9 virtual channels for all routings, speed-up 2.
"""

from __future__ import annotations

import argparse
import resource

from routelab.api import Demand
from routelab.routing.routing import Routing
from routelab.routing.topology import load_network
from routelab.simulation import OpenLoop, Router, Simulation

WARMUP, COUNTED = 1600, 4800


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("topology", help="for example random-regular~n=64,degree=12,terminals=6")
    parser.add_argument("routing", nargs="+")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--load", type=float, default=1.0)
    parser.add_argument("--output-buffer-flits", type=int, default=96)
    parser.add_argument("--speedup", type=int, default=2)
    parser.add_argument("--priority", default="age")
    options = parser.parse_args()
    topology = load_network(options.topology)[1]
    demand = Demand.uniform(topology, "everybody to all others")
    router = Router(
        vcs=9,
        packet_flits=16,
        buffer_flits=160,
        output_buffer_flits=options.output_buffer_flits,
        speedup=options.speedup,
        priority=options.priority,
    )
    for text in options.routing:
        program = Routing.from_name(text).prepare(topology, router.vcs)
        loads, rates, seconds = [], [], []
        for seed in range(1, options.seeds + 1):
            simulation = Simulation(
                topology, program, router, OpenLoop(demand, options.load), seed=seed
            )
            simulation.run(WARMUP)
            before = simulation.cpu_seconds
            counts = simulation.run(COUNTED)
            rates.append(counts.flit_hops / (simulation.cpu_seconds - before) / 1e6)
            seconds.append(simulation.cpu_seconds)
            loads.append(counts.ejected_flits / COUNTED / topology.num_terminals)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(
            f"{text}: accepted {sum(loads) / len(loads):.4f} ({min(loads):.4f} to {max(loads):.4f})"
            f", {max(rates):.1f} million flit-hops per CPU-s, "
            f"{1e3 * router.packet_flits / max(rates):.0f} ns per packet hop, "
            f"{min(seconds):.1f} CPU-s, {peak} MB"
        )


if __name__ == "__main__":
    main()
