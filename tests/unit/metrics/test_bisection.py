"""Effective bisection bandwidth: the naive twin, and an exact mean by enumeration."""

from itertools import permutations
from math import sqrt

import naive_metrics as naive
import numpy as np
import pytest
from hypothesis import given, settings
from random_tables import tables

from routelab.api import RouteTable
from routelab.metrics import effective_bisection
from routelab.toolkit import build_grid


def sampled(table, seed):
    """The pairings that 30 samples are made of, terminal by terminal."""
    rng = np.random.default_rng(seed)
    half = table.topology.num_terminals // 2
    for _ in range(30):
        mixed = rng.permutation(table.topology.num_terminals).tolist()
        yield list(zip(mixed[:half], mixed[half : 2 * half], strict=True))


@given(table=tables())
@settings(max_examples=30)
def test_samples_are_those_of_the_definition(table):
    estimate = effective_bisection(table, 30, 3)
    if table.topology.num_terminals < 2:
        assert estimate is None
        return
    expected = [naive.pairing_bandwidth(table, pairs) for pairs in sampled(table, 3)]
    assert estimate.mean == pytest.approx(np.mean(expected))
    assert estimate.half_width == pytest.approx(
        1.95996 * np.std(expected, ddof=1) / sqrt(30), abs=1e-6
    )
    assert 0 <= estimate.mean <= 1


def ring_of_4():
    ring = build_grid("torus", (4,), True)
    steps = [[-1 if s == t else 2 * s + ((t - s) % 4 == 3) for t in range(4)] for s in range(4)]
    return RouteTable.from_next_hops(ring, steps)


def test_the_interval_holds_the_exact_mean():
    # all 24 orders of 4 terminals are equally likely, so the mean is known exactly
    table = ring_of_4()
    exact = np.mean(
        [naive.pairing_bandwidth(table, [(a, c), (b, d)]) for a, b, c, d in permutations(range(4))]
    )
    estimate = effective_bisection(table, 2000, 0)
    # seeds fixed: a hit of 95 % that is a hit for good
    assert abs(estimate.mean - exact) <= estimate.half_width
    assert estimate.half_width < 0.02
