"""Hops and turns: the naive twin and cases by hand."""

import naive_metrics as naive
import pytest
from hypothesis import given
from random_tables import tables

from routelab.api import RouteTable, Topology
from routelab.metrics import max_hops, max_turns, mean_hops, mean_turns, perfect_load
from routelab.toolkit import build_grid


def close(value, expected):
    return expected is None if value is None else value == pytest.approx(expected)


@given(tables())
def test_lengths_are_those_of_the_definition(table):
    ways = [way for found in naive.routes(table).values() for _, way in found]
    assert max_hops(table) == max(map(len, ways), default=0)
    assert close(mean_hops(table), naive.mean(table, len))


@given(tables())
def test_turns_are_those_of_the_definition(table):
    topology = table.topology
    if not topology.directions:
        assert max_turns(table) is None
        assert mean_turns(table) is None
        return
    ways = [way for found in naive.routes(table).values() for _, way in found]
    assert max_turns(table) == max((naive.turns(topology, way) for way in ways), default=0)
    assert close(mean_turns(table), naive.mean(table, lambda way: naive.turns(topology, way)))


def test_a_square_by_hand():
    # switch 2x + y; x first, then y: of the three routes of a switch one turns
    square = build_grid("mesh", (2, 2), False)
    ends = zip(square.channel_source.tolist(), square.channel_target.tolist(), strict=True)
    channel = {pair: c for c, pair in enumerate(ends)}
    steps = [
        [-1 if s == t else channel[s, s ^ (2 if (s ^ t) & 2 else 1)] for t in range(4)]
        for s in range(4)
    ]
    table = RouteTable.from_next_hops(square, steps)
    assert max_hops(table) == 2
    assert mean_hops(table) == pytest.approx((1 + 1 + 2) / 3)
    assert max_turns(table) == 1
    assert mean_turns(table) == pytest.approx(1 / 3)
    # minimal routes: mean hops and perfect load tell the same total
    assert perfect_load(square) * square.num_channels == pytest.approx(mean_hops(table) * 12)


def test_terminals_of_one_switch_are_no_hops_apart():
    alone = Topology.create(
        num_switches=1, channel_source=[], channel_target=[], terminal_switch=[0, 0]
    )
    table = RouteTable.from_lengths(alone, [[0]], [])
    assert mean_hops(table) == 0
    assert max_hops(table) == 0


def test_no_mean_where_no_terminals_are_joined():
    apart = Topology.create(num_switches=2, channel_source=[], channel_target=[])
    assert mean_hops(RouteTable.from_lengths(apart, [[0, -1], [-1, 0]], [])) is None
