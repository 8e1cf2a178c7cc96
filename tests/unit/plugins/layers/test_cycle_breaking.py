"""Cycle breaking: proven by the checker, equal to a naive twin, right where reasoning tells."""

from __future__ import annotations

import naive_layers
import pytest
from deadlock_cases import random_table, ring, table_of
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


def path_layers(table: RouteTable) -> list[int]:
    """Layer of every path, which has one on all its hops; 0 for a path without hops."""
    layers = []
    for first, last in zip(table.path_start[:-1], table.path_start[1:], strict=True):
        vcs = set(table.hop_vc[first:last].tolist()) or {0}
        assert len(vcs) == 1
        layers += vcs
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
