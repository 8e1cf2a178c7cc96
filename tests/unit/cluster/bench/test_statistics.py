"""What few runs tell, against the standard library, naive loops and the laws of the estimators."""

from __future__ import annotations

import random
from statistics import median

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routelab.cluster.bench.statistics import (
    Interval,
    cov_percent,
    improvement_interval,
    improvement_percent,
    median_interval,
    within_noise,
)

VALUES = st.floats(1e-3, 1e6)
SAMPLES = st.lists(VALUES, min_size=2, max_size=9)
BETTER = st.sampled_from(["lower", "higher"])
ROUNDS = st.dictionaries(st.integers(1, 9), VALUES, min_size=2, max_size=9)
FEW = {"resamples": 400}


def by_round(values):
    return dict(enumerate(values, 1))


@given(SAMPLES)
def test_the_coefficient_of_variation_is_that_of_numpy(values):
    expected = 100 * np.std(values, ddof=1) / np.mean(values)
    assert cov_percent(values) == pytest.approx(expected, abs=1e-9)


def test_one_run_has_no_spread():
    assert cov_percent([7.0]) is None
    assert median_interval([7.0]) is None
    assert improvement_interval({1: 7.0}, {1: 8.0, 2: 9.0}, "lower") is None


def test_no_cov_where_the_mean_is_not_positive():
    assert cov_percent([-1.0, 1.0]) is None


def test_more_of_a_rate_and_less_of_a_time_is_better():
    # 7 % more operations per second is an improvement of 7 %
    assert improvement_percent(107.0, 100.0, "higher") == pytest.approx(7)
    # a time that is halved is twice as fast
    assert improvement_percent(1.0, 2.0, "lower") == 100
    assert improvement_percent(2.0, 1.0, "lower") == -50
    assert improvement_percent(0.0, 1.0, "lower") is None
    assert improvement_percent(1.0, 0.0, "higher") is None


@given(SAMPLES, st.floats(1e-3, 1e3))
def test_spread_and_improvement_do_not_depend_on_the_unit(values, factor):
    scaled = [factor * value for value in values]
    assert cov_percent(scaled) == pytest.approx(cov_percent(values), rel=1e-6, abs=1e-6)
    for better in ("lower", "higher"):
        ours = improvement_percent(values[0], values[1], better)
        assert improvement_percent(scaled[0], scaled[1], better) == pytest.approx(
            ours, rel=1e-9, abs=1e-8
        )


@given(VALUES, VALUES)
def test_a_time_improves_as_its_rate_does(value, base):
    time = improvement_percent(value, base, "lower")
    rate = improvement_percent(1 / value, 1 / base, "higher")
    assert time == pytest.approx(rate, rel=1e-9, abs=1e-8)


@given(st.lists(st.tuples(st.floats(1, 50), st.floats(1, 50)), min_size=5, max_size=9), BETTER)
def test_exchanged_roles_invert_the_ratio_and_its_interval(pairs, better):
    ours, theirs = (by_round(side) for side in zip(*pairs, strict=True))
    there = improvement_interval(ours, theirs, better, **FEW)
    back = improvement_interval(theirs, ours, better, **FEW)
    ratio = [1 + end / 100 for end in (there.low, there.high)]
    inverse = [1 / (1 + end / 100) for end in (back.high, back.low)]
    assert ratio == pytest.approx(inverse, rel=1e-6, abs=1e-9)


@given(ROUNDS, BETTER)
def test_identical_samples_improve_by_nothing(values, better):
    interval = improvement_interval(values, values, better, **FEW)
    assert 0 in interval
    assert within_noise(interval, len(values), len(values))
    middle = median([*values.values()])
    assert improvement_percent(middle, middle, better) == 0


@given(ROUNDS, ROUNDS, BETTER, st.integers(0, 99))
def test_intervals_contain_the_estimate_and_repeat_with_the_seed(values, base, better, seed):
    improvement = improvement_interval(values, base, better, seed=seed, **FEW)
    middles = median([*values.values()]), median([*base.values()])
    assert improvement_percent(*middles, better) in improvement
    assert improvement_interval(values, base, better, seed=seed, **FEW) == improvement
    sample = [*values.values()]
    interval = median_interval(sample, seed=seed, **FEW)
    assert median(sample) in interval
    assert median_interval(sample, seed=seed, **FEW) == interval
    assert min(sample) <= interval.low <= interval.high <= max(sample)


