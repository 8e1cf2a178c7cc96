"""Phase loads: the naive twin, and the least there can be."""

import naive_metrics as naive
import numpy as np
import pytest
from hypothesis import given
from random_tables import tables

from routelab.api import RouteTable
from routelab.metrics import channel_loads, phase_load, phase_loads, relative_loads
from routelab.routing.routing import Routing
from routelab.toolkit import build_grid


@given(tables())
def test_phases_are_those_of_the_definition(table):
    ranks = table.topology.num_terminals
    shift = phase_loads(table, "shift")
    assert shift == pytest.approx(naive.phase_maxima(table, lambda i, p: (i + p) % ranks))
    xor = phase_loads(table, "xor")
    if ranks.bit_count() == 1:
        assert xor == pytest.approx(naive.phase_maxima(table, lambda i, p: i ^ p))
    else:
        assert xor is None
        assert phase_load(table, "xor") is None
    for maxima in (shift, xor):
        if maxima is not None and table.topology.num_channels:
            # all phases together are the whole table
            loads = relative_loads(table.topology, channel_loads(table))
            assert maxima.sum() >= loads.max() - 1e-9


def test_balanced_dimension_order_on_desmos_has_one_message_a_channel_and_phase():
    # 31 XOR phases of 32 ranks: 31 is the least there can be
    torus = build_grid("torus", (4, 2, 2, 2), True)
    table = Routing.from_name("dor").table(torus)
    assert phase_load(table, "xor") == 31


def test_one_terminal_has_no_phases():
    torus = build_grid("torus", (2,), True, nodes=[0])
    table = RouteTable.from_lengths(torus, [[0]], [])
    assert phase_load(table, "xor") == phase_load(table, "shift") == 0
    assert np.array_equal(phase_loads(table, "xor"), [])
