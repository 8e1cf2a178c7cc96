"""Routing time against size, for every routing that is installed.

The time is that of rules, selection and layers together, kernels compiled and loaded; networks
are made beforehand. Read the numbers of one run against each other: machines differ and are shared.
"""

from __future__ import annotations

import pytest

from routelab.api import Topology
from routelab.deadlock import check_hop_routing, check_table
from routelab.registry.instances import load, load_routing
from routelab.routing.routing import Routing
from routelab.toolkit import build_grid

SIZES = {
    "4x2x2x2": 32,
    "4x4x4": 64,
    "4x4x4x2": 128,
    "6x6x6": 216,
    "4x4x4x4": 256,
    "8x8x8": 512,
}
"""Networks and their nodes."""

ROUTINGS = {
    "angara-bfs": 512,
    "angara-genetic": 128,
    "angara-sssp": 256,
    "sssp@angara~turns=exact": 256,
    "dor": 512,
    "first@direction-order": 512,
    "dfsssp": 128,  # beyond, tori need more than its eight virtual channels
    "p-sssp@up-down": 512,
    "p2-sssp@up-down": 128,
}
"""Routings, and up to how many nodes they are measured: the slow ones end earlier."""


def network(dims: str) -> Topology:
    return build_grid("torus", tuple(map(int, dims.split("x"))), wrap=True)


@pytest.mark.parametrize(
    ("routing", "dims"),
    [(r, d) for r, most in ROUTINGS.items() for d, nodes in SIZES.items() if nodes <= most],
)
def test_routing_time(benchmark, routing: str, dims: str) -> None:
    topology = network(dims)
    chosen = load_routing(routing)
    benchmark.group = routing
    benchmark.extra_info.update(routing=routing, dims=dims, nodes=topology.num_switches)
    Routing(chosen).routes(topology)  # the first run loads kernels
    routed = []

    def route() -> None:
        routed[:] = [Routing(chosen).routes(topology)]

    benchmark.pedantic(route, rounds=3)
    # what the note quotes: the routing alone, without the legality check around it
    benchmark.extra_info["routing_seconds"] = routed[0].seconds


@pytest.mark.parametrize(
    ("network", "vcs"),
    [
        ("random-regular~n=64,degree=12,terminals=6", 9),
        ("slim-fly~q=11", 5),
        ("random-regular~n=720,degree=17,terminals=7", 13),
    ],
)
def test_time_of_proofs_hop_by_hop(benchmark, network: str, vcs: int) -> None:
    """The last one takes a minute or more."""
    topology, part = load("topology", network).build(), Routing.from_name("polarized")
    small = load("topology", "hypercube~dims=3").build()
    check_hop_routing(part, small, 9)  # the first run loads kernels
    benchmark.group = "proof of polarized"
    benchmark.extra_info.update(network=network, switches=topology.num_switches)
    verdict = benchmark.pedantic(check_hop_routing, (part, topology, vcs), rounds=1)
    assert verdict.proven


@pytest.mark.parametrize("dims", SIZES)
def test_proof_time(benchmark, dims: str) -> None:
    table = Routing.from_name("dor").table(network(dims))
    benchmark.group = "deadlock check of dor"
    check_table(table)
    verdict = benchmark.pedantic(lambda: check_table(table), rounds=3)
    assert verdict.proven
