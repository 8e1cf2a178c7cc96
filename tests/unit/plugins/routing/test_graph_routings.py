"""Routings for any network: shortest paths and Polarized, against their definitions."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hop_cases import distances
from hypothesis import given, settings
from naive_polarized import PolarizedRoutes
from small_graphs import networks, simple_networks

from routelab.api import Topology, run_tables
from routelab.kernels.hops import DESTINATION, PACKET_COLUMNS, SOURCE, TARGET, RandomWord
from routelab.registry.instances import load
from routelab.routing.routing import Routing
from routelab.testing.inputs.networks import NETWORKS
from routelab.testing.walks import Walker
from routelab.toolkit import build_grid
from routelab.toolkit.families.graph_hops import switch_distances
from routelab_plugins.routing.polarized.kernels import longest_routes


def pairs_of(topology: Topology) -> list[tuple[int, int]]:
    return list(permutations(topology.endpoints.tolist(), 2))


def reason(text: str, topology: Topology, vcs: int) -> str | None:
    return Routing.from_name(text).supports(topology, vcs)


def test_minimal_offers_every_shortest_first_hop() -> None:
    network = build_grid("torus", (4, 4), wrap=True)
    hops = distances(network)
    program = Routing.from_name("minimal").prepare(network, 4)
    seen: set[tuple[int, int]] = set()
    walker = Walker(program, network, seed=1)
    for _ in range(60):
        walk = walker.walk(0, 10)
        seen.add((0, int(network.channel_target[walk.hops[0].channel])))
    near = {n for n in range(16) if hops[0][n] == 1 and hops[n][10] == hops[0][10] - 1}
    assert {there for _, there in seen} == near


def test_minimal_needs_a_virtual_channel_for_each_hop() -> None:
    network = build_grid("torus", (4, 4), wrap=True)
    assert reason("minimal", network, 4) is None
    message = reason("minimal", network, 3)
    assert "the longest shortest path has 4 hops" in message
    assert message.endswith("raise vcs to 4")
    assert "no path" in reason("minimal", NETWORKS["two-components"](), 8)


@pytest.mark.parametrize("name", ["complete", "petersen", "torus", "torus-3d", "parallel-links"])
@pytest.mark.parametrize("penalties", ["absolute", "relative"])
def test_polarized_offers_in_every_state_the_hops_of_the_definition(name, penalties) -> None:
    network = NETWORKS[name]()
    naive = PolarizedRoutes(network)
    vcs = max(naive.longest(s, t, s) for s, t in pairs_of(network))
    assert reason("polarized", network, vcs) is None
    text = f"polarized~penalties={penalties},p1=7,p0=9"
    program = Routing.from_name(text).prepare(network, vcs)
    tables, queues, _ = run_tables(program, network, vcs, capacity=1)
    packets, out = np.zeros((1, PACKET_COLUMNS), np.int32), np.zeros((64, 3), np.int32)
    target_of = network.channel_target.tolist()
    detours = 0
    for source, target in pairs_of(network):
        packets[0, [SOURCE, TARGET, DESTINATION]] = source, target, target
        for here in naive.reachable(source, target) - {target}:
            channels = np.flatnonzero(network.channel_source == here).tolist()
            gains = {c: naive.gain(source, target, here, target_of[c]) for c in channels}
            allowed = [c for c in channels if target_of[c] in naive.allowed(source, target, here)]
            most = max(gains[c] for c in allowed) if penalties == "relative" else 2
            expected = {c: (0, 7, 9)[most - gains[c]] for c in allowed}
            detours += len(allowed) > sum(
                naive.hops[target_of[c]][target] < naive.hops[here][target] for c in allowed
            )
            vc = naive.hops[source][here] - 1
            count = program.hop(
                tables, packets, 0, queues, here, -1, vc, RandomWord(np.uint64(0)), out
            )
            offered = {channel: penalty for channel, _, penalty in out[:count].tolist()}
            assert offered == expected
            assert len(offered) == count
            assert (out[:count, 1] == vc + 1).all()
    # on a complete graph the first hop may go to any switch; on a torus some hops go sideways
    assert detours > 0


def exact(network: Topology) -> tuple[np.ndarray, int, tuple[int, ...]]:
    distance = switch_distances(network)
    starts, channels = network.outgoing
    ends = network.endpoints.astype(np.int32)
    longest = np.empty((len(ends), len(ends)), np.int32)
    targets = np.array(network.channel_target[channels])
    dead, example = longest_routes(starts, targets, distance, ends, int(distance.max()), longest)
    return longest, dead, tuple(example.tolist())


@settings(max_examples=40, deadline=None)
@given(simple_networks(least=3))
def test_the_longest_route_and_dead_ends_agree_with_enumeration(network) -> None:
    naive = PolarizedRoutes(network)
    longest, dead, example = exact(network)
    assert dead == sum(naive.dead_ends(s, t) for s, t in pairs_of(network))
    if dead:
        source, target, switch = example
        assert switch in naive.reachable(source, target)
        assert not naive.allowed(source, target, switch)
        assert f"{dead} dead end" in reason("polarized", network, 99)
    else:
        for s, t in pairs_of(network):
            assert longest[s, t] == naive.longest(s, t, s)
        most = int(longest.max())
        assert reason("polarized", network, most) is None
        assert most == 1 or f"raise vcs to {most}" in reason("polarized", network, most - 1)


@settings(max_examples=40, deadline=None)
@given(networks())
def test_routes_over_switches_without_terminals_have_classes_for_all_hops(network) -> None:
    routing = Routing.from_name("polarized")
    vcs = next((vcs for vcs in range(1, 20) if routing.supports(network, vcs) is None), None)
    if vcs is not None:
        assert routing.verdict(network, vcs).status != "broken"


def test_a_4x4_mesh_has_dead_ends_for_92_pairs() -> None:
    """The number comes from a computation that is independent of this code."""
    mesh = build_grid("mesh", (4, 4), wrap=False)
    naive = PolarizedRoutes(mesh)
    assert sum(naive.dead_ends(s, t) > 0 for s, t in pairs_of(mesh)) == 92
    assert reason("polarized", mesh, 99).startswith(f"{exact(mesh)[1]} dead ends")


def test_the_bound_of_the_paper_holds_and_is_attained() -> None:
    """No route is longer than 4 D - 3 (p. 66); a random graph of 64 switches attains it."""
    graph = load("topology", "random-regular~n=64,degree=12").build()
    longest, dead, _ = exact(graph)
    diameter = int(switch_distances(graph).max())
    assert (dead, diameter) == (0, 3)
    assert longest.max() == 4 * diameter - 3
