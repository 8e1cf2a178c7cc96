"""Loads under a demand agree with a naive count, and bound what can be accepted."""

import naive_metrics as naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_tables import tables

from routelab.api import Demand, RouteTable, Topology
from routelab.metrics import channel_load_bound, ejection_bound, offered_loads
from routelab.toolkit import build_grid


@given(tables(), st.randoms())
def test_loads_are_those_of_the_definition(table, random):
    count = table.topology.num_terminals
    targets = [random.randrange(-1, count) for _ in range(count)]
    demand = Demand.permutation(targets, "at random")
    matrix = [[float(s != t == targets[s]) for t in range(count)] for s in range(count)]
    loads = offered_loads(table, demand)
    assert loads == pytest.approx(naive.traffic_loads(table, matrix))
    worst = max(naive.relative(table.topology, loads.tolist()), default=0)
    expected = 1 / worst if worst else np.inf
    assert channel_load_bound(table, demand) == pytest.approx(expected)
    received = [sum(column) for column in zip(*matrix, strict=True)]
    assert ejection_bound(demand) == (1 / max(received) if any(received) else np.inf)


def clockwise():
    """A ring of four whose packets all go in direction +X: channel 2 s leaves switch s."""
    ring = build_grid("torus", (4,), wrap=True)
    steps = [[-1 if s == t else 2 * s for t in range(4)] for s in range(4)]
    return RouteTable.from_next_hops(ring, steps)


def test_nothing_is_bounded_where_nothing_moves():
    table = clockwise()
    silent = Demand.permutation([-1] * 4, "nobody")
    assert channel_load_bound(table, silent) == ejection_bound(silent) == np.inf
    alone = Topology.create(
        num_switches=1, channel_source=[], channel_target=[], terminal_switch=[0, 0]
    )
    table = RouteTable.from_lengths(alone, [[0]], [])
    swapped = Demand.permutation([1, 0], "each other")
    assert channel_load_bound(table, swapped) == np.inf
    assert ejection_bound(swapped) == 1
