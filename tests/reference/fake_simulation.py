"""A simulation of independent queues, of which theory knows the answers."""

from __future__ import annotations

import numpy as np

from routelab.api import Demand, Messages, Topology
from routelab.simulation.packet.blockage import Blockage
from routelab.simulation.packet.counts import (
    BINS,
    EXACT,
    STEPS,
    Counts,
    CycleCounts,
    Histogram,
)
from routelab.simulation.packet.traffic import ClosedLoop, OpenLoop


def histogram(values):
    """Naive twin of what the engine counts."""
    bins = np.bincount(values[values < EXACT], minlength=BINS)
    for value, number in zip(*np.unique(values[values >= EXACT], return_counts=True), strict=True):
        doubling = int(value // EXACT).bit_length() - 1
        inside = (int(value) - (EXACT << doubling)) * STEPS // (EXACT << doubling)
        bins[EXACT + doubling * STEPS + inside] += number
    return Histogram(bins, len(values), int(np.sum(values)), int(np.max(values, initial=0)))


class Queues:
    """T terminals with a queue and a server of fixed service time each: Geo/D/1.

    Mean wait (Takagi, Queueing Analysis 3, 1993): λ s (s − 1) / (2 (1 − λ s)), for arrivals with
    probability λ a cycle and service time s; so it saturates at load 1 / s.
    """

    finished = False
    cpu_seconds = 0.0

    def __init__(self, load, seed, *, service=2, terminals=8, horizon=120_000, extra=0, until=0):
        """Packets that leave before `until` feel `extra` cycles more."""
        self.seed, self.service = seed, service
        self.topology = ring(terminals)
        self.traffic = OpenLoop(Demand.uniform(self.topology, "made up"), load)
        self.now = self.since = 0
        random = np.random.default_rng(seed)
        parts = []
        for terminal in range(terminals):
            arrival = np.flatnonzero(random.random(horizon) < load)
            begin = np.arange(len(arrival)) * service
            begin += np.maximum.accumulate(arrival - begin)
            parts.append((arrival, begin, begin + service, np.full(len(arrival), terminal)))
        arrival, begin, leave, source = (np.concatenate(part) for part in zip(*parts, strict=True))
        order = np.argsort(leave, kind="stable")
        self.leave, self.source = leave[order], source[order]
        self.latency = (leave - arrival)[order] + extra * (leave[order] < until)
        order = np.argsort(arrival, kind="stable")
        self.arrivals, self.arrived_at = arrival[order], source[order]
        self.begins = np.sort(begin)
        self.sums = np.concatenate(([0], np.cumsum(self.latency)))

    def run(self, cycles):
        ends = (self.now, self.now + cycles)
        generated, injected, ejected = (
            np.searchsorted(times, ends) for times in (self.arrivals, self.begins, self.leave)
        )
        self.now += cycles
        total = int(self.sums[ejected[1]] - self.sums[ejected[0]])
        return CycleCounts(
            cycles=cycles,
            generated_flits=int(np.diff(generated)[0]),
            injected_flits=int(np.diff(injected)[0]),
            ejected_flits=int(np.diff(ejected)[0]),
            ejected_packets=int(np.diff(ejected)[0]),
            latency_sum=total,
            network_latency_sum=self.service * int(np.diff(ejected)[0]),
            flit_hops=3 * int(np.diff(ejected)[0]),
            packets_in_network=int(injected[1] - ejected[1]),
            packets_waiting=int(generated[1] - injected[1]),
        )

    def reset(self):
        self.since = self.now

    def blocked(self):
        return None

    def counts(self):
        first, last = np.searchsorted(self.leave, (self.since, self.now))
        terminals = self.topology.num_terminals
        source, latencies = self.source[first:last], self.latencies()
        here = slice(*np.searchsorted(self.arrivals, (self.since, self.now)))
        by_source = np.bincount(source, minlength=terminals)
        none = histogram(np.zeros(0, dtype=np.int64))
        return Counts(
            cycles=self.now - self.since,
            latency=latencies,
            network_latency=histogram(np.full(last - first, self.service)),
            message_latency=latencies,
            in_order_latency=none,
            hops=np.array([0, 0, 0, last - first]),
            escape_hops=int(last - first),
            packet_hops=3 * int(last - first),
            generated=np.bincount(self.arrived_at[here], minlength=terminals),
            injected=by_source,
            ejected=by_source,
            delivered=by_source,
            latency_by_source=np.bincount(
                source, self.latency[first:last], minlength=terminals
            ).astype(np.int64),
            latency_by_target=np.zeros(terminals, dtype=np.int64),
            received=by_source,
            finished_at=np.full(terminals, self.now),
            channel_flits=np.arange(self.topology.num_channels) * (self.now - self.since),
            vc_flits=np.zeros((self.topology.num_channels, 1), dtype=np.int64),
        )

    def latencies(self):
        first, last = np.searchsorted(self.leave, (self.since, self.now))
        return histogram(self.latency[first:last])

    def mean_latency(self):
        """What theory says."""
        s = self.service
        load = self.traffic.load
        return s + load * s * (s - 1) / (2 * (1 - load * s))


class Stuck(Queues):
    """Packets wait for each other from some cycle on."""

    def __init__(self, load, seed, *, at):
        super().__init__(load, seed)
        self.at = at

    def blocked(self):
        if self.now < self.at:
            return None
        return Blockage("deadlock", ((0, 0), (1, 0)), "0 waits for 1, 1 for 0", self.at)


class Batch(Queues):
    """Messages to be finished, the last one in cycle 1,234."""

    def __init__(self, load, seed):
        super().__init__(0.2, seed, horizon=1000)
        self.traffic = ClosedLoop(Messages.create(np.zeros(9), ()))

    @property
    def finished(self):
        return self.now >= 1234

    def counts(self):
        counts = super().counts()
        counts.finished_at[:] = 617
        counts.finished_at[5] = 1234
        return counts


def ring(terminals):
    """One-way ring; channel k has capacity 2."""
    return Topology.create(
        family="ring",
        num_switches=max(terminals, 2),
        terminal_switch=np.arange(terminals),
        channel_source=np.arange(max(terminals, 2)),
        channel_target=(np.arange(max(terminals, 2)) + 1) % max(terminals, 2),
        channel_capacity=np.full(max(terminals, 2), 2.0),
    )
