"""Measure a simulation: wait until it is stationary, then count until the numbers are precise.

Lengths are not settings: the end of warm-up is detected, and a run continues until its intervals
are as narrow as requested. A saturated network is detected by its growing backlog, never by a
latency.
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
    """A simulation and the sums of its cycles."""

    def __init__(
        self, simulation: PacketSimulation, on_progress: Callable[[str], None] | None
    ) -> None:
        self.simulation = simulation
        self.phase = "running" if isinstance(simulation.traffic, ClosedLoop) else "warm-up"
        self.on_progress = on_progress
        self.reported = 0.0
        self.cycles = 0
        self.flit_hops = 0
        self.waiting = 0
        self.blocked: Blockage | None = None
        self.began = 0
        self.began_seconds = 0.0

    def record(self, sample: CycleCounts) -> CycleCounts:
        """Add some cycles, and look whether the simulation is blocked if nothing arrived."""
        self.cycles += sample.cycles
        self.flit_hops += sample.flit_hops
        self.waiting = sample.packets_waiting
        if sample.packets_in_network and not sample.ejected_flits:
            self.look()
        if self.on_progress is not None and time.monotonic() - self.reported > REPORT_SECONDS:
            self.reported = time.monotonic()
            self.on_progress(f"{self.phase}, {self.cycles - self.began} cycles")
        return sample

    def look(self) -> bool:
        """Return whether the simulation is blocked; this costs as much as many cycles."""
        self.blocked = self.blocked or self.simulation.blocked()
        return self.blocked is not None

    def begin(self, settings: SimulationSettings) -> Samples:
        """Reset the counts and begin to count."""
        self.simulation.reset()
        self.flit_hops = 0
        self.phase = "measuring"
        self.began, self.began_seconds = self.cycles, self.simulation.cpu_seconds
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
        return _finish(run, settings)

    # 1. Warm up until the network is stationary, or only its arrivals are and the sources cannot
    # be: in a saturated network the number of packets in it still drifts when arrivals are steady.
    # Then this does not wait for it, but for twice as many samples. The network stays cold if half
    # of the allowed cycles are not enough.
    samples = Samples(settings.sample_cycles)
    warm = False
    next_look = WARMUP_SAMPLES
    while not warm and run.cycles + settings.sample_cycles <= settings.max_cycles // 2:
        samples.add(run.record(simulation.run(settings.sample_cycles)))
        if run.blocked:
            break
        count = len(samples)
        if count < next_look or run.cycles < settings.warmup_cycles:
            continue
        if run.look():
            break
        next_look = count + max(count // 4, 1)
        throughput = truncation(samples.arrived)
        if throughput is None or samples.packets[throughput:].sum() < FEW_PACKETS:
            continue
        rest = (samples.in_network, samples.latency, samples.waiting)
        overloaded = count >= 2 * WARMUP_SAMPLES and samples.is_growing(count // 2)
        warm = overloaded or truncation(*rest) is not None
    if run.blocked:
        return _make_result(run, settings, _verdict(run.blocked))

    # 2. Count; once more from the beginning if the counts show that the network still warmed up.
    outcome = None
    while outcome is None:
        samples = run.begin(settings)
        outcome = _count(run, settings, samples, warm)
    return _make_result(run, settings, outcome, samples)


def _count(
    run: _Run, settings: SimulationSettings, samples: Samples, warm: bool
) -> tuple[State, str] | None:
    """Count until the numbers are precise; return state and text, None if still warming up."""
    while run.cycles + samples.cycles <= settings.max_cycles:
        sample = run.record(run.simulation.run(samples.cycles))
        samples.add(sample, run.simulation.latencies().bins)
        count = len(samples)
        if run.blocked or (count % LEAST_GROUPS == 0 and run.look()):
            break
        if not warm or count < MEASURED_SAMPLES or count % LEAST_GROUPS:
            continue
        if run.cycles <= settings.max_cycles // 2 and samples.is_warming_up():
            return None
        # a verdict needs more than one wave of packets, see `TRANSITS`
        packets, network = samples.packets.sum(), run.simulation.counts().network_latency
        transit = network.sum / max(network.total, 1)
        if packets < FEW_PACKETS or run.cycles - run.began < TRANSITS * transit:
            continue
        if samples.rate(settings.confidence).within(settings.precision):
            if reason := _overload(run, settings, samples):
                return "saturated", f"saturated: {reason}"
            latency = samples.mean_latency(settings.confidence)
            if packets >= LEAST_PACKETS and latency.within(settings.precision):
                return "stationary", "stationary"
    if run.look():
        return _verdict(run.blocked)
    return _undecided_state(run, settings, samples, warm)


def _overload(run: _Run, settings: SimulationSettings, samples: Samples) -> str:
    """Return why the network is certainly saturated; empty if it is not certain."""
    if samples.is_growing():
        return "less arrives than is offered, the backlog grows"
    traffic = run.simulation.traffic
    if settings.injection_queue and isinstance(traffic, OpenLoop):
        # terminals that stall have no backlog: the missing generated packets count
        offered = traffic.load * float(traffic.demand.rate.sum())
        if samples.rate(CERTAIN).high < (1 - settings.precision) * offered:
            return f"terminals stall, more than precision={settings.precision} of the load is lost"
    return ""


def _undecided_state(
    run: _Run, settings: SimulationSettings, samples: Samples, warm: bool
) -> tuple[State, str]:
    """Return state and text of a run whose cycles did not suffice."""
    short = f"after max_cycles={settings.max_cycles}"
    if not samples.packets.any() and run.flit_hops:
        text = f"undecided: packets move, but none arrives {short}: does the routing go in circles?"
        return "undecided", text
    if reason := _overload(run, settings, samples):
        shortcoming = (
            f"intervals are wider than precision={settings.precision}"
            if warm
            else "the accepted load was not stationary yet"
        )
        return "saturated", f"saturated: {reason}; {shortcoming} {short}"
    if _is_settled(samples, settings, warm):
        return "stationary", (
            f"stationary, but intervals are wider than precision={settings.precision} {short}"
        )
    packets = int(samples.packets.sum())
    if packets < FEW_PACKETS:
        return "undecided", (
            f"undecided: only {packets} packets arrived {short}, and a verdict needs {FEW_PACKETS}"
        )
    return "undecided", f"undecided: neither stationary nor certainly saturated {short}"


def _is_settled(samples: Samples, settings: SimulationSettings, warm: bool) -> bool:
    """Return whether latency and backlog no longer change, whatever the width of the intervals.

    Either MSER finds no change in the second half, or the backlog certainly does not grow. MSER
    alone does not suffice: in a short series of few packets, its minimum may be anywhere.
    Terminals that stall (`injection_queue`) hide the growth of the backlog.
    """
    if not samples.mean_latency(settings.confidence).independent:
        return False
    if warm and truncation(samples.latency, samples.waiting) is not None:
        return True
    enough = samples.packets.sum() >= FEW_PACKETS and not settings.injection_queue
    return bool(enough) and samples.is_balanced(settings.precision)


def _verdict(blocked: Blockage | None) -> tuple[State, str]:
    assert blocked is not None
    return blocked.kind, f"{blocked.kind}: {blocked.text}"


def _finish(run: _Run, settings: SimulationSettings) -> LoadResult:
    """Run until all messages have arrived."""
    while not run.simulation.finished and not run.blocked:
        remaining = settings.finish_within - run.cycles
        if remaining <= 0:
            break
        run.record(run.simulation.run(min(settings.sample_cycles, remaining)))
    if not run.simulation.finished and run.look():
        outcome = _verdict(run.blocked)
    elif run.simulation.finished:
        outcome = "finished", "finished: all messages arrived"
    else:
        short = f"finish_within={settings.finish_within}"
        outcome = "unfinished", f"unfinished: not all messages arrived within {short}"
    return _make_result(run, settings, outcome)


def _make_result(
    run: _Run,
    settings: SimulationSettings,
    outcome: tuple[State, str],
    samples: Samples | None = None,
) -> LoadResult:
    """Return the result of a run that ended with a state and its text (`outcome`).

    `samples` are those of the measured phase; None if it was not reached, or in closed loops.
    """
    simulation, traffic = run.simulation, run.simulation.traffic
    counts = simulation.counts()
    state, text = outcome
    completion = int(counts.finished_at.max()) if state == "finished" else None
    if completion is not None:
        # rates end with the last arrival and not with its sample
        counts = replace(counts, cycles=completion)
    rate = traffic.demand.rate if isinstance(traffic, OpenLoop) else counts.generated > 0
    closed = isinstance(traffic, ClosedLoop)
    sends = np.flatnonzero(rate)
    generated = counts.generated[sends] / max(counts.cycles, 1)
    arrived = counts.delivered[sends] * settings.packet_flits / max(counts.cycles, 1)
    starved = 0
    if not closed:
        offers = counts.generated >= FEW_STARVED * settings.packet_flits
        starved = int(np.count_nonzero(offers & (counts.delivered == 0)))
    if starved:
        text += f"; {starved} of {len(sends)} terminals starve: none of their packets arrived"
    is_valid = state in ("stationary", "finished")
    hops = int(counts.hops @ np.arange(len(counts.hops)))
    counted_seconds = simulation.cpu_seconds - run.began_seconds
    return LoadResult(
        settings=settings,
        load=traffic.load,
        seed=simulation.seed,
        state=state,
        text=text,
        warmup_cycles=run.began,
        cycles=counts.cycles,
        samples=len(samples) if samples else 0,
        senders=len(sends),
        offered=float(generated.mean()) if len(sends) else 0.0,
        accepted=_accepted_load(counts, len(sends), settings, samples),
        offered_by_terminal=Distribution.of(generated),
        accepted_by_terminal=Distribution.of(arrived),
        jain=jain_index(arrived / rate[sends]),
        worst=Worst.last_served(counts)
        if closed
        else Worst.least_served(sends, generated, arrived),
        starved=starved,
        latency=_latency(counts, settings, samples) if is_valid else None,
        network_latency=Latency.without_intervals(counts.network_latency) if is_valid else None,
        message_latency=Latency.without_intervals(counts.message_latency) if is_valid else None,
        in_order_latency=Latency.without_intervals(counts.in_order_latency)
        if is_valid and settings.in_order
        else None,
        hops_mean=hops / max(int(counts.hops.sum()), 1),
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
    """Estimate the accepted flits per cycle and sender."""
    share = 1 / max(senders, 1)
    if not samples:
        return Estimate(float(counts.ejected.sum()) / max(counts.cycles, 1) * share)
    total = samples.rate(settings.confidence)
    return Estimate(
        total.value * share,
        total.error * share,
        total.freedom,
        total.confidence,
        total.independent,
    )


def _latency(
    counts: Counts, settings: SimulationSettings, samples: Samples | None
) -> Latency | None:
    if not samples or not counts.latency.total:
        return Latency.without_intervals(counts.latency)
    confidence = settings.confidence
    p50, p95, p99 = (samples.quantile(q, counts.latency, confidence) for q in (0.5, 0.95, 0.99))
    return Latency(samples.mean_latency(confidence), p50, p95, p99, counts.latency.maximum)
