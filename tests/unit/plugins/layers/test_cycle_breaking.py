"""Cycle breaking: proven by the checker, equal to a naive twin, right where reasoning tells."""

from __future__ import annotations

from itertools import pairwise

import naive_layers
import networkx as nx
import numpy as np
import pytest
from deadlock_cases import random_table, ring, table_of, torus, torus_path, torus_table
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from routelab.api import RouteTable, Topology, UnsupportedError
from routelab.deadlock import check_table
from routelab_plugins.layers.cycle_breaking import CycleBreaking


def all_pairs_clockwise(size: int) -> RouteTable:
    """All pairs of a ring with clockwise channels only: the longest routes have size - 1 hops."""
    return table_of(ring(size), lambda s, t: [[(s + i) % size for i in range((t - s) % size)]])


def minimal_on_ring(size: int) -> RouteTable:
    """Shortest routes on a ring, ties clockwise."""

    def paths(s: int, t: int) -> list[list[int]]:
        ahead = (t - s) % size
        if 2 * ahead <= size:
            return [[(s + i) % size for i in range(ahead)]]
        return [[size + (s - i) % size for i in range(size - ahead)]]

    return table_of(ring(size, both=True), paths)


def shortest_on_random_graph(seed: int, size: int, degree: int) -> RouteTable:
    """Shortest routes on a random regular graph, ties at random."""
    graph = nx.random_regular_graph(degree, size, seed=seed)
    ends = [(a, b) for edge in graph.edges for a, b in (edge, edge[::-1])]
    channel = {end: number for number, end in enumerate(ends)}
    source, target = zip(*ends, strict=True)
    topology = Topology.create(num_switches=size, channel_source=source, channel_target=target)
    rng = np.random.default_rng(seed)

    def paths(s: int, t: int) -> list[list[int]]:
        if not nx.has_path(graph, s, t):
            return []
        found = list(nx.all_shortest_paths(graph, s, t))
        switches = found[rng.integers(len(found))]
        return [[channel[hop] for hop in pairwise(switches)]]

    return table_of(topology, paths)


def path_layers(table: RouteTable) -> list[int]:
    """Layer of every path, which has one on all its hops; 0 for a path without hops."""
    layers = []
    for first, last in zip(table.path_start[:-1], table.path_start[1:], strict=True):
        found = set(table.hop_vc[first:last].tolist()) or {0}
        assert len(found) == 1
        layers += found
    return layers


@pytest.mark.parametrize("size", range(3, 10))
def test_minimal_routes_on_a_ring_need_one_or_two_layers(size: int) -> None:
    """Up to size 3 there are no routes of two hops, so no dependencies at all.

    From 4 on (ties go clockwise) routes of h = size // 2 hops close the clockwise cycle. Breaking
    one dependency moves the routes across it; those reach over 2h - 3 < size dependencies around
    it, so the second layer is acyclic.
    """
    result = CycleBreaking().assign(minimal_on_ring(size))
    assert result.virtual_channels == (1 if size == 3 else 2)
    assert check_table(result).proven


def test_balanced_ties_leave_a_ring_of_four_acyclic() -> None:
    def paths(s: int, t: int) -> list[list[int]]:
        step = {1: 1, 3: -1, 2: 1 if s in (0, 2) else -1}[(t - s) % 4]
        hops = [(s + step * i) % 4 for i in range(2 if (t - s) % 4 == 2 else 1)]
        return [[hop + (4 if step < 0 else 0) for hop in hops]]

    result = CycleBreaking().assign(table_of(ring(4, both=True), paths))
    assert result.virtual_channels == 1


def test_acyclic_routes_stay_on_one_channel_and_need_no_bubble() -> None:
    line = Topology.create(num_switches=5, channel_source=range(4), channel_target=range(1, 5))
    table = table_of(line, lambda s, t: [list(range(s, t))] if s < t else [], "bubble")
    result = CycleBreaking(max_channels=1).assign(table)
    assert (result.virtual_channels, result.flow_control) == (1, "plain")


@pytest.mark.parametrize("size", [5, 8])
def test_one_way_ring_fails_honestly_and_its_number_suffices(size: int) -> None:
    """Each layer must lack one of `size` dependencies, and two of the longest routes lack each."""
    table = all_pairs_clockwise(size)
    needed = max(naive_layers.layers(table)) + 1
    assert needed >= size / 2
    message = f"needs {needed} virtual channels, max_channels is {needed - 1}: raise it"
    with pytest.raises(UnsupportedError, match=message):
        CycleBreaking(max_channels=needed - 1, rounds=0).assign(table)
    result = CycleBreaking(max_channels=needed).assign(table)
    assert result.virtual_channels == needed
    assert check_table(result).proven


def test_a_layer_is_never_emptied() -> None:
    """Both routes cause the dependency 0 > 1 of the cycle; moving both would never end."""
    topology = ring(4, both=True)
    routes = {(0, 3): [[0, 1, 2]], (2, 1): [[2, 3, 0, 1, 4 + 2]]}
    table = table_of(topology, lambda s, t: routes.get((s, t), []))
    result = CycleBreaking().assign(table)
    assert {
        divmod(int(pair), 4): layer
        for pair, layer in zip(table.path_pair, path_layers(result), strict=True)
        if divmod(int(pair), 4) in routes
    } == {(0, 3): 1, (2, 1): 0}
    assert check_table(result).proven


def test_channels_twice_on_a_path_are_not_supported() -> None:
    topology = ring(3)
    table = table_of(topology, lambda s, t: [[0, 1, 2, 0, 1]] if (s, t) == (0, 2) else [], "bubble")
    reason = CycleBreaking().supports(table)
    assert reason is not None
    assert "from switch 0 to 2 crosses channel 0>1 twice" in reason
    with pytest.raises(UnsupportedError, match="twice"):
        CycleBreaking().assign(table)
    assert CycleBreaking().supports(torus_table(3, 3)) is None


@pytest.mark.parametrize("dims", [(4, 4), (5, 5), (3, 7), (8, 8)])
def test_tori_are_proven_without_bubble(dims: tuple[int, int]) -> None:
    """More than the two layers of a ring, as routes moved for one ring close others again."""
    table = torus_table(*dims)
    assert not check_table(table, "plain").proven
    result = CycleBreaking().assign(table)
    assert result.virtual_channels >= 2
    assert result.flow_control == "plain"
    assert check_table(result).proven
    assert np.array_equal(result.hop_channel, table.hop_channel)


def test_mixed_orders_on_a_torus_are_proven() -> None:
    rng = np.random.default_rng(5)
    table = table_of(torus(6, 5), lambda s, t: [torus_path(6, 5, s, t, rng.choice(["XY", "YX"]))])
    assert check_table(CycleBreaking().assign(table)).proven


@given(st.integers(0, 2**16), st.sampled_from([(10, 3), (16, 4), (20, 3)]))
@settings(max_examples=15)
def test_random_graphs_are_proven(seed: int, shape: tuple[int, int]) -> None:
    table = shortest_on_random_graph(seed, *shape)
    result = CycleBreaking().assign(table)
    assert check_table(result).proven
    assert path_layers(result) == path_layers(CycleBreaking().assign(table))


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=80)
def test_equals_the_naive_twin(seed: int) -> None:
    """Several paths a pair and tables that need several layers included."""
    table = random_table(seed)
    plugin = CycleBreaking(max_channels=1000)
    assume(plugin.supports(table) is None)
    result = plugin.assign(table)
    layers = path_layers(result)
    assert layers == naive_layers.layers(table)
    assert check_table(result).proven
    assert set(layers) <= set(range(max(layers, default=0) + 1))
