"""Balanced dimension order: laws of the reading, and what the checker says of it."""

from __future__ import annotations

from itertools import groupby

import numpy as np
import pytest

from routelab.deadlock import check_table
from routelab.metrics import channel_loads
from routelab.toolkit import build_grid
from routelab_plugins.routing.balanced_dor import BalancedDor

ORDERS = ["rotated", "longest", "natural"]


def dimensions(topology, path):
    """Dimensions of a path in the order in which it crosses them."""
    count = len(topology.directions) // 2
    return [d for d, _ in groupby(int(topology.channel_direction[c]) % count for c in path)]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dims", [(4, 4, 4), (6, 4), (3, 5, 2), (2, 2, 2)])
def test_each_route_is_minimal_and_crosses_a_dimension_once_one_way(order, dims) -> None:
    topology = build_grid("torus", dims, True)
    table = BalancedDor(order=order).route(topology)
    for s in range(topology.num_switches):
        for t in range(topology.num_switches):
            (path,) = table.paths(s, t)
            offset = np.abs(topology.coordinates[s] - topology.coordinates[t])
            shortest = np.minimum(offset, np.array(dims) - offset)
            assert len(path) == shortest.sum()
            crossed = dimensions(topology, path)
            assert len(set(crossed)) == len(crossed) == np.count_nonzero(shortest)
            if order == "natural":
                assert crossed == sorted(crossed)
            if order == "longest":
                assert crossed == sorted(crossed, key=lambda d: (-shortest[d], d))


def test_the_order_depends_on_the_relative_position_only() -> None:
    topology = build_grid("torus", (3, 5, 3), True)
    table = BalancedDor().route(topology)
    seen = {}
    for s in range(topology.num_switches):
        for t in range(topology.num_switches):
            offset = tuple((topology.coordinates[t] - topology.coordinates[s]) % (3, 5, 3))
            crossed = dimensions(topology, table.paths(s, t)[0])
            assert seen.setdefault(offset, crossed) == crossed


def test_rotated_orders_are_used_alike() -> None:
    topology = build_grid("torus", (3, 3, 3), True)
    table = BalancedDor().route(topology)
    long = [p for p in range(table.num_pairs) if len(table.hop_vc[slice(*ends(table, p))]) == 3]
    channels = [int(table.hop_vc[table.path_start[p]]) for p in long]
    assert table.virtual_channels == 3
    # 8 offsets with a hop in every dimension, their sums mod 3: 0 twice, 1 and 2 thrice
    assert np.bincount(channels).tolist() == [2 * 27, 3 * 27, 3 * 27]


def ends(table, path):
    return table.path_start[path], table.path_start[path + 1]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    ("family", "dims"), [("torus", (4, 4)), ("torus", (5, 3, 4)), ("mesh", (3, 4))]
)
def test_it_is_free_of_deadlock_because_each_order_has_a_channel(family, dims, order) -> None:
    table = BalancedDor(order=order).route(build_grid(family, dims, family == "torus"))
    assert check_table(table).status == "proven"
    if order != "natural":
        together = table.with_vcs(np.zeros(len(table.hop_vc)))
        assert check_table(together).status == "cycle"


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("k", [4, 6, 8])
def test_half_way_round_is_shared_by_both_directions(order, k) -> None:
    loads = channel_loads(BalancedDor(order=order).route(build_grid("torus", (k, k), True)))
    # k**3 / 8 each way: what the bisection of a k-ary 2-cube demands
    assert set(loads) == {k**3 / 8}


def test_it_asks_for_a_whole_grid() -> None:
    plugin = BalancedDor()
    assert plugin.supports(build_grid("torus", (4, 4), True)) is None
    assert "whole" in plugin.supports(build_grid("torus", (4, 4), True, failed_links=("0-1",)))
