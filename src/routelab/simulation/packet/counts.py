"""Counts of a simulation.

A histogram of cycles counts exactly below `EXACT`, and has `STEPS` bins for each doubling above:

    0 … 4095            4096 bins of 1 cycle
    4096 … 8191         64 bins of 64 cycles
    8192 … 16383        64 bins of 128 cycles …
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from routelab.api.topology import Float64Array, Int64Array

EXACT = 4096
"""Latencies below this are counted exactly."""
STEPS = 64
"""Number of bins of every doubling above."""
BINS = EXACT + 20 * STEPS


@dataclass(frozen=True)
class CycleCounts:
    """Counts of a sample: some cycles of a simulation in succession.

    Attributes
    ----------
    cycles : int
    generated_flits, injected_flits, ejected_flits : int
        Flits that terminals offered, that entered the network, and that arrived.
    ejected_packets : int
    latency_sum, network_latency_sum : int
        Sums over the ejected packets, in cycles: from generation, or from injection, to the tail's
        arrival.
    flit_hops : int
        Flits times channels between switches that they crossed.
    packets_in_network : int
        Packets in the network at the end.
    packets_waiting : int
        Packets that are generated and not yet in the network, at the end.
    """

    cycles: int
    generated_flits: int
    injected_flits: int
    ejected_flits: int
    ejected_packets: int
    latency_sum: int
    network_latency_sum: int
    flit_hops: int
    packets_in_network: int
    packets_waiting: int


@dataclass(frozen=True, eq=False)
class Histogram:
    """Histogram of numbers of cycles, such as latencies.

    Attributes
    ----------
    bins : int64 array, shape (BINS,)
        Count of each bin. A bin is one number of cycles below `EXACT`; above, its width is at most
        1/`STEPS` of the numbers in it.
    total : int
        Number of all values.
    sum, maximum : int
        Their sum and the largest of them: exact, unlike what the bins say.
    """

    bins: Int64Array
    total: int
    sum: int
    maximum: int

    @classmethod
    def merged(cls, histograms: Sequence[Histogram]) -> Histogram:
        """Return the histogram of all numbers of several ones."""
        return cls(
            bins=np.sum([histogram.bins for histogram in histograms], axis=0),
            total=sum(histogram.total for histogram in histograms),
            sum=sum(histogram.sum for histogram in histograms),
            maximum=max(histogram.maximum for histogram in histograms),
        )

    @property
    def mean(self) -> float:
        """Exact mean; NaN if empty."""
        return self.sum / self.total if self.total else float("nan")

    def quantile(self, share: float) -> float:
        """Return the smallest value that a `share` of all values do not exceed; NaN if empty.

        Above `EXACT`, it is the upper end of the value's bin, but not more than the maximum.
        """
        if not self.total:
            return float("nan")
        bin_number = int(np.searchsorted(np.cumsum(self.bins), np.ceil(share * self.total)))
        return float(min(upper_ends()[bin_number], self.maximum))

    def values(self) -> tuple[Float64Array, Int64Array]:
        """Return the upper ends of the bins that are not empty, and their counts."""
        not_empty = np.flatnonzero(self.bins)
        ends = np.minimum(upper_ends()[not_empty], self.maximum).astype(np.float64)
        return ends, self.bins[not_empty]


def upper_ends() -> Int64Array:
    """Return the largest number in each bin; int64, shape (BINS,)."""
    doubling, step = np.divmod(np.arange(BINS - EXACT), STEPS)
    width = (EXACT // STEPS) << doubling
    return np.concatenate((np.arange(EXACT), (EXACT << doubling) + (step + 1) * width - 1))


@dataclass(frozen=True, eq=False)
class Counts:
    """Counts since the last reset; T terminals, C channels, V virtual channels of each.

    Attributes
    ----------
    cycles : int
    latency, network_latency : Histogram
        Latencies of packets, from generation and from injection to the tail's arrival.
    message_latency : Histogram
        Latencies of messages, from generation to the last tail's arrival.
    in_order_latency : Histogram
        Latencies of packets, until all earlier ones of their message have arrived; empty unless
        requested.
    hops : int64 array
        Packets by number of hops.
    escape_hops : int
        Hops on escapes, which are candidates with a penalty of at least
        `routelab.kernels.hops.ESCAPE`.
    packet_hops : int
        Hops of all packets, also of those still in the network, which `hops` does not count.
    generated, injected, ejected : int64 array, shape (T,)
        Flits: generated and injected by source, ejected by destination.
    delivered : int64 array, shape (T,)
        Packets that arrived, by source.
    latency_by_source : int64 array, shape (T,)
        Sum of their latencies, by source.
    received : int64 array, shape (T,)
        Packets that arrived, by destination.
    latency_by_target : int64 array, shape (T,)
        Sum of their latencies, by destination.
    finished_at : int64 array, shape (T,)
        Cycle in which a destination received its last flit; −1: none yet.
    channel_flits : int64 array, shape (C,)
        Flits that crossed each channel.
    vc_flits : int64 array, shape (C, V)
        The same for each virtual channel.
    """

    cycles: int
    latency: Histogram
    network_latency: Histogram
    message_latency: Histogram
    in_order_latency: Histogram
    hops: Int64Array
    escape_hops: int
    packet_hops: int
    generated: Int64Array
    injected: Int64Array
    ejected: Int64Array
    delivered: Int64Array
    latency_by_source: Int64Array
    latency_by_target: Int64Array
    received: Int64Array
    finished_at: Int64Array
    channel_flits: Int64Array
    vc_flits: Int64Array
