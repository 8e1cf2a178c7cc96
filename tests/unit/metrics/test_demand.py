"""Loads under a demand agree with a naive count."""

import naive_metrics as naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_tables import tables

from routelab.api import Demand
from routelab.metrics import channel_load_bound, ejection_bound, offered_loads


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
