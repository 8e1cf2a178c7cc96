"""Measure a simulation: wait until it is stationary, then count until the numbers are precise.

Lengths are not settings: the end of warm-up is detected, and a run continues until its intervals
are as narrow as requested. A saturated network is detected by its growing backlog, never by a
latency.

    warm-up      until the network is stationary; at most half of ``max_cycles``
    measuring    until the intervals are narrow, or the network is certainly saturated

A closed loop has neither: it runs until all messages have arrived.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

import numpy as np

from routelab.api.topology import Topology
from routelab.simulation.packet.blockage import Blockage
from routelab.simulation.packet.counts import Counts, CycleCounts, Histogram
from routelab.simulation.packet.measurement.intervals import LEAST_GROUPS, Estimate
from routelab.simulation.packet.measurement.result import (
    FEW_STARVED,
    Distribution,
    Latency,
    LoadResult,
    State,
    Worst,
    jain_index,
    utilisation_of,
)
from routelab.simulation.packet.measurement.samples import CERTAIN, MAX_SAMPLES, Samples
from routelab.simulation.packet.measurement.settings import (
    MEASURED_SAMPLES,
    WARMUP_SAMPLES,
    SimulationSettings,
)
from routelab.simulation.packet.measurement.warmup import truncation
from routelab.simulation.packet.traffic import ClosedLoop, OfferedTraffic, OpenLoop

LEAST_PACKETS = 1000
"""Smallest number of packets for latencies: ten beyond the 99th percentile."""

FEW_PACKETS = 50
"""Smallest number of arrivals before the end of warm-up, or before an early verdict."""

TRANSITS = 4
"""Smallest time of an early verdict, in network latencies of packets: with long links and deep
buffers, traffic comes in waves of that length."""

REPORT_SECONDS = 0.5
"""Time between two reports of a run."""

Outcome = tuple[State, str]
"""State of a run at its end, and a text that explains it."""


class PacketSimulation(Protocol):
    """Interface of a simulation for a measurement; `Simulation` implements it."""

    @property
    def topology(self) -> Topology:
        """The network."""

    @property
    def traffic(self) -> OfferedTraffic:
        """What the terminals offer."""

    @property
    def seed(self) -> int:
        """Seed of all random draws."""

    @property
    def cpu_seconds(self) -> float:
        """CPU time of all cycles."""

    @property
    def finished(self) -> bool:
        """Whether all messages arrived."""

    def run(self, cycles: int) -> CycleCounts:
        """Run for some cycles."""

    def reset(self) -> None:
        """Reset the counts, keep the packets."""

    def counts(self) -> Counts:
        """Return the counts since the last reset."""

    def latencies(self) -> Histogram:
        """Return the latencies of `counts` alone: every sample asks for them."""

    def blocked(self) -> Blockage | None:
        """Return why the simulation cannot continue; None if it can."""


class _Run:
    """A simulation that is being measured, and the sums of its cycles.

    Attributes
    ----------
    simulation : PacketSimulation
    phase : str
        For reports: ``running`` (closed loop), ``warm-up`` or ``measuring``.
    on_progress : callable or None
        Gets phase and cycles as text, every `REPORT_SECONDS`.
    reported_at : float
        Time of the last report, in seconds (`time.monotonic`).
    cycles : int
        Cycles since the beginning.
    flit_hops : int
        Flits times channels that they crossed in this phase.
    waiting : int
        Packets that wait at the sources at the end of the last sample.
    blocked : Blockage or None
        Why the simulation cannot continue, if it was found blocked.
    counted_from : int
        Cycle from which on cycles are counted; 0 until the warm-up has ended.
    counted_from_seconds : float
        CPU time of the cycles before that one.
    """

    def __init__(
        self, simulation: PacketSimulation, on_progress: Callable[[str], None] | None
    ) -> None:
        self.simulation = simulation
        self.phase = "running" if isinstance(simulation.traffic, ClosedLoop) else "warm-up"
        self.on_progress = on_progress
        self.reported_at = 0.0
        self.cycles = 0
        self.flit_hops = 0
        self.waiting = 0
        self.blocked: Blockage | None = None
        self.counted_from = 0
        self.counted_from_seconds = 0.0

    def record(self, sample: CycleCounts) -> CycleCounts:
        """Add the counts of a sample, and return them; report progress when it is time.

        If nothing arrived although there are packets in the network, check whether they are
        blocked.
        """
        self.cycles += sample.cycles
        self.flit_hops += sample.flit_hops
        self.waiting = sample.packets_waiting
        if sample.packets_in_network and not sample.ejected_flits:
            self.check_blocked()
        if self.on_progress is not None and time.monotonic() - self.reported_at > REPORT_SECONDS:
            self.reported_at = time.monotonic()
            self.on_progress(f"{self.phase}, {self.cycles - self.counted_from} cycles")
        return sample

    def check_blocked(self) -> bool:
        """Find out whether the simulation is blocked, and set `blocked`.

        This takes as long as many cycles.
        """
        self.blocked = self.blocked or self.simulation.blocked()
        return self.blocked is not None

    def begin_counting(self, settings: SimulationSettings) -> Samples:
        """Reset the counts, begin the phase ``measuring``, and return its series, still empty."""
        self.simulation.reset()
        self.flit_hops = 0
        self.phase = "measuring"
        self.counted_from = self.cycles
        self.counted_from_seconds = self.simulation.cpu_seconds
        samples = Samples(settings.sample_cycles, MAX_SAMPLES)
        samples.begin(self.waiting)
        return samples


def measure_simulation(
    simulation: PacketSimulation,
    settings: SimulationSettings,
    on_progress: Callable[[str], None] | None = None,
) -> LoadResult:
    """Measure a fresh simulation at its offered load, or until its messages have arrived.

    Parameters
    ----------
    simulation : PacketSimulation
        Made with these settings; cannot be used again.
    settings : SimulationSettings
    on_progress : callable, optional
        Called at intervals with the phase and its cycles.

    Returns
    -------
    LoadResult
        Deadlock, livelock, saturation and too few cycles are states of the result, not errors.
    """
    run = _Run(simulation, on_progress)
    if isinstance(simulation.traffic, ClosedLoop):
        return _run_to_completion(run, settings)

    # 1. Warm up until arrivals, packets in the network, latencies and backlog are stationary. In a
    #    saturated network the arrivals become stationary, but latencies and backlog grow without
    #    end: such a network counts as warm if its backlog grows over the second half of the
    #    samples, of which there must be 2 * WARMUP_SAMPLES. If half of the allowed cycles are not
    #    enough, counting begins nevertheless, with `is_warm` False.
    samples = Samples(settings.sample_cycles)
    is_warm = False
    next_check = WARMUP_SAMPLES
    while not is_warm and run.cycles + settings.sample_cycles <= settings.max_cycles // 2:
        samples.add(run.record(simulation.run(settings.sample_cycles)))
        if run.blocked:
            break
        count = len(samples)
        if count < next_check or run.cycles < settings.warmup_cycles:
            continue
        if run.check_blocked():
            break
        # A check takes as long as many cycles, so the next one waits for a quarter more samples.
        next_check = count + max(count // 4, 1)
        # The arrivals first, which must be stationary in any case: from which sample on they are.
        steady_from = truncation(samples.arrived)
        if steady_from is None or samples.packets[steady_from:].sum() < FEW_PACKETS:
            continue
        other_series = (samples.in_network, samples.latency, samples.waiting)
        is_overloaded = count >= 2 * WARMUP_SAMPLES and samples.is_growing(num_ignored=count // 2)
        is_warm = is_overloaded or truncation(*other_series) is not None
    if run.blocked:
        return _make_result(run, settings, _blocked_outcome(run.blocked))

    # 2. Count. If the counts show that the network was still warming up, there is no outcome, and
    #    the counting begins again.
    outcome = None
    while outcome is None:
        samples = run.begin_counting(settings)
        outcome = _count_samples(run, settings, samples, is_warm)
    return _make_result(run, settings, outcome, samples)


def _count_samples(
    run: _Run, settings: SimulationSettings, samples: Samples, is_warm: bool
) -> Outcome | None:
    """Count until the numbers are precise or the cycles are used up, and return the outcome.

    Updates `samples`. Returns None if the counts show that the network was still warming up: the
    caller then begins again with new samples. If the warm-up did not end in time (`is_warm` False),
    counts until the allowed cycles are used up.
    """
    while run.cycles + samples.cycles <= settings.max_cycles:
        sample = run.record(run.simulation.run(samples.cycles))
        samples.add(sample, run.simulation.latencies().bins)
        count = len(samples)
        # `record` sets `blocked` only if nothing arrives. Other blockages are found by this check,
        # which takes as long as many cycles: only after every LEAST_GROUPS samples.
        if run.blocked or (count % LEAST_GROUPS == 0 and run.check_blocked()):
            break
        if not is_warm or count < MEASURED_SAMPLES or count % LEAST_GROUPS:
            continue
        # Begin again only if at least as many cycles remain as were used.
        if run.cycles <= settings.max_cycles // 2 and samples.is_warming_up():
            return None
        # With long links, traffic comes in waves (`TRANSITS`): an outcome needs more than one.
        packets, network = samples.packets.sum(), run.simulation.counts().network_latency
        mean_transit = network.sum / max(network.total, 1)  # 0 if nothing arrived
        counted_cycles = run.cycles - run.counted_from
        if packets < FEW_PACKETS or counted_cycles < TRANSITS * mean_transit:
            continue
        if samples.rate(settings.confidence).within(settings.precision):
            if reason := _saturation_reason(run, settings, samples):
                return "saturated", f"saturated: {reason}"
            latency = samples.mean_latency(settings.confidence)
            if packets >= LEAST_PACKETS and latency.within(settings.precision):
                return "stationary", "stationary"
    if run.check_blocked():
        return _blocked_outcome(run.blocked)
    return _outcome_at_limit(run, settings, samples, is_warm)


def _saturation_reason(run: _Run, settings: SimulationSettings, samples: Samples) -> str:
    """Return why the network is certainly saturated; empty if it is not certain."""
    if samples.is_growing():
        return "less arrives than is offered, the backlog grows"
    traffic = run.simulation.traffic
    if settings.injection_queue and isinstance(traffic, OpenLoop):
        # A full source queue stalls its terminal, so the backlog does not grow. Then less is
        # generated than the load says: that must certainly be missing at the destinations.
        offered = traffic.load * float(traffic.demand.rate.sum())
        if samples.rate(CERTAIN).high < (1 - settings.precision) * offered:
            return f"terminals stall, more than precision={settings.precision} of the load is lost"
    return ""


def _outcome_at_limit(
    run: _Run, settings: SimulationSettings, samples: Samples, is_warm: bool
) -> Outcome:
    """Return the outcome of a run that used all allowed cycles before its numbers were precise."""
    limit = f"after max_cycles={settings.max_cycles}"
    if not samples.packets.any() and run.flit_hops:
        text = f"undecided: packets move, but none arrives {limit}: does the routing go in circles?"
        return "undecided", text
    if reason := _saturation_reason(run, settings, samples):
        shortcoming = (
            f"intervals are wider than precision={settings.precision}"
            if is_warm
            else "the accepted load was not stationary yet"
        )
        return "saturated", f"saturated: {reason}; {shortcoming} {limit}"
    if _is_steady(samples, settings, is_warm):
        return "stationary", (
            f"stationary, but intervals are wider than precision={settings.precision} {limit}"
        )
    packets = int(samples.packets.sum())
    if packets < FEW_PACKETS:
        return "undecided", (
            f"undecided: only {packets} packets arrived {limit}, and a verdict needs {FEW_PACKETS}"
        )
    return "undecided", f"undecided: neither stationary nor certainly saturated {limit}"


def _is_steady(samples: Samples, settings: SimulationSettings, is_warm: bool) -> bool:
    """Return whether latency and backlog no longer change, whatever the width of the intervals.

    Two tests can show it: after a warm-up that ended in time, MSER finds that both became
    stationary in the first half of the samples (`truncation`); or the backlog certainly does not
    grow. The second test is for short series, in which MSER may find its minimum anywhere.
    """
    # A latency that drifts is correlated between neighbouring batches of any length.
    if not samples.mean_latency(settings.confidence).independent:
        return False
    if is_warm and truncation(samples.latency, samples.waiting) is not None:
        return True
    # The second test needs a backlog that would show growth: not with fewer than FEW_PACKETS, nor
    # with limited source queues, where terminals stall and the backlog cannot grow.
    backlog_shows_growth = samples.packets.sum() >= FEW_PACKETS and not settings.injection_queue
    return bool(backlog_shows_growth) and samples.is_balanced(settings.precision)


def _blocked_outcome(blocked: Blockage | None) -> Outcome:
    """Return the outcome of a run that is blocked: the kind of the blockage, and a text."""
    assert blocked is not None
    return blocked.kind, f"{blocked.kind}: {blocked.text}"


def _run_to_completion(run: _Run, settings: SimulationSettings) -> LoadResult:
    """Run a closed loop until all messages have arrived, or for ``finish_within`` cycles."""
    while not run.simulation.finished and not run.blocked:
        remaining = settings.finish_within - run.cycles
        if remaining <= 0:
            break
        run.record(run.simulation.run(min(settings.sample_cycles, remaining)))
    if not run.simulation.finished and run.check_blocked():
        outcome = _blocked_outcome(run.blocked)
    elif run.simulation.finished:
        outcome = "finished", "finished: all messages arrived"
    else:
        limit = f"finish_within={settings.finish_within}"
        outcome = "unfinished", f"unfinished: not all messages arrived within {limit}"
    return _make_result(run, settings, outcome)


def _make_result(
    run: _Run,
    settings: SimulationSettings,
    outcome: Outcome,
    samples: Samples | None = None,
) -> LoadResult:
    """Return the result of a run that has ended.

    `samples` are those of the measured phase; None if it was not reached, or in closed loops.
    """
    simulation, traffic = run.simulation, run.simulation.traffic
    is_closed_loop = isinstance(traffic, ClosedLoop)
    counts = simulation.counts()
    state, text = outcome
    # 1. The counted cycles: those of a finished closed loop end with the last arrival, and not with
    #    the sample in which that was.
    completion = int(counts.finished_at.max()) if state == "finished" else None
    if completion is not None:
        counts = replace(counts, cycles=completion)
    # 2. Flits per cycle of each terminal that sends. In a closed loop all senders have rate 1
    #    (True).
    rate = traffic.demand.rate if isinstance(traffic, OpenLoop) else counts.generated > 0
    senders = np.flatnonzero(rate)
    generated = counts.generated[senders] / max(counts.cycles, 1)
    arrived = counts.delivered[senders] * settings.packet_flits / max(counts.cycles, 1)
    # 3. Terminals that starve under endless traffic.
    starved = 0
    if not is_closed_loop:
        offers = counts.generated >= FEW_STARVED * settings.packet_flits
        starved = int(np.count_nonzero(offers & (counts.delivered == 0)))
    if starved:
        text += f"; {starved} of {len(senders)} terminals starve: none of their packets arrived"
    # 4. Latencies are valid in these states only: in a saturated network they grow without end.
    has_latency = state in ("stationary", "finished")
    total_hops = int(counts.hops @ np.arange(len(counts.hops)))
    counted_seconds = simulation.cpu_seconds - run.counted_from_seconds
    return LoadResult(
        settings=settings,
        load=traffic.load,
        seed=simulation.seed,
        state=state,
        text=text,
        warmup_cycles=run.counted_from,
        cycles=counts.cycles,
        samples=len(samples) if samples else 0,
        senders=len(senders),
        offered=float(generated.mean()) if len(senders) else 0.0,
        accepted=_accepted_load(counts, len(senders), settings, samples),
        offered_by_terminal=Distribution.of(generated),
        accepted_by_terminal=Distribution.of(arrived),
        jain=jain_index(arrived / rate[senders]),
        worst=Worst.last_served(counts)
        if is_closed_loop
        else Worst.least_served(senders, generated, arrived),
        starved=starved,
        latency=_packet_latency(counts, settings, samples) if has_latency else None,
        network_latency=Latency.without_intervals(counts.network_latency) if has_latency else None,
        message_latency=Latency.without_intervals(counts.message_latency) if has_latency else None,
        in_order_latency=Latency.without_intervals(counts.in_order_latency)
        if has_latency and settings.in_order
        else None,
        hops_mean=total_hops / max(int(counts.hops.sum()), 1),
        hops=counts.hops,
        escape_share=counts.escape_hops / max(counts.packet_hops, 1),
        utilisation=Distribution.of(
            utilisation_of(counts.channel_flits, counts.cycles, simulation.topology)
        ),
        completion_cycles=completion,
        flit_hops=run.flit_hops,
        cpu_seconds=simulation.cpu_seconds,
        flit_hops_per_cpu_second=run.flit_hops / counted_seconds if counted_seconds else 0.0,
        counts=counts,
    )


def _accepted_load(
    counts: Counts, senders: int, settings: SimulationSettings, samples: Samples | None
) -> Estimate:
    """Estimate the accepted flits per cycle and sender; without samples, there is no interval.

    `senders` is the number of terminals that send.
    """
    per_sender = 1 / max(senders, 1)
    if not samples:
        return Estimate(float(counts.ejected.sum()) / max(counts.cycles, 1) * per_sender)
    total = samples.rate(settings.confidence)
    return replace(total, value=total.value * per_sender, error=total.error * per_sender)


def _packet_latency(
    counts: Counts, settings: SimulationSettings, samples: Samples | None
) -> Latency | None:
    """Estimate the latency of packets; without samples, there are no intervals."""
    if not samples or not counts.latency.total:
        return Latency.without_intervals(counts.latency)
    confidence = settings.confidence
    p50, p95, p99 = (samples.quantile(q, counts.latency, confidence) for q in (0.5, 0.95, 0.99))
    return Latency(samples.mean_latency(confidence), p50, p95, p99, counts.latency.maximum)
