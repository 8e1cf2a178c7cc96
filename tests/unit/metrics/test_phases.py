"""Phase loads: the naive twin, and exchanges that can be followed by hand."""

import naive_metrics as naive
import numpy as np
import pytest
from hypothesis import given
from random_tables import tables

from routelab.api import RouteTable
from routelab.metrics import channel_loads, phase_load, phase_loads, relative_loads
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


def dimension_order(dims, tie):
    """Minimal dimension-order routes on a torus; `tie(source)` breaks the ties of a ring."""
    torus = build_grid("torus", dims, True)
    place = torus.coordinates
    channel = {
        (int(s), int(d)): c
        for c, (s, d) in enumerate(zip(torus.channel_source, torus.channel_direction, strict=True))
    }
    lengths, hops = [], []
    for source in range(torus.num_switches):
        for target in range(torus.num_switches):
            here, before = source, len(hops)
            for d, size in enumerate(dims):
                ahead = int(place[target, d] - place[here, d]) % size
                positive = 2 * ahead < size or (2 * ahead == size and tie(place[source]))
                if size == 2:
                    positive = place[here, d] == 0
                for _ in range(ahead if positive or size == 2 else size - ahead):
                    hops.append(channel[here, d if positive else len(dims) + d])
                    here = int(torus.channel_target[hops[-1]])
            assert here == target
            lengths.append(len(hops) - before)
    return RouteTable.from_lengths(torus, lengths, hops)


def test_a_ring_of_4_by_hand():
    # i^1 and i^3 pair neighbours; with i^2 all go two hops: if all go the same way, each
    # channel of that way carries two messages, if the odd ones go back, every channel one
    same = dimension_order((4,), lambda place: True)
    assert phase_loads(same, "xor").tolist() == [1, 2, 1]
    assert phase_load(same, "xor") == 4
    balanced = dimension_order((4,), lambda place: place.sum() % 2 == 0)
    assert phase_load(balanced, "xor") == 3
    # i+1 and i+3 go round the ring, i+2 as above
    assert phase_loads(same, "shift").tolist() == [1, 2, 1]
    assert phase_load(balanced, "shift") == 3


def test_balanced_dimension_order_on_desmos_has_one_message_a_channel_and_phase():
    # 31 XOR phases of 32 ranks: 31 is the least there can be
    table = dimension_order((4, 2, 2, 2), lambda place: place.sum() % 2 == 0)
    assert phase_load(table, "xor") == 31


def test_one_terminal_has_no_phases():
    torus = build_grid("torus", (2,), True, nodes=[0])
    table = RouteTable.from_lengths(torus, [[0]], [])
    assert phase_load(table, "xor") == phase_load(table, "shift") == 0
    assert np.array_equal(phase_loads(table, "xor"), [])
