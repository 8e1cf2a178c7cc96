"""Layers by first fit: equal to a naive twin, proven by the checker, and related by laws."""

from __future__ import annotations

from itertools import pairwise

import naive_layers
import numpy as np
import pytest
from deadlock_cases import random_table, ring, table_of, torus_table
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from routelab.api import RouteTable, UnsupportedError
from routelab.deadlock import check_table
from routelab_plugins.layers.balanced_layers import BalancedLayers
from routelab_plugins.layers.cycle_breaking import CycleBreaking
from routelab_plugins.layers.first_fit import FirstFit
from routelab_plugins.layers.lash_tor import LashTor

PLUGINS = [FirstFit, BalancedLayers, LashTor, CycleBreaking]


def path_layers(table: RouteTable) -> list[list[int]]:
    """Virtual channels of the hops of every path."""
    return [table.hop_vc[a:b].tolist() for a, b in pairwise(table.path_start)]


def clockwise(size: int) -> RouteTable:
    """All pairs of a ring with clockwise channels only."""
    return table_of(ring(size), lambda s, t: [[(s + i) % size for i in range((t - s) % size)]])


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_first_fit_is_its_naive_twin(seed: int) -> None:
    table = random_table(seed)
    plugin = FirstFit(max_channels=1000, rounds=0)
    assume(plugin.supports(table) is None)
    result = plugin.assign(table)
    expected = naive_layers.first_fit(table)
    assert path_layers(result) == [
        [layer] * hops for layer, hops in zip(expected, table.path_length, strict=True)
    ]
    assert check_table(result).proven


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_balanced_layers_are_no_more_and_more_even(seed: int) -> None:
    table = random_table(seed)
    assume(FirstFit().supports(table) is None)
    plain = FirstFit(max_channels=1000).assign(table)
    even = BalancedLayers(max_channels=1000).assign(table)
    assert check_table(even).proven
    assert all(len(set(layers)) <= 1 for layers in path_layers(even))
    assert even.virtual_channels <= plain.virtual_channels
    if even.virtual_channels == plain.virtual_channels:
        assert np.bincount(even.hop_vc).max(initial=0) <= np.bincount(plain.hop_vc).max(initial=0)


def test_balanced_layers_need_the_two_of_a_torus_and_use_them_evenly() -> None:
    """First fit in order of destination needs three; a ring needs two."""
    table = torus_table(4, 4)
    plain, even = FirstFit(rounds=0).assign(table), BalancedLayers(rounds=0).assign(table)
    assert (plain.virtual_channels, even.virtual_channels) == (3, 2)
    assert 0.4 < np.mean(even.hop_vc) < 0.6


@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
@settings(max_examples=40)
def test_rounds_need_no_more_layers(seed: int, rounds: int) -> None:
    table = random_table(seed)
    assume(FirstFit().supports(table) is None)
    for plugin in (FirstFit, BalancedLayers, CycleBreaking):
        needed = [
            plugin(max_channels=1000, rounds=number, order_seed=seed % 7).assign(table)
            for number in (0, rounds)
        ]
        assert needed[1].virtual_channels <= needed[0].virtual_channels
        assert check_table(needed[1]).proven


def test_rounds_end_when_the_virtual_channels_of_the_network_suffice() -> None:
    """`cycle-breaking` needs 3 on a 4x4 torus, where two are enough."""
    table = torus_table(4, 4)
    alone = CycleBreaking(rounds=0).assign(table)
    assert alone.virtual_channels == 3
    assert np.array_equal(CycleBreaking(max_channels=3).assign(table).hop_vc, alone.hop_vc)
    fewer = CycleBreaking(max_channels=2).assign(table)
    assert fewer.virtual_channels == 2
    assert check_table(fewer).proven


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=25)
def test_transitions_rise_and_need_no_more_layers(seed: int) -> None:
    table = random_table(seed)
    assume(LashTor().supports(table) is None)
    plain = FirstFit(max_channels=1000, rounds=0).assign(table)
    result = LashTor(max_channels=1000).assign(table)
    assert check_table(result).proven
    assert all(layers == sorted(layers) for layers in path_layers(result))
    assert result.virtual_channels <= plain.virtual_channels


def test_two_channels_suffice_on_a_one_way_ring_with_transitions() -> None:
    """Layers without transitions lack one of 8 dependencies each, which two long routes need."""
    table = clockwise(8)
    assert LashTor(max_channels=2).assign(table).virtual_channels == 2
    needed = max(naive_layers.first_fit(table)) + 1
    assert needed >= 4
    with pytest.raises(UnsupportedError, match=f"needs {needed} virtual channels"):
        FirstFit(max_channels=needed - 1).assign(table)
    with pytest.raises(UnsupportedError, match=r"needs \d virtual channels, max_channels is 1"):
        BalancedLayers(max_channels=1).assign(table)


@pytest.mark.parametrize("plugin", PLUGINS)
def test_channels_twice_on_a_path_are_refused(plugin: type) -> None:
    table = table_of(ring(3), lambda s, t: [[0, 1, 2, 0, 1]] if (s, t) == (0, 2) else [], "bubble")
    assert "from switch 0 to 2 crosses channel 0>1 twice" in plugin().supports(table)
    with pytest.raises(UnsupportedError, match="twice"):
        plugin().assign(table)
