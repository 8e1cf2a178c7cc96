"""Where warm-up ends, on series that show it."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from routelab.simulation.packet.measurement.warmup import TAIL, mser, truncation


def naive(series):
    """By the definition."""
    return [
        ((np.asarray(series[d:]) - np.mean(series[d:])) ** 2).sum() / (len(series) - d) ** 2
        for d in range(len(series) - TAIL)
    ]


@given(st.lists(st.floats(-1e3, 1e3), min_size=TAIL + 1, max_size=40))
def test_mser_is_the_minimum(series):
    costs = naive(series)
    assert costs[mser(series)] <= min(costs) + 1e-6 * (1 + max(costs))


def test_a_decay_ends_where_it_drowns_in_noise():
    random = np.random.default_rng(2)
    decay = 50 * np.exp(-np.arange(200) / 10)
    ends = [mser(decay + random.normal(size=200)) for _ in range(50)]
    assert 20 < np.median(ends) < 60


def test_a_drift_has_no_end():
    random = np.random.default_rng(3)
    assert truncation(np.arange(60) + random.normal(size=60)) is None


def test_all_series_have_to_be_stationary():
    random = np.random.default_rng(4)
    flat, step = random.normal(size=60), random.normal(size=60)
    step[:20] -= 40
    drift = np.arange(60) * 5 + random.normal(size=60)
    assert 20 <= truncation(step) <= 30
    assert truncation(flat, step) >= 20
    assert truncation(flat, step, drift) is None
    assert truncation(flat[:5]) is None
