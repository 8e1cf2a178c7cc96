"""Where the warm-up of a simulation ends."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

TAIL = 5
"""Last observations that no warm-up ends among: so few are alike by chance."""


def mser(series: ArrayLike) -> int:
    """Number of first observations whose removal makes the mean of the others surest.

    Parameters
    ----------
    series : array, shape (n,)
        Means of equally long stretches of time, in order.

    Returns
    -------
    int
        The d below n − `TAIL` that minimizes the sum of squares about the mean of what is left,
        divided by (n − d)²; 0 of a series that is too short.

    Notes
    -----
    K. P. White, *An effective truncation heuristic for bias reduction in simulation output*,
    Simulation 69(6), 1997, doi 10.1177/003754979706900601. Of the variants, MSER-5 did best in
    K. Hoad, S. Robinson and R. Davies, *Automating warm-up length estimation*, Journal of the
    Operational Research Society 61(9), 2010, doi 10.1057/jors.2009.87; the stretches are its
    batches.
    """
    values = np.asarray(series, dtype=np.float64)
    ends = len(values) - TAIL
    if ends < 1:
        return 0
    # about the last value, so that sums of squares lose no digits
    values = values - values[-1]
    left = np.arange(len(values), TAIL, -1, dtype=np.float64)
    sums = np.cumsum(values[::-1])[::-1][:ends]
    squares = np.cumsum(values[::-1] ** 2)[::-1][:ends]
    spread = np.maximum(squares - sums**2 / left, 0.0)
    return int(np.argmin(spread / left**2))


def truncation(*series: ArrayLike) -> int | None:
    """Observations to drop so that every one of several series is stationary.

    Returns
    -------
    int or None
        The largest of the series' own; None if one of them is in the second half: then the series
        may be on its way still (Hoad et al. 2010, see `mser`).
    """
    ends = [mser(one) for one in series]
    shortest = min(len(np.asarray(one)) for one in series)
    return None if shortest < 2 * TAIL or max(ends) > shortest // 2 else max(ends)
