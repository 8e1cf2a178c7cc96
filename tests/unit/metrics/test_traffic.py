"""Loads under a matrix: the naive twin, uniform traffic, and linearity."""

import naive_metrics as naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_tables import tables

from routelab.metrics import (
    channel_loads,
    perfect_load,
    perfect_traffic_load,
    relative_loads,
    traffic_loads,
)


@given(tables(), st.integers(0, 1000))
def test_loads_are_those_of_the_definition(table, seed):
    terminals = table.topology.num_terminals
    matrix = np.random.default_rng(seed).integers(0, 3, (terminals, terminals)).astype(float)
    loads = traffic_loads(table, matrix)
    assert loads == pytest.approx(naive.traffic_loads(table, matrix.tolist()))
    perfect = perfect_traffic_load(table.topology, matrix)
    assert perfect == pytest.approx(naive.perfect_traffic_load(table.topology, matrix.tolist()))
    routed = np.diff(table.pair_start).all()
    if routed and table.topology.num_channels:
        # what the network asks for at least, evenly spread
        assert relative_loads(table.topology, loads).max() >= perfect - 1e-9
    assert traffic_loads(table, 3 * matrix) == pytest.approx(3 * loads)


@given(tables())
def test_one_message_a_pair_is_the_channel_load(table):
    ones = np.ones((table.topology.num_terminals,) * 2)
    assert np.allclose(traffic_loads(table, ones), channel_loads(table))
    assert perfect_traffic_load(table.topology, ones) == pytest.approx(perfect_load(table.topology))
