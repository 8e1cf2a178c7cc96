"""Effective bisection bandwidth: mean bandwidth between random halves of the terminals.

Hoefler, Schneider and Lumsdaine, "Multistage switches are not crossbars: effects of static
routing in high-performance networks", CLUSTER 2008 (DOI 10.1109/CLUSTR.2008.4663762).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

import numpy as np

from routelab.api import RouteTable
from routelab.metrics.capacity import channel_factors
from routelab.metrics.kernels.pairings import pairing_bandwidth


@dataclass(frozen=True)
class BisectionBandwidth:
    """Mean over random pairings, with its confidence interval.

    Attributes
    ----------
    mean : float
        Share of a terminal's bandwidth, from 0 to 1.
    half_width : float
        Half of the 95 % confidence interval of the mean.
    """

    mean: float
    half_width: float


def effective_bisection(table: RouteTable, samples: int, seed: int) -> BisectionBandwidth | None:
    """Sample the bandwidth between random halves of the terminals.

    In each sample the terminals are divided into two random halves and every terminal of one sends
    to its partner in the other, all simultaneously. A message shares the busiest channel on its
    route with others: if that has relative load r, the message gets 1 / r of the bandwidth of a
    terminal, which is that of the fastest channel. For routes with several weighted paths, the
    busiest channel of all of them counts. One terminal is omitted if their number is odd. A pair
    without a route has no bandwidth.

    Parameters
    ----------
    table : RouteTable
    samples : int
        At least 30: the confidence interval assumes that their mean has a normal distribution.
    seed : int
        Pairings depend only on it and on the number of terminals, so all tables are measured with
        the same ones.

    Returns
    -------
    bandwidth : BisectionBandwidth or None
        None if there are fewer than two terminals.
    """
    topology = table.topology
    half = topology.num_terminals // 2
    if not half:
        return None
    random = np.random.default_rng(seed)
    scratch, factor = np.zeros(topology.num_channels), channel_factors(topology)
    bandwidths = np.empty(samples)
    for i in range(samples):
        # the k-th sender sends to the k-th receiver
        shuffled = random.permutation(topology.num_terminals)
        senders, receivers = shuffled[:half], shuffled[half : 2 * half]
        pairs = table.pair_between(senders, receivers)
        bandwidths[i] = pairing_bandwidth(
            table.pair_start,
            table.path_start,
            table.path_weight,
            table.hop_channel,
            pairs=pairs,
            factor=factor,
            load=scratch,
        )
    # the 97.5 % quantile: 2.5 % of a normal distribution lie beyond each end of a 95 % interval
    half_width = NormalDist().inv_cdf(0.975) * float(bandwidths.std(ddof=1)) / sqrt(samples)
    return BisectionBandwidth(float(bandwidths.mean()), half_width)
