"""Statistics of few runs: medians with intervals, and differences that may be noise.

The methods follow Hoefler and Belli, "Scientific Benchmarking of Parallel Computing Systems" (SC
'15, doi 10.1145/2807591.2807644): run times are not normally distributed, so they are summarised
by the median with an interval that assumes no distribution, and two systems differ only if the
interval shows it. Intervals are percentile bootstraps (Efron and Tibshirani, An Introduction to
the Bootstrap, 1993, chapter 13) whose ends are values of resamples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean, median, stdev
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Better: TypeAlias = Literal["lower", "higher"]

RESAMPLES = 10_000
CONFIDENCE = 0.95
MIN_RUNS = 4
"""Smallest number of runs on each side; with fewer, no difference is distinguishable from noise:
of three and three runs without a difference, all of one side are above all of the other in 10 % of
the cases (2 of 20 orders)."""
MIN_ROUNDS = 5
"""Smallest number of shared rounds for resampling rounds instead of the runs of each side."""


@dataclass(frozen=True)
class Interval:
    """A closed confidence interval."""

    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


def cov_percent(values: Sequence[float]) -> float | None:
    """Return the coefficient of variation: sample standard deviation (n - 1) in % of the mean.

    None for fewer than two values, and where the mean is not positive.
    """
    if len(values) < 2 or (mean := fmean(values)) <= 0:
        return None
    return 100 * stdev(values) / mean


def median_interval(
    values: Sequence[float],
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Interval | None:
    """Return a percentile bootstrap interval of the median; None for fewer than two values.

    For fewer than six values it is nearly always their range: the smallest of five is the median of
    5.8 % of the resamples, more than the 2.5 % that an interval of 95 % leaves out at each end. The
    range of n values covers the true median with probability 1 - 2^(1-n): 93.75 % for five values,
    75 % for three.
    """
    if len(values) < 2:
        return None
    positions = _resample_positions(len(values), resamples, seed)
    medians = _resample_medians(np.asarray(values, dtype=float), positions)
    return _percentile_interval(medians, confidence, median(values))


def improvement_percent(value: float, base: float, better: Better) -> float | None:
    """Return by how many percent `value` is better than `base`; positive is better.

    The improvement is 100 (value / base - 1) where higher is better, as for a rate, and
    100 (base / value - 1) where lower is better, as for a time. So a time and the corresponding
    rate improve by the same percentage. None where either is not positive.
    """
    if value <= 0 or base <= 0:
        return None
    ratio = value / base if better == "higher" else base / value
    # Rounded, as a ratio of 1 + 2e-16 is no improvement; and + 0.0 turns -0.0 into 0.0.
    return round(100 * (ratio - 1), 9) + 0.0


def improvement_interval(
    values: Mapping[int, float],
    base: Mapping[int, float],
    better: Better,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Interval | None:
    """Return a bootstrap interval of the improvement of the medians.

    Runs are interleaved: a round has one run of each side, `values` and `base`, and changes between
    rounds (other jobs, another allocation) affect both. So whole rounds are resampled, each with
    its runs of both sides, as is usual for experiments in blocks (Box, Hunter and Hunter,
    Statistics for Experimenters, 2nd edition, 2005, chapter 4). In simulations (normal noise of
    1 %), 5 rounds without a difference show one in 5 to 7 % of the cases. If rounds also vary, with
    a standard deviation of 3 %, a difference of 2 % is found in 65 %; resampling each side
    separately finds it in 4 %. For three shared rounds, however, the interval from whole rounds is
    too narrow (it shows a difference that does not exist in 23 %), so with fewer than `MIN_ROUNDS`
    each side is resampled separately (10 % for three, less if rounds vary).

    Parameters
    ----------
    values, base : mapping of int to float
        By round; rounds whose run failed are left out.
    better : {"lower", "higher"}
        Which values are better.

    Returns
    -------
    Interval or None
        Interval of `improvement_percent`, which contains the improvement. None with fewer than two
        runs on either side, and if any value is not positive.
    """
    if min(len(values), len(base)) < 2 or min(*values.values(), *base.values()) <= 0:
        return None

    # 1. The medians of both sides in each resample.
    if len(values.keys() & base.keys()) >= MIN_ROUNDS:
        # One draw of rounds for both sides. NaN is a round whose run failed on this side.
        rounds = sorted(values.keys() | base.keys())
        positions = _resample_positions(len(rounds), resamples, seed)
        medians, base_medians = (
            _resample_medians(np.array([side.get(round_, np.nan) for round_ in rounds]), positions)
            for side in (values, base)
        )
    else:
        # A draw of runs for each side, with different seeds: equal ones would pair the runs.
        medians, base_medians = (
            _resample_medians(
                np.array(list(side.values())),
                _resample_positions(len(side), resamples, side_seed),
            )
            for side_seed, side in ((seed, values), (seed + 1, base))
        )

    # 2. The improvement in each resample, without those that have no run of one side.
    ratios = medians / base_medians if better == "higher" else base_medians / medians
    improvements = 100 * (ratios[np.isfinite(ratios)] - 1)
    estimate = improvement_percent(median([*values.values()]), median([*base.values()]), better)
    assert estimate is not None  # all values are positive
    return _percentile_interval(improvements.round(9) + 0.0, confidence, estimate)


def within_noise(interval: Interval | None, runs: int, base_runs: int) -> bool:
    """Return whether an improvement may be noise: its interval contains 0, or runs are few.

    Parameters
    ----------
    interval : Interval or None
        Of the improvement.
    runs, base_runs : int
        Number of runs with figures; fewer than `MIN_RUNS` are too few.
    """
    return interval is None or min(runs, base_runs) < MIN_RUNS or 0 in interval


@lru_cache(maxsize=8)
def _resample_positions(size: int, resamples: int, seed: int) -> npt.NDArray[np.uint16]:
    """Draw resamples of a sample: positions in it, with replacement; (resamples, size)."""
    return np.random.default_rng(seed).integers(0, size, (resamples, size), dtype=np.uint16)


def _resample_medians(values: Floats, positions: npt.NDArray[np.uint16]) -> Floats:
    """Return the median of each resample (row of `positions`); ignore NaN.

    NaN is the median of a resample that has only NaN.
    """
    # 1. Sort the values of each resample: as ranks, because small integers are sorted faster. NaN
    #    have the highest ranks, as `argsort` puts them last.
    order = np.argsort(values, kind="stable")
    ranks = np.empty(len(values), dtype=np.uint16)
    ranks[order] = np.arange(len(values))
    resample_ranks = np.sort(ranks[positions], axis=1)
    num_values = int(np.isfinite(values).sum())
    counts = (resample_ranks < num_values).sum(axis=1)

    # 2. The median: the mean of the two values in the middle of the first `counts` ones. Of 4 they
    #    have the indices 1 and 2, of 3 both are 1. `maximum` keeps the index of a resample with
    #    only NaN (counts 0) valid; `minimum` changes no index, as there are never more than values.
    rows = np.arange(len(positions))
    ascending = values[order]
    lower = ascending[resample_ranks[rows, np.maximum(counts - 1, 0) // 2]]
    upper = ascending[resample_ranks[rows, np.minimum(counts // 2, len(values) - 1)]]
    return np.where(counts > 0, (lower + upper) / 2, np.nan)


def _percentile_interval(values: Floats, confidence: float, estimate: float) -> Interval:
    """Return the interval that contains the share `confidence` of values, and the estimate.

    Of 10,000 values and a confidence of 0.95 it leaves out the 250 smallest and the 250 largest.
    """
    ascending = np.sort(values)
    num_outside = int((1 - confidence) / 2 * len(ascending))
    low, high = ascending[num_outside], ascending[len(ascending) - 1 - num_outside]
    return Interval(min(float(low), estimate), max(float(high), estimate))
