"""Detection of the end of a warm-up."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

TAIL = 5
"""Number of last observations in which no warm-up ends: so few may be equal by chance."""


def mser(series: ArrayLike) -> int:
    """Find the end of the warm-up by the marginal standard error rule (MSER).

    This is the number of first observations whose removal makes the mean most precise.

    Parameters
    ----------
    series : array, shape (n,)
        Means of equal intervals of time, in order.

    Returns
    -------
    int
        The d below n − `TAIL` with the smallest sum of squared deviations from the mean of the
        remaining n − d observations, divided by (n − d)²; 0 if the series is too short.

    Notes
    -----
    K. P. White, *An effective truncation heuristic for bias reduction in simulation output*,
    Simulation 69(6), 1997, doi 10.1177/003754979706900601. Of the variants, MSER-5 did best in
    K. Hoad, S. Robinson and R. Davies, *Automating warm-up length estimation*, Journal of the
    Operational Research Society 61(9), 2010, doi 10.1057/jors.2009.87. It takes means
    of five observations for the series; here the intervals take their place.
    """
    values = np.asarray(series, dtype=np.float64)
    num_cuts = len(values) - TAIL
    if num_cuts < 1:
        return 0
    # relative to the last value, so that sums of squares lose no digits
    values = values - values[-1]
    # For every d from 0 to n − TAIL − 1, of the observations from d on: their number, sum, sum of
    # squares, and sum of squared deviations from their mean. (Sums from the end are cumulative sums
    # of the reversed series.) Rounding could make the last one negative.
    remaining = np.arange(len(values), TAIL, -1, dtype=np.float64)
    sums = np.cumsum(values[::-1])[::-1][:num_cuts]
    square_sums = np.cumsum(values[::-1] ** 2)[::-1][:num_cuts]
    squared_deviations = np.maximum(square_sums - sums**2 / remaining, 0.0)
    return int(np.argmin(squared_deviations / remaining**2))


def truncation(*series: ArrayLike) -> int | None:
    """Find the number of first observations to drop so that several series are stationary.

    Returns
    -------
    int or None
        The largest number of all series (`mser`). None if the series are too short, or if one would
        lose more than half of its observations: it may still be changing (Hoad et al. 2010).
    """
    num_dropped = max(mser(values) for values in series)
    shortest = min(len(np.asarray(values)) for values in series)
    return None if shortest < 2 * TAIL or num_dropped > shortest // 2 else num_dropped
