"""Measure `ib-balanced` against lower bounds and the engines of OpenSM; print a row per table.

    python perf/ib_balanced.py                       10 seeds of each network
    python perf/ib_balanced.py --only torus --vls 8  some networks, one number of lanes
    python perf/ib_balanced.py --opensm 1            with OpenSM's engines, on the first seed

The bound holds for all tables of shortest routes. It is the mean load of shortest routes, or that
of a linear program where the mean does not show that a table is within 5 %. The seed is that of a
random network, and on other networks that of the search. CPU seconds are those of the routing
alone, kernels loaded.
"""

from __future__ import annotations

import argparse
import csv
import sys
from typing import Any

import numpy as np

from routelab.api import Topology, UnsupportedError
from routelab.metrics import channel_loads, least_attainable, relative_loads
from routelab.metrics.bounds.load_bound import bound_from_weights, network_graph
from routelab.metrics.bounds.search import lower_bound_topology
from routelab.routing.routing import Routing
from routelab.routing.topology import load_network

NETWORKS = (
    "random-regular~n=64,degree=8",
    "random-regular~n=64,degree=10",
    "random-regular~n=50,degree=8,terminals=4",
    "random-regular~n=100,degree=8",
    "random-regular~n=100,degree=10",
    "random-regular~n=200,degree=8",
    "random-regular~n=200,degree=10",
    "torus~dims=4x4",
    "torus~dims=6x6",
    "torus~dims=8x8",
    "torus~dims=4x4x4",
    "torus~dims=6x6x6",
    "torus~dims=8x8x8",
    "fat-tree~k=4,levels=3",
    "fat-tree~k=8,levels=2",
    "fat-tree~k=8,levels=3",
)
ENGINES = ("minhop", "updn", "ftree", "lash", "nue", "sssp", "dfsssp")
NEAR = 1.05
COLUMNS = ("network", "seed", "routing", "max_load", "bound", "stretch", "lanes", "cpu_seconds")


class Bound:
    """Lower bounds of one network, the second computed where the first is not near enough."""

    def __init__(self, topology: Topology, seconds: float) -> None:
        self.topology, self.seconds = topology, seconds
        ones = np.ones(topology.num_channels, np.int64)
        mean = bound_from_weights(network_graph(topology), ones)
        self.value, self.tight = float(least_attainable(topology, mean)), False

    def near(self, load: float) -> float:
        """Return the bound; the linear program's if `load` is not near the mean."""
        if load > NEAR * self.value and not self.tight:
            bound = lower_bound_topology(self.topology, seconds=self.seconds)
            self.value, self.tight = max(self.value, float(bound.load)), True
        return self.value


def measure(topology: Topology, routing: str) -> dict[str, Any]:
    """Route a network, and return the columns of the table; only the reason if that fails."""
    try:
        routed = Routing.from_name(routing).routes(topology)
    except UnsupportedError as error:
        return {"max_load": f"{error}"}
    if "opensm" not in routing and not routed.verdict.proven:
        raise SystemExit(f"{routing} is not proven to be free of deadlock")
    return {
        "max_load": float(relative_loads(topology, channel_loads(routed.table)).max()),
        "lanes": routed.table.virtual_channels,
        "cpu_seconds": round(routed.cpu_seconds, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="networks with this in their names")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--vls", default="8,4,1", help="numbers of lanes, separated by ','")
    parser.add_argument("--opensm", type=int, default=0, help="seeds on which OpenSM routes too")
    parser.add_argument("--bound-seconds", type=float, default=60)
    options = parser.parse_args()
    out = csv.DictWriter(sys.stdout, COLUMNS)
    out.writeheader()
    measure(load_network("torus~dims=4x4")[1], "ib-balanced~vls=1")
    for network in NETWORKS:
        if options.only not in network:
            continue
        bound = None
        for seed in range(1, options.seeds + 1):
            random = network.startswith("random")
            name = f"{network},seed={seed}" if random else network
            topology = load_network(name)[1]
            if bound is None or random:
                bound = Bound(topology, options.bound_seconds)
            search = "" if random else f",seed={seed}"
            routings = [f"ib-balanced~vls={vls}{search}" for vls in options.vls.split(",")]
            if seed <= options.opensm:
                routings += [f"opensm~engine={engine}" for engine in ENGINES]
                routings += ["opensm~engine=nue,vls=1"]
            for routing in routings:
                row = {"network": network, "seed": seed, "routing": routing}
                row |= measure(topology, routing)
                if "lanes" in row:
                    row["bound"] = bound.near(row["max_load"])
                    row["stretch"] = round(row["max_load"] / row["bound"], 3)
                out.writerow(row)
                sys.stdout.flush()


if __name__ == "__main__":
    main()
