"""Heaviest assignments against an independent solver, and the turned table against the table."""

from itertools import product

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from random_tables import tables

from routelab.metrics.kernels.assignment import (
    assignment_bounds,
    channel_pairs,
    heaviest_assignment,
)


@st.composite
def problems(draw):
    """Weights between endpoints (absent ones are None), and the units of each endpoint."""
    size = draw(st.integers(1, 5))
    # few values, so that ties are common; thirds, so that sums are rounded
    weight = st.sampled_from([None, 1.0, 1.0, 1 / 3, 2 / 3, 0.5])
    matrix = draw(st.lists(weight, min_size=size * size, max_size=size * size).filter(any))
    return matrix, draw(st.lists(st.integers(1, 3), min_size=size, max_size=size))


def arrays(matrix, demand):
    used = [p for p, weight in enumerate(matrix) if weight]
    weights = np.array([matrix[p] for p in used])
    return np.array(used, dtype=np.int64), weights, np.array(demand, dtype=np.int64)


def heaviest_by_networkx(matrix, demand):
    """Maximum-weight matching of the single units: another algorithm, another library."""
    size = len(demand)
    graph = nx.Graph()
    for p, weight in enumerate(matrix):
        if weight:
            i, j = divmod(p, size)
            for a, b in product(range(demand[i]), range(demand[j])):
                graph.add_edge(("from", i, a), ("to", j, b), weight=weight)
    return sum(graph.edges[edge]["weight"] for edge in nx.max_weight_matching(graph))


@given(problems())
def test_heaviest_assignments_are_those_of_networkx(problem):
    matrix, demand = problem
    edges = *arrays(matrix, demand), arrays(matrix, demand)[-1]
    total, sender, receiver = heaviest_assignment(*edges)
    one_channel = np.array([0, len(edges[0])])
    assert np.isclose(total, heaviest_by_networkx(matrix, demand))
    assert total <= assignment_bounds(one_channel, *edges)[0] + 1e-9
    # the units that are sent are a certificate: within the demand, and as heavy as is said
    sent = receiver >= 0
    assert all(np.bincount(sender, minlength=len(demand)) <= demand)
    assert all(np.bincount(receiver[sent], minlength=len(demand)) <= demand)
    weights = [
        matrix[i * len(demand) + j] for i, j in zip(sender[sent], receiver[sent], strict=True)
    ]
    assert None not in weights
    assert np.isclose(sum(weights), total)


def test_a_large_assignment_is_optimal_by_duality():
    # a random problem with a planted optimum: prices that support the planted permutation
    rng = np.random.default_rng(5)
    size = 60
    planted = rng.permutation(size)
    u, v = rng.uniform(1, 2, size), rng.uniform(0, 1, size)
    slack = rng.uniform(0, 1, (size, size))
    slack[np.arange(size), planted] = 0
    weight = np.maximum(u[:, None] + v[None, :] - slack, 1e-6)
    total, _, receiver = heaviest_assignment(
        np.arange(size * size), weight.reshape(-1), *np.ones((2, size), dtype=np.int64)
    )
    assert np.isclose(total, u.sum() + v.sum())
    assert receiver.tolist() == planted.tolist()


@given(tables())
def test_a_turned_table_has_every_crossing_once(table):
    start, pair, share = channel_pairs(
        table.pair_start,
        table.path_start,
        table.path_weight,
        table.hop_channel,
        table.topology.num_channels,
    )
    expected = {}
    for p in range(table.num_pairs):
        for k in range(table.pair_start[p], table.pair_start[p + 1]):
            for channel in table.hop_channel[table.path_start[k] : table.path_start[k + 1]]:
                key = int(channel), p
                expected[key] = expected.get(key, 0) + table.path_weight[k]
    crossed = np.repeat(np.arange(table.topology.num_channels), np.diff(start))
    assert list(zip(crossed.tolist(), pair.tolist(), strict=True)) == sorted(expected)
    assert np.allclose(share, [expected[key] for key in sorted(expected)])
