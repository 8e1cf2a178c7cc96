"""Samples of a run in order of time, as series."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import numpy as np

from routelab.api.topology import Float64Array, Int64Array
from routelab.simulation.packet.counts import CycleCounts, Histogram
from routelab.simulation.packet.measurement.intervals import (
    LEAST_GROUPS,
    Estimate,
    group_batches,
    mean_estimate,
    ratio,
)

MAX_SAMPLES = 8 * LEAST_GROUPS
"""Number of samples at which all of them are merged in pairs."""

_SUMS = (
    "cycles",
    "generated_flits",
    "ejected_flits",
    "ejected_packets",
    "latency_sum",
    "packets_waiting",
    "packets_in_network",
)
"""Counts of a sample (`CycleCounts`) that add up when samples are merged. Of ``packets_waiting``, a
sample has the change since the one before."""

CERTAIN = 0.998
"""Confidence level of what a verdict on a run calls certain. It is two-sided, so the end of an
interval that a verdict uses errs once in a thousand."""


class Samples:
    """Samples of equal length in order of time, and the latencies of each.

    Parameters
    ----------
    cycles : int
        Cycles of each added sample. Whenever samples are merged, the attribute `cycles` doubles,
        and the caller must add samples of that length from then on.
    max_samples : int or None
        Number of samples at which they are merged in pairs; None: never.
    """

    def __init__(self, cycles: int, max_samples: int | None = None) -> None:
        self.cycles = cycles
        self._max_samples = max_samples
        self._rows: list[Int64Array] = []
        self._latency_bins: list[Int64Array] = []
        self._bins_before: Int64Array | None = None
        self._waiting_before = 0

    def begin(self, waiting: int) -> None:
        """Set the number of packets that wait at the sources before the first sample."""
        self._waiting_before = waiting

    def add(self, sample: CycleCounts, latencies: Int64Array | None = None) -> None:
        """Append a sample.

        Parameters
        ----------
        sample : CycleCounts
        latencies : int64 array, optional
            Bins of the histogram of all latencies from the first sample to the end of this one.
        """
        change = replace(sample, packets_waiting=sample.packets_waiting - self._waiting_before)
        self._rows.append(np.array([getattr(change, name) for name in _SUMS], dtype=np.int64))
        self._waiting_before = sample.packets_waiting
        if latencies is not None:
            bins_before = 0 if self._bins_before is None else self._bins_before
            self._latency_bins.append(latencies - bins_before)
            self._bins_before = latencies
        if len(self._rows) == self._max_samples:
            self._rows = _add_pairs(self._rows)
            self._latency_bins = _add_pairs(self._latency_bins)
            self.cycles *= 2

    def __len__(self) -> int:
        return len(self._rows)

    def _column(self, name: str) -> Float64Array:
        """Return a count of `_SUMS` of every sample."""
        column = _SUMS.index(name)
        return np.array([row[column] for row in self._rows], dtype=np.float64)

    @property
    def packets(self) -> Float64Array:
        """Packets that arrived in each sample."""
        return self._column("ejected_packets")

    @property
    def in_network(self) -> Float64Array:
        """Packets in the network at the end of each sample (merged ones: sum over their ends)."""
        return self._column("packets_in_network")

    @property
    def arrived(self) -> Float64Array:
        """Flits per cycle that arrived, in total."""
        return self._column("ejected_flits") / self._column("cycles")

    @property
    def waiting(self) -> Float64Array:
        """Packets that wait at the sources at the end of each, relative to the beginning."""
        return np.cumsum(self._column("packets_waiting"))

    @property
    def latency(self) -> Float64Array:
        """Mean latency of arrivals in each sample; without arrivals, that of the one before."""
        packets = self.packets
        # the latest sample with arrivals; before the first arrival sample 0, with a latency of 0
        latest = np.maximum.accumulate(np.where(packets > 0, np.arange(len(packets)), 0))
        return self._column("latency_sum")[latest] / np.maximum(packets[latest], 1)

    def rate(self, confidence: float) -> Estimate:
        """Estimate the flits per cycle that arrive, in total."""
        return ratio(self._column("ejected_flits"), self._column("cycles"), confidence)

    def mean_latency(self, confidence: float) -> Estimate:
        """Estimate the latency of packets, in cycles."""
        return ratio(self._column("latency_sum"), self.packets, confidence)

    def quantile(self, share: float, whole: Histogram, confidence: float) -> Estimate:
        """Estimate a quantile of the latency: its value from all packets, its error from batches.

        Parameters
        ----------
        share : float
        whole : Histogram
            Histogram of all samples.
        """
        # 1. Batches of samples whose mean latencies are independent, as in `ratio`; a remainder at
        #    the beginning is dropped. The residual of a sample is its sum of latencies minus what
        #    its packets would have at the mean latency.
        latency_sum, packets = self._column("latency_sum"), self.packets
        mean_latency = latency_sum.sum() / packets.sum()
        residual = latency_sum - mean_latency * packets
        width, correlation, independent = group_batches(residual)
        bins = np.array(self._latency_bins)[len(self) % width :]
        batches = bins.reshape(len(self) // width, width, -1).sum(axis=1)
        # 2. The error of their quantiles, which the remaining correlation widens as in `ratio`.
        histograms = [
            # the sum is not needed for quantiles
            Histogram(bins=batch, total=int(batch.sum()), sum=0, maximum=whole.maximum)
            for batch in batches
            if batch.any()
        ]
        quantiles = np.array([histogram.quantile(share) for histogram in histograms])
        if len(quantiles) < 2:
            return Estimate(whole.quantile(share), confidence=confidence)
        widening = ((1 + correlation) / (1 - correlation)) ** 0.5
        return Estimate(
            value=whole.quantile(share),
            error=float(quantiles.std(ddof=1)) / len(quantiles) ** 0.5 * widening,
            freedom=len(quantiles) - 1,
            confidence=confidence,
            independent=independent,
        )

    def is_growing(self, num_ignored: int = 0) -> bool:
        """Return whether certainly less arrives than is generated, and the backlog grows.

        Parameters
        ----------
        num_ignored : int
            Number of samples at the beginning to ignore.
        """
        cycles = self._column("cycles")[num_ignored:]
        shortfall = (self._column("generated_flits") - self._column("ejected_flits"))[num_ignored:]
        backlog_growth = self._column("packets_waiting")[num_ignored:]
        return all(ratio(growth, cycles, CERTAIN).low > 0 for growth in (shortfall, backlog_growth))

    def is_balanced(self, precision: float) -> bool:
        """Return whether certainly as much arrives as is generated, and nothing drifts.

        Parameters
        ----------
        precision : float
            Largest growth of the backlog, relative to the generated flits.

        Notes
        -----
        What is generated and does not arrive is in the backlog, so the change of the backlog from
        the first half to the second is the missing arrivals. It fluctuates much less than what is
        generated: few packets suffice.
        """
        generated = self._column("generated_flits")
        # in flits, at the end of each sample, relative to the beginning
        backlog = np.cumsum(generated - self._column("ejected_flits"))
        half = len(backlog) // 2
        early, late = (mean_estimate(part, CERTAIN) for part in (backlog[:half], backlog[-half:]))
        # the upper end of the growth's interval: errors of the two means add as squares
        max_growth = late.value - early.value + sqrt(early.half_width**2 + late.half_width**2)
        # the two means stand for the middles of the halves, which are half a run apart
        max_allowed = precision * generated.sum() / 2
        # a backlog that drifts has neighbouring batches that are correlated at any length
        is_steady = mean_estimate(backlog, CERTAIN).independent
        return max_growth <= max_allowed and is_steady and not self.is_warming_up()

    def is_warming_up(self, confidence: float = CERTAIN) -> bool:
        """Return whether the first quarter certainly differs from the steady rest.

        Compares the mean latency and the arrivals. Geweke, *Evaluating the accuracy of
        sampling-based approaches to the calculation of posterior moments*, Bayesian Statistics 4,
        1992, compares parts of a series likewise.
        """
        quarter = len(self) // 4
        # sums and weights, whose quotients are the mean latency and the arrivals per cycle
        series = (
            (self._column("latency_sum"), self.packets),
            (self._column("ejected_flits"), self._column("cycles")),
        )
        for sums, weights in series:
            rest = ratio(sums[quarter:], weights[quarter:], confidence)
            if rest.independent and weights[:quarter].sum() > 0:
                first_quarter = float(sums[:quarter].sum() / weights[:quarter].sum())
                # The rest is three times as long as the first quarter, so the half-width of the
                # first quarter is sqrt(3) times that of the rest. Squares add: the difference of
                # the two means has a half-width of sqrt(1 + 3) = 2 times that of the rest.
                if abs(first_quarter - rest.value) > 2 * rest.half_width:
                    return True
        return False


def _add_pairs(rows: list[Int64Array]) -> list[Int64Array]:
    """Return the sums of rows 0 and 1, 2 and 3, ..."""
    return [row + next_row for row, next_row in zip(rows[::2], rows[1::2], strict=True)]