@given(ROUNDS, ROUNDS, st.floats(0.1, 0.99), st.floats(0.1, 0.99))
def test_more_confidence_is_wider(values, base, first, other):
    less, more = sorted((first, other))
    for interval in (
        lambda confidence: median_interval([*values.values()], confidence, **FEW),
        lambda confidence: improvement_interval(values, base, "lower", confidence, **FEW),
    ):
        narrow, wide = interval(less), interval(more)
        assert wide.low <= narrow.low <= narrow.high <= wide.high


@settings(max_examples=25)
@given(ROUNDS, ROUNDS, BETTER)
def test_the_interval_is_that_of_a_naive_bootstrap(values, base, better):
    """The twin draws as the module does, and then needs medians of lists and a sort only."""
    resamples = 200
    shared = values.keys() & base.keys()
    rounds = [sorted(values.keys() | base.keys())] * 2
    if len(shared) < 5:
        rounds = [list(values), list(base)]
    drawn = [
        np.random.default_rng(seed).integers(
            0, len(own_rounds), (resamples, len(own_rounds)), dtype=np.uint16
        )
        for seed, own_rounds in zip((0, 0 if len(shared) >= 5 else 1), rounds, strict=True)
    ]
    improvements = []
    for k in range(resamples):
        sides = []
        for sample, own_rounds, rows in zip((values, base), rounds, drawn, strict=True):
            sides.append([sample[own_rounds[at]] for at in rows[k] if own_rounds[at] in sample])
        if all(sides):
            middles = [median(side) for side in sides]
            improvements.append(improvement_percent(*middles, better))
    improvements.sort()
    cut = int(0.025 * len(improvements))
    estimate = improvement_percent(median([*values.values()]), median([*base.values()]), better)
    expected = min(improvements[cut], estimate), max(improvements[-1 - cut], estimate)
    ours = improvement_interval(values, base, better, resamples=resamples)
    assert (ours.low, ours.high) == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_of_five_values_the_interval_is_the_range():
    assert median_interval([3.0, 1.0, 9.0, 2.0, 4.0]) == Interval(1.0, 9.0)


def test_intervals_cover_the_true_median_as_often_as_is_said():
    source = random.Random(7)
    covered = dict.fromkeys((3, 5, 12), 0)
    for _ in range(1000):
        for runs in covered:
            sample = [source.lognormvariate(0, 0.3) for _ in range(runs)]
            covered[runs] += 1.0 in median_interval(sample)
    # 75 % and 93.75 %, and of more runs about the confidence: within 4 standard errors
    assert covered[3] == pytest.approx(750, abs=55)
    assert covered[5] == pytest.approx(937, abs=31)
    assert covered[12] == pytest.approx(950, abs=28)


def told_apart(rounds, drift, gain, trials=400):
    """How often, in percent, a gain is taken for one, under noise of 1 %."""
    source = random.Random(11)
    count = 0
    for _ in range(trials):
        sides: list[dict[int, float]] = [{}, {}]
        for at in range(rounds):
            level = 100 * (1 + source.gauss(0, drift))
            sides[0][at] = level * (1 + gain + source.gauss(0, 0.01))
            sides[1][at] = level * (1 + source.gauss(0, 0.01))
        interval = improvement_interval(*sides, "higher", resamples=1000)
        count += not within_noise(interval, rounds, rounds)
    return 100 * count / trials


def test_noise_is_seldom_taken_for_a_gain_and_drift_hides_none():
    for drift in (0.0, 0.03):
        assert told_apart(5, drift, 0.0) < 10
        assert told_apart(5, drift, 0.02) > 55
        assert told_apart(10, drift, 0.0) < 10
    # resampled side by side: an interval that drift makes wider
    assert told_apart(3, 0.0, 0.0) < 15
    assert told_apart(3, 0.03, 0.0) < 5


def test_few_runs_are_always_noise():
    apart = Interval(5.0, 9.0)
    assert not within_noise(apart, 4, 4)
    assert within_noise(apart, 3, 9)
    assert within_noise(apart, 9, 3)
    assert within_noise(None, 9, 9)
    assert within_noise(Interval(-1.0, 0.0), 9, 9)


def test_a_failed_round_is_left_out_on_its_side_only():
    base = by_round([100.0] * 7)
    values = by_round([50.0] * 7)
    del values[3], base[6]
    assert improvement_interval(values, base, "lower") == Interval(100.0, 100.0)
