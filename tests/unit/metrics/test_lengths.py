"""Hops and turns: the naive twin."""

import naive_metrics as naive
import pytest
from hypothesis import given
from random_tables import tables

from routelab.metrics import max_hops, max_turns, mean_hops, mean_turns


def close(value, expected):
    return expected is None if value is None else value == pytest.approx(expected)


@given(tables())
def test_lengths_are_those_of_the_definition(table):
    ways = [way for pair_ways in naive.routes(table).values() for _, way in pair_ways]
    assert max_hops(table) == max(map(len, ways), default=0)
    assert close(mean_hops(table), naive.mean(table, len))


@given(tables())
def test_turns_are_those_of_the_definition(table):
    topology = table.topology
    if not topology.directions:
        assert max_turns(table) is None
        assert mean_turns(table) is None
        return
    ways = [way for pair_ways in naive.routes(table).values() for _, way in pair_ways]
    assert max_turns(table) == max((naive.turns(topology, way) for way in ways), default=0)
    assert close(mean_turns(table), naive.mean(table, lambda way: naive.turns(topology, way)))
