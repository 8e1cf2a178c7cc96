"""Intervals: quantiles from tables, coverage on series whose mean is known."""

from __future__ import annotations

import numpy as np
import pytest

from routelab.simulation.packet.measurement.intervals import (
    Estimate,
    group_batches,
    mean_estimate,
    pool,
    ratio,
    t_quantile,
    von_neumann,
)


def autoregressive(random, count, correlation, centre=10.0):
    """AR(1) with the stationary law from the first value on."""
    noise = random.normal(size=count)
    values = np.empty(count)
    values[0] = noise[0] / np.sqrt(1 - correlation**2)
    for k in range(1, count):
        values[k] = correlation * values[k - 1] + noise[k]
    return values + centre


# Abramowitz and Stegun, Handbook of Mathematical Functions, table 26.10
@pytest.mark.parametrize(
    ("share", "freedom", "value"),
    [
        (0.975, 1, 12.706),
        (0.975, 2, 4.303),
        (0.95, 3, 2.353),
        (0.995, 5, 4.032),
        (0.975, 10, 2.228),
        (0.975, 30, 2.042),
        (0.999, 15, 3.733),
        (0.975, 120, 1.980),
    ],
)
def test_student(share, freedom, value):
    assert t_quantile(share, freedom) == pytest.approx(value, abs=5e-4)


def test_student_of_many_is_normal():
    assert t_quantile(0.975, 5000) == pytest.approx(1.95996, abs=5e-4)
    assert t_quantile(0.5, 7) == pytest.approx(0, abs=1e-9)


def test_von_neumann_detects_correlation():
    random = np.random.default_rng(1)
    correlation, score = von_neumann(autoregressive(random, 20_000, 0.6))
    assert correlation == pytest.approx(0.6, abs=0.03)
    assert score > 50
    scores = [von_neumann(random.normal(size=64))[1] for _ in range(2000)]
    assert np.mean(scores) == pytest.approx(0, abs=0.08)
    assert np.std(scores) == pytest.approx(1, abs=0.06)


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.8])
def test_intervals_cover_the_mean(correlation):
    """95 % intervals of those series that pass hold the true mean in 95 %, about."""
    random = np.random.default_rng(7)
    estimates = [mean_estimate(autoregressive(random, 512, correlation), 0.95) for _ in range(400)]
    sure = [estimate for estimate in estimates if estimate.independent]
    assert len(sure) > 300
    assert np.mean([estimate.low <= 10 <= estimate.high for estimate in sure]) > 0.92


def test_too_short_a_series_is_not_independent():
    random = np.random.default_rng(3)
    verdicts = [group_batches(autoregressive(random, 64, 0.98))[2] for _ in range(100)]
    assert np.mean(verdicts) < 0.2


def test_a_drift_is_no_mean():
    random = np.random.default_rng(4)
    estimate = mean_estimate(np.arange(128) + random.normal(size=128), 0.95)
    assert not estimate.independent
    assert not estimate.within(0.5)


def test_ratio_weighs_batches_by_their_observations():
    """Latencies of 10, in batches of very different numbers of packets: no error at all."""
    packets = np.random.default_rng(5).integers(0, 50, size=64)
    estimate = ratio(packets * 10, packets, 0.95)
    assert (estimate.value, estimate.half_width) == (10, 0)
    assert estimate.within(1e-9)


def test_ratio_covers():
    random = np.random.default_rng(6)
    hits = []
    for _ in range(400):
        packets = random.poisson(20, size=64)
        sums = [random.exponential(5, size=count).sum() for count in packets]
        estimate = ratio(sums, packets, 0.9)
        hits.append(estimate.low <= 5 <= estimate.high)
    assert 0.87 < np.mean(hits) < 0.96


def test_nothing_has_no_mean():
    assert np.isnan(ratio([], [], 0.95).value)
    assert np.isnan(ratio([0, 0], [0, 0], 0.95).value)
    assert np.isnan(ratio([4], [2], 0.95).half_width)


def test_pooled_runs_are_surer():
    """Four runs with the same error halve it."""
    estimate = Estimate(3.0, 0.2, 15, 0.95, True)
    four = pool([estimate] * 4)
    assert four.value == 3
    assert four.error == pytest.approx(0.1)
    assert four.freedom == 60
    assert four.independent
