"""Measure a simulation: wait until it is stationary, then count until the numbers are sure.

No setting is a guess of a length: where warm-up ends is detected, and a run goes on until its
intervals are as narrow as asked for. A network that cannot take what is offered is told by its
growing backlog, never by a latency.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Protocol

import numpy as np

from routelab.api.topology import Float64Array, Topology
from routelab.api.traffic import Demand
from routelab.simulation.measuring.intervals import LEAST_GROUPS, Estimate
from routelab.simulation.measuring.result import (
    Latency,
    Measured,
    Spread,
    State,
    Worst,
    jain_index,
    utilisation_of,
)
from routelab.simulation.measuring.samples import CERTAIN, MOST, Samples
from routelab.simulation.measuring.settings import (
    MEASURED_SAMPLES,
    WARMUP_SAMPLES,
    SimulationSettings,
)
from routelab.simulation.measuring.warmup import truncation
from routelab.simulation.packet.counts import Blocked, Counts, Sample

LEAST_PACKETS = 1000
"""Fewest packets that latencies are told of: ten beyond the 99th percentile."""

FEW_PACKETS = 50
"""Fewest that have to arrive before a warm-up may be over, or before a run is judged early."""

TRANSITS = 4
"""A run is judged early only after as many times what packets spend in the network: long links and
deep buffers let traffic come in waves of that length."""


class Simulated(Protocol):
    """What a measurement calls; `Simulation` is one."""

    @property
    def topology(self) -> Topology:
        """The network."""

    @property
    def demand(self) -> Demand | None:
        """What is offered; None where messages are to be finished."""

    @property
    def load(self) -> float:
        """Flits a cycle that a terminal of rate 1 offers."""

    @property
    def seed(self) -> int:
        """Of everything drawn at random."""

    @property
    def finished(self) -> bool:
        """Whether all messages arrived."""

    def run(self, cycles: int) -> Sample:
        """Go on for some cycles."""

    def reset(self) -> None:
        """Forget what was counted, keep the packets."""

    def counts(self) -> Counts:
        """What was counted since the last reset."""

    def blocked(self) -> Blocked | None:
        """Why it cannot go on."""


class _Run:
    """A simulation and what its cycles cost."""

    def __init__(self, simulation: Simulated) -> None:
        self.simulation = simulation
        self.cycles = 0
        self.flit_hops = 0
        self.seconds = 0.0
        self.waiting = 0
        self.blocked: Blocked | None = None
        self.began = 0
        self.began_seconds = 0.0

    def go(self, cycles: int) -> Sample:
        began = time.thread_time()
        sample = self.simulation.run(cycles)
        self.seconds += time.thread_time() - began
        self.cycles += sample.cycles
        self.flit_hops += sample.flit_hops
        self.waiting = sample.packets_waiting
        if sample.packets_in_network and not sample.ejected_flits:
            self.look()
        return sample

    def look(self) -> bool:
        """Whether it cannot go on. That costs as much as many cycles, so it is not asked often."""
        self.blocked = self.blocked or self.simulation.blocked()
        return self.blocked is not None

    def begin(self, settings: SimulationSettings) -> Samples:
        """Begin to count; what was counted is forgotten."""
        self.simulation.reset()
        self.flit_hops = 0
        self.began, self.began_seconds = self.cycles, self.seconds
        samples = Samples(settings.sample_cycles, MOST)
        samples.begin(self.waiting)
        return samples


def measure(simulation: Simulated, settings: SimulationSettings) -> Measured:
    """Measure a fresh simulation at its offered load, or until its messages have arrived.

    Parameters
    ----------
    simulation : Simulated
        Made with these settings; it is used up.
    settings : SimulationSettings

    Returns
    -------
    Measured
        A deadlock, a livelock, saturation and too few cycles are states of it, not errors.
    """
    run = _Run(simulation)
    if simulation.demand is None:
        return _finish(run, settings)
    warm = _warm_up(run, settings)
    if run.blocked:
        return _measured(run, settings, _verdict(run.blocked))
    outcome = None
    while outcome is None:
        samples = run.begin(settings)
        outcome = _count(run, settings, samples, warm)
    return _measured(run, settings, outcome, samples)


def _warm_up(run: _Run, settings: SimulationSettings) -> bool:
    """Run until all is stationary, or what arrives is and the sources surely never will be.

    In a saturated network the number of packets within it drifts long after what arrives is
    steady; so that is not waited for, but twice as many samples are.

    Returns
    -------
    bool
        False: half of the cycles allowed were not enough.
    """
    samples = Samples(settings.sample_cycles)
    look = WARMUP_SAMPLES
    while run.cycles + settings.sample_cycles <= settings.max_cycles // 2:
        samples.add(run.go(settings.sample_cycles))
        if run.blocked:
            break
        count = len(samples)
        if count < look or run.cycles < settings.warmup_cycles:
            continue
        if run.look():
            break
        look = count + max(count // 4, 1)
        throughput = truncation(samples.arrived)
        if throughput is None or samples.packets[throughput:].sum() < FEW_PACKETS:
            continue
        rest = (samples.in_network, samples.latency, samples.waiting)
        overloaded = count >= 2 * WARMUP_SAMPLES and samples.growing(count // 2)
        if overloaded or truncation(*rest) is not None:
            return True
    return False


def _count(
    run: _Run, settings: SimulationSettings, samples: Samples, warm: bool
) -> tuple[State, str] | None:
    """Count until the numbers are sure: the state and its text; None: it is not warm after all."""
    while run.cycles + samples.cycles <= settings.max_cycles:
        sample = run.go(samples.cycles)
        samples.add(sample, run.simulation.counts().latency.bins)
        count = len(samples)
        if run.blocked or (count % LEAST_GROUPS == 0 and run.look()):
            break
        if not warm or count < MEASURED_SAMPLES or count % LEAST_GROUPS:
            continue
        if run.cycles <= settings.max_cycles // 2 and samples.still_warming():
            return None
        if not _has_lasted(run, samples):
            continue
        if samples.rate(settings.confidence).within(settings.precision):
            if reason := _overload(run, settings, samples):
                return "saturated", f"saturated: {reason}"
            if _sure(samples, settings):
                return "stationary", "stationary"
    if run.look():
        return _verdict(run.blocked)
    return _undecided(run, settings, samples, warm)


def _has_lasted(run: _Run, samples: Samples) -> bool:
    """Whether what was counted is no mere moment between two waves of packets."""
    packets = samples.packets.sum()
    network = run.simulation.counts().network_latency
    transit = network.sum / max(network.total, 1)
    return bool(packets >= FEW_PACKETS and run.cycles - run.began >= TRANSITS * transit)


def _overload(run: _Run, settings: SimulationSettings, samples: Samples) -> str:
    """Why it surely is saturated; empty if it is not, or not surely."""
    if samples.growing():
        return "less arrives than is offered, the backlog grows"
    demand = run.simulation.demand
    if settings.injection_queue and demand is not None:
        # terminals that stall keep no backlog: what they do not even generate tells
        offered = run.simulation.load * float(demand.rate.sum())
        if samples.rate(CERTAIN).high < (1 - settings.precision) * offered:
            return f"terminals stall, more than precision={settings.precision} of the load is lost"
    return ""


def _sure(samples: Samples, settings: SimulationSettings) -> bool:
    """Whether the mean latency is known well enough."""
    latency = samples.mean_latency(settings.confidence)
    return samples.packets.sum() >= LEAST_PACKETS and latency.within(settings.precision)


def _undecided(
    run: _Run, settings: SimulationSettings, samples: Samples, warm: bool
) -> tuple[State, str]:
    """What to say of a run whose cycles did not suffice."""
    short = f"after max_cycles={settings.max_cycles}"
    if not samples.packets.any() and run.flit_hops:
        text = f"undecided: packets move and none arrives {short}: does the routing go in circles?"
        return "undecided", text
    if reason := _overload(run, settings, samples):
        rest = (
            f"intervals are wider than precision={settings.precision}"
            if warm
            else "what it accepts was not stationary yet"
        )
        return "saturated", f"saturated: {reason}; {rest} {short}"
    settled = truncation(samples.latency, samples.waiting) is not None
    if warm and settled and samples.mean_latency(settings.confidence).independent:
        return "stationary", (
            f"stationary, but intervals are wider than precision={settings.precision} {short}"
        )
    return "undecided", f"undecided: neither stationary nor surely saturated {short}"


def _verdict(blocked: Blocked | None) -> tuple[State, str]:
    assert blocked is not None
    return blocked.kind, f"{blocked.kind}: {blocked.text}"


def _finish(run: _Run, settings: SimulationSettings) -> Measured:
    """Run until all messages have arrived."""
    while not run.simulation.finished and not run.blocked:
        left = settings.finish_within - run.cycles
        if left <= 0:
            break
        run.go(min(settings.sample_cycles, left))
    if not run.simulation.finished and run.look():
        outcome = _verdict(run.blocked)
    elif run.simulation.finished:
        outcome = "finished", "finished: all messages arrived"
    else:
        short = f"finish_within={settings.finish_within}"
        outcome = "unfinished", f"unfinished: not all messages arrived within {short}"
    return _measured(run, settings, outcome)


def _measured(
    run: _Run,
    settings: SimulationSettings,
    outcome: tuple[State, str],
    samples: Samples | None = None,
) -> Measured:
    simulation, counts = run.simulation, run.simulation.counts()
    state, text = outcome
    completion = int(counts.finished_at.max()) if state == "finished" else None
    if completion is not None:
        # rates end with the last arrival and not with the sample that it is in
        counts = replace(counts, cycles=completion)
    rate = counts.generated > 0 if simulation.demand is None else simulation.demand.rate
    sends = np.flatnonzero(rate)
    generated = counts.generated[sends] / max(counts.cycles, 1)
    arrived = counts.delivered[sends] * settings.packet_flits / max(counts.cycles, 1)
    closed = simulation.demand is None
    told = state in ("stationary", "finished")
    hops = int(counts.hops @ np.arange(len(counts.hops)))
    counted_seconds = run.seconds - run.began_seconds
    return Measured(
        settings=settings,
        load=0.0 if closed else simulation.load,
        seed=simulation.seed,
        state=state,
        text=text,
        warmup_cycles=run.began,
        cycles=counts.cycles,
        samples=len(samples) if samples else 0,
        senders=len(sends),
        offered=float(generated.mean()) if len(sends) else 0.0,
        accepted=_accepted(counts, len(sends), settings, samples),
        offered_by_terminal=Spread.of(generated),
        accepted_by_terminal=Spread.of(arrived),
        jain=jain_index(arrived / rate[sends]),
        worst=_slowest(counts) if closed else _worst(sends, generated, arrived),
        latency=_latency(counts, settings, samples) if told else None,
        network_latency=Latency.without_intervals(counts.network_latency) if told else None,
        message_latency=Latency.without_intervals(counts.message_latency) if told else None,
        in_order_latency=Latency.without_intervals(counts.in_order_latency)
        if told and settings.in_order
        else None,
        hops_mean=hops / max(int(counts.hops.sum()), 1),
        hops=counts.hops,
        escape_share=counts.escape_hops / max(counts.packet_hops, 1),
        utilisation=Spread.of(
            utilisation_of(counts.channel_flits, counts.cycles, simulation.topology)
        ),
        completion_cycles=completion,
        flit_hops=run.flit_hops,
        cpu_seconds=run.seconds,
        flit_hops_per_cpu_second=run.flit_hops / counted_seconds if counted_seconds else 0.0,
        counts=counts,
    )


def _accepted(
    counts: Counts, senders: int, settings: SimulationSettings, samples: Samples | None
) -> Estimate:
    """Flits per cycle and sender."""
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


def _worst(sends: np.ndarray, generated: Float64Array, arrived: Float64Array) -> Worst:
    """The sender of which the least part arrives."""
    offers = generated > 0
    if not offers.any():
        return Worst(-1, float("nan"))
    share = arrived[offers] / generated[offers]
    place = int(share.argmin())
    return Worst(int(sends[offers][place]), float(share[place]))


def _slowest(counts: Counts) -> Worst:
    """The terminal that got its last flit latest."""
    ends = counts.finished_at
    mean = float(ends[ends >= 0].mean()) if (ends >= 0).any() else 0.0
    return Worst(int(ends.argmax()), float(ends.max()) / mean) if mean else Worst(-1, float("nan"))
