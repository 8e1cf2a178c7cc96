"""Route one network in this process, and print its CPU seconds and memory as one line of JSON.

`perf/scaling.py` runs a process like this for every point, so that no point sees the memory, or
pays for the kernels, of another. Times are CPU seconds of rules, selection and layers together,
the table materialised, kernels loaded. Memory is the peak of the process, Python and kernels
included.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from typing import Any

from stage_clock import StageClock

from routelab.api import Topology
from routelab.registry.instances import RoutingPlugins, load_routing
from routelab.routing.facts import routing_facts
from routelab.routing.routing import Routing
from routelab.routing.topology import load_network

ENOUGH = 5.0
"""CPU seconds after which a point is not measured again."""


def peak_mb() -> float:
    """Largest resident memory of this process so far, in MB (2^20 bytes)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def load_kernels(dims: str, failed: int, routing: RoutingPlugins) -> None:
    """Route a small network of the same kind, prove it and tell its facts."""
    small = network("x".join(str(min(int(n), 3)) for n in dims.split("x")), min(failed, 1))
    routed = Routing(routing).routes(small)
    routing_facts(routed)


def network(dims: str, failed: int) -> Topology:
    links = f",fail_links={failed},seed=1" if failed else ""
    return load_network(f"torus~dims={dims}{links}")[1]


def measure(topology: Topology, routing: RoutingPlugins, rounds: int) -> dict[str, Any]:
    before, seconds = peak_mb(), []
    while len(seconds) < rounds and sum(seconds) < ENOUGH:
        routed = Routing(routing).routes(topology)
        seconds.append(routed.cpu_seconds)
        hops = len(routed.table.hop_channel)
        del routed  # the next round shall not need twice the memory
    return {
        "cpu_seconds": min(seconds),
        "rounds": len(seconds),
        "peak_mb": peak_mb(),
        "peak_before_mb": before,
        "table_hops": hops,
    }


def profile(topology: Topology, routing: RoutingPlugins) -> dict[str, Any]:
    """CPU seconds and peak memory by stage, from the rules to the facts."""
    clock, peaks = StageClock(), {}
    with clock.running(routing):
        begin = time.process_time()
        routed = Routing(routing).routes(topology)
        peaks["routing and legality"] = peak_mb()
        with clock.stage("proof"):
            _ = routed.verdict
        peaks["proof"] = peak_mb()
        with clock.stage("facts: rest"):
            routing_facts(routed)
        peaks["facts"] = peak_mb()
        total = time.process_time() - begin
    stages = clock.seconds | {"rest": total - sum(clock.seconds.values())}
    return {"stages": stages, "peaks_mb": peaks}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dims")
    parser.add_argument("failed", type=int)
    parser.add_argument("routing")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--memory-gb", type=float, default=20.0)
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    # a point that is too large ends with an error instead of taking the machine down
    limit = int(options.memory_gb * 2**30)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    routing = load_routing(options.routing)
    load_kernels(options.dims, options.failed, routing)
    topology = network(options.dims, options.failed)
    facts = (
        profile(topology, routing)
        if options.profile
        else measure(topology, routing, options.rounds)
    )
    print(json.dumps({"nodes": topology.num_terminals, "channels": topology.num_channels} | facts))


if __name__ == "__main__":
    main()
