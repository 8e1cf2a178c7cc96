"""Means of correlated series with confidence intervals, by batch means.

Neighbouring observations of a queue are correlated, so their plain variance underestimates the
error. Batches of many observations are nearly independent: they are extended until the von Neumann
ratio shows no correlation between neighbours; the remaining correlation widens the interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import cos, inf, nan, pi, sin, sqrt, tan

import numpy as np
from numpy.typing import ArrayLike

from routelab.api.topology import Float64Array

LEAST_GROUPS = 16
"""Smallest number of batches for an interval."""

CORRELATED = 1.2816
"""Normal quantile (90 %, one-sided) from which neighbouring batches count as correlated."""


@dataclass(frozen=True)
class Estimate:
    """A mean and its error.

    Attributes
    ----------
    value : float
    error : float
        Standard error; NaN if unknown.
    freedom : int
        Degrees of freedom of `error`.
    confidence : float
        Confidence level of the interval, in (0, 1).
    independent : bool
        Whether the batches passed the test for independence.
    """

    value: float
    error: float = nan
    freedom: int = 0
    confidence: float = 0.95
    independent: bool = False

    @property
    def half_width(self) -> float:
        """Half the width of the interval; NaN if unknown."""
        if not self.freedom:
            return nan
        return t_quantile((1 + self.confidence) / 2, self.freedom) * self.error

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return self.value - self.half_width

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return self.value + self.half_width

    def within(self, precision: float) -> bool:
        """Return whether the batches are independent and the half-width is small enough."""
        return self.independent and self.half_width <= precision * abs(self.value)


def ratio(
    sums: ArrayLike, weights: ArrayLike, confidence: float, min_groups: int = LEAST_GROUPS
) -> Estimate:
    """Estimate the mean of a quantity whose number of observations differs from batch to batch.

    Parameters
    ----------
    sums : array, shape (B,)
        Sum over the observations of each batch, in order of time.
    weights : array, shape (B,)
        Number of observations, or the batch's length for a rate.
    confidence : float
    min_groups : int
        Smallest number of groups of batches.

    Returns
    -------
    Estimate
        ``sum(sums) / sum(weights)``; NaN without observations. The error is that of the residuals
        (delta method).

    Notes
    -----
    Batch means: Law and Kelton, *Simulation Modeling and Analysis*, section 9.5.3; groups are
    doubled until the von Neumann ratio passes, as in Fishman, *Grouping observations in digital
    simulation*, Management Science 24(5), 1978, doi 10.1287/mnsc.24.5.510. The remaining
    correlation widens the error as in ASAP3 (Steiger et al., ACM TOMACS 15(1), 2005,
    doi 10.1145/1044322.1044325).
    """
    batch_sums = np.asarray(sums, dtype=np.float64)
    batch_weights = np.asarray(weights, dtype=np.float64)
    if not batch_weights.sum() > 0:
        return Estimate(nan, confidence=confidence)
    value = float(batch_sums.sum() / batch_weights.sum())
    # 1. The residual of a batch is its sum minus what its weight would give at the mean.
    #    Neighbouring batches are grouped until the residuals of the groups are independent.
    residual = batch_sums - value * batch_weights
    width, correlation, independent = group_batches(residual, min_groups)
    num_groups = len(residual) // width
    if num_groups < 2:
        return Estimate(value, confidence=confidence)
    # 2. The standard error of the mean residual of a group, divided by the mean weight of a group.
    group_residuals = _group_sums(residual, width)
    mean_weight = batch_weights.sum() / len(batch_weights) * width
    # In a long first-order autoregressive series of lag-1 correlation c, the variance of the mean
    # is (1 + c) / (1 − c) times that of independent values.
    widening = sqrt((1 + correlation) / (1 - correlation))
    error = float(group_residuals.std(ddof=1) / sqrt(num_groups) / mean_weight) * widening
    return Estimate(
        value, error, freedom=num_groups - 1, confidence=confidence, independent=independent
    )


def mean_estimate(values: ArrayLike, confidence: float) -> Estimate:
    """Estimate the mean of a series in order of time, by batch means (`ratio`)."""
    series = np.asarray(values, dtype=np.float64)
    return ratio(series, np.ones(len(series)), confidence)


def group_batches(
    residual: Float64Array, min_groups: int = LEAST_GROUPS
) -> tuple[int, float, bool]:
    """Find the smallest number of neighbouring batches that form independent groups.

    Returns
    -------
    width : int
        Batches in a group, a power of two: the smallest that passes the test for independence, or
        else the largest with at least `min_groups` groups.
    correlation : float
        Lag-1 correlation between the groups, at least 0 and below 1.
    independent : bool
        Whether the groups pass the test.
    """
    width = 1
    while True:
        groups = _group_sums(residual, width)
        correlation, score = von_neumann(groups)
        passes = score <= CORRELATED and len(groups) >= min_groups
        # with groups of twice the width, there would be fewer than `min_groups`
        if passes or len(groups) < 2 * min_groups:
            # below 1, because errors are widened by a factor with 1 − correlation below the line
            return width, min(max(correlation, 0.0), 0.99), passes
        width *= 2


def _group_sums(values: Float64Array, width: int) -> Float64Array:
    """Return the sums of `width` neighbours each; a remainder at the beginning is dropped."""
    count = len(values) // width
    sums: Float64Array = values[len(values) - count * width :].reshape(count, width).sum(axis=1)
    return sums


def von_neumann(values: Float64Array) -> tuple[float, float]:
    """Return the lag-1 correlation of a series, and its distance from 0 in standard deviations.

    Notes
    -----
    J. von Neumann, *Distribution of the ratio of the mean square successive difference to the
    variance*, Annals of Mathematical Statistics 12(4), 1941, doi 10.1214/aoms/1177731677. For
    independent normal values the correlation has mean 0 and variance (k − 2) / (k² − 1).
    """
    count = len(values)
    squared_deviations = float(((values - values.mean()) ** 2).sum()) if count else 0.0
    # the variance below needs 3 values; equal ones have no correlation
    if count < 3 or squared_deviations == 0:
        return 0.0, 0.0
    # The mean squared difference of independent neighbours is twice the variance: correlation 0. If
    # neighbours are alike, the differences are small, and the correlation is near 1.
    correlation = 1 - float((np.diff(values) ** 2).sum()) / (2 * squared_deviations)
    return correlation, correlation * sqrt((count**2 - 1) / (count - 2))


def pool(estimates: Sequence[Estimate]) -> Estimate:
    """Average estimates of the same quantity from independent runs, with equal weights."""
    count = len(estimates)
    return Estimate(
        value=sum(estimate.value for estimate in estimates) / count,
        error=sqrt(sum(estimate.error**2 for estimate in estimates)) / count,
        freedom=sum(estimate.freedom for estimate in estimates),
        confidence=estimates[0].confidence,
        independent=all(estimate.independent for estimate in estimates),
    )


@cache
def t_quantile(share: float, freedom: int) -> float:
    """Return a quantile of Student's t distribution.

    Parameters
    ----------
    share : float
        Probability below the quantile, in [0.5, 1].
    freedom : int
        Degrees of freedom, at least 1.

    Notes
    -----
    The distribution function is the finite series of Abramowitz and Stegun, *Handbook of
    Mathematical Functions*, 26.7.3 and 26.7.4; it is inverted by halving.
    """
    if share >= 1:
        return inf
    # With t = tan(angle) sqrt(freedom), all t from 0 to infinity are angles from 0 to pi / 2. |t|
    # is smaller than the quantile with probability 2 share − 1. After 60 halvings the interval is
    # as narrow as a float can tell.
    low, high = 0.0, pi / 2
    for _ in range(60):
        angle = (low + high) / 2
        if _t_probability(angle, freedom) < 2 * share - 1:
            low = angle
        else:
            high = angle
    return tan((low + high) / 2) * sqrt(freedom)


def _t_probability(angle: float, freedom: int) -> float:
    """Return the probability of |t| < tan(angle) sqrt(freedom).

    The angle replaces t, because the distribution function is a series in its sine and cosine
    (Abramowitz and Stegun, see `t_quantile`). With odd degrees of freedom, the series is
    cos + 2/3 cos³ + 2·4/(3·5) cos⁵ + … (26.7.3), with even ones 1 + 1/2 cos² + 1·3/(2·4) cos⁴ + …
    (26.7.4), up to the power `freedom` − 2.
    """
    cos_squared = cos(angle) ** 2
    is_odd = freedom % 2
    # The first term is cos or 1; for 1 degree of freedom there is none. The factor from a term to
    # the next is (k − 1)/k cos², with k = 3, 5, … (odd) or 2, 4, … (even).
    term = cos(angle) if is_odd else 1.0
    series = term if freedom > 1 else 0.0
    for k in range(2 + is_odd, freedom - 1, 2):
        term *= cos_squared * (k - 1) / k
        series += term
    return (angle + sin(angle) * series) * 2 / pi if is_odd else sin(angle) * series
