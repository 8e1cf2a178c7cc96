"""Routes to switches, written down once for each terminal, are the same routes in all respects."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_tables import tables

from routelab import metrics
from routelab.api import RouteTable
from routelab.deadlock import check_table
from routelab.simulation.flow.paths import Paths


def finer(table):
    """The same routes with every terminal as a destination."""
    topology, ends = table.topology, table.topology.endpoints.tolist()
    pairs = [
        ends.index(source) * len(ends) + ends.index(switch)
        for source in ends
        for switch in topology.terminal_switch.tolist()
    ]
    paths = [k for p in pairs for k in range(table.pair_start[p], table.pair_start[p + 1])]
    hops = [
        hop
        for k in paths
        for hop in table.hop_channel[table.path_start[k] : table.path_start[k + 1]]
    ]
    return RouteTable.create(
        topology,
        pair_start=np.cumsum([0, *(table.pair_start[p + 1] - table.pair_start[p] for p in pairs)]),
        path_start=np.cumsum([0, *table.path_length[paths]]) if paths else [0],
        path_weight=table.path_weight[paths],
        hop_channel=np.array(hops, dtype=np.int32),
        per_terminal=True,
    )


@settings(max_examples=60)
@given(tables(per_terminal=False), st.integers(0, 99))
def test_every_metric_agrees(table, seed):
    same = finer(table)
    topology = table.topology
    assert metrics.channel_loads(same) == pytest.approx(metrics.channel_loads(table))
    assert metrics.served_pairs(same).sum() == metrics.served_pairs(table).sum()
    assert metrics.reachable_pairs(same) == metrics.reachable_pairs(table)
    assert metrics.connected_pairs(same) == metrics.connected_pairs(table)
    assert metrics.max_hops(same) == metrics.max_hops(table)
    assert metrics.mean_hops(same) == pytest.approx(metrics.mean_hops(table))
    assert metrics.mean_turns(same) == pytest.approx(metrics.mean_turns(table))
    worst = [metrics.worst_permutation(each).load for each in (same, table)]
    assert worst[0] == pytest.approx(worst[1])
    assert metrics.effective_bisection(same, 30, seed) == metrics.effective_bisection(
        table, 30, seed
    )
    for pattern in ("shift", "xor"):
        found = [metrics.phase_loads(each, pattern) for each in (same, table)]
        assert (found[0] is None) == (found[1] is None)
        if found[0] is not None:
            np.testing.assert_allclose(*found)
    matrix = np.random.default_rng(seed).random((topology.num_terminals,) * 2)
    np.testing.assert_allclose(
        metrics.traffic_loads(same, matrix), metrics.traffic_loads(table, matrix)
    )
    assert same.destination_based == table.destination_based
    assert check_table(same).status == check_table(table).status


@given(tables(per_terminal=False))
def test_messages_take_the_same_ways(table):
    joined = [
        (a, b)
        for a in range(table.topology.num_terminals)
        for b in range(table.topology.num_terminals)
        if table.paths(*table.topology.terminal_switch[[a, b]].tolist())
    ]
    source, target = zip(*joined, strict=True)
    places = range(table.topology.num_terminals)
    one, other = (
        Paths.create(each, places).between(source, target) for each in (table, finer(table))
    )
    for name in ("start", "source", "target", "upto", "hop_start", "hop_channel"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)
