"""What a measurement found."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import Any, Literal

import numpy as np

from routelab.api.topology import Float64Array, Int64Array, Topology
from routelab.simulation.measuring.intervals import Estimate
from routelab.simulation.measuring.settings import SimulationSettings
from routelab.simulation.packet.counts import Counts, Histogram

State = Literal[
    "stationary",
    "saturated",
    "undecided",
    "deadlock",
    "livelock",
    "no-route",
    "finished",
    "unfinished",
]
"""How a run ended.

- ``stationary``: the network accepts what is offered; latencies mean something.
- ``saturated``: it accepts less than is offered, and the sources' backlog grows without end.
- ``undecided``: the cycles allowed did not suffice to tell which of the two it is.
- ``deadlock``, ``livelock``, ``no-route``: packets that can never go on; that go on without end;
  that the routing has no channel for.
- ``finished``, ``unfinished``: all messages arrived; not all within the cycles allowed.
"""


@dataclass(frozen=True)
class Spread:
    """How a number is distributed over terminals or channels; NaN where there are none."""

    mean: float
    minimum: float
    lower_quartile: float
    median: float
    upper_quartile: float
    maximum: float

    @classmethod
    def of(cls, values: Float64Array) -> Spread:
        """Of an array of any length."""
        if not values.size:
            return cls(*[float("nan")] * 6)
        return cls(float(values.mean()), *map(float, np.quantile(values, (0, 0.25, 0.5, 0.75, 1))))


@dataclass(frozen=True)
class Latency:
    """Latency of packets or messages, in cycles.

    Attributes
    ----------
    mean, p50, p95, p99 : Estimate
    maximum : int
    """

    mean: Estimate
    p50: Estimate
    p95: Estimate
    p99: Estimate
    maximum: int

    @classmethod
    def without_intervals(cls, counted: Histogram) -> Latency | None:
        """Of everything counted; None if that is nothing."""
        if not counted.total:
            return None
        p50, p95, p99 = (Estimate(counted.quantile(share)) for share in (0.5, 0.95, 0.99))
        return cls(Estimate(counted.mean), p50, p95, p99, counted.maximum)


@dataclass(frozen=True)
class Worst:
    """The terminal that is served worst.

    Attributes
    ----------
    terminal : int
        −1: nobody sent.
    share : float
        Part of what it offered that arrived; in a run with messages to be finished: cycle of its
        last arrival relative to the mean over terminals.
    """

    terminal: int
    share: float


@dataclass(frozen=True, eq=False)
class Measured:
    """One run: what was found, and all it took to find it.

    Loads are in flits per cycle and terminal that sends; packets count as accepted when their tail
    has arrived. Hops are switch to switch.

    Attributes
    ----------
    settings : SimulationSettings
    load : float
        Offered load that was asked for; 0 in a run with messages to be finished.
    seed : int
    state : State
    text : str
        The state for people, with what is missing of the precision asked for.
    warmup_cycles, cycles : int
        Until counting began; counted.
    samples : int
        Stretches that the intervals were made of.
    senders : int
        Terminals that send.
    offered : float
        Load generated while counting.
    accepted : Estimate
    offered_by_terminal, accepted_by_terminal : Spread
        Over terminals that send, each at its source.
    jain : float
        Jain's fairness index of what arrived of each terminal relative to its rate: 1 if all are
        served alike, 1 / senders if one has it all.
    worst : Worst
    latency : Latency or None
        Of packets, generation to the tail's arrival. None, like all others, unless the state is
        ``stationary`` or ``finished``.
    network_latency, message_latency, in_order_latency : Latency or None
        From injection; of messages, to their last tail; of packets, until all earlier ones of their
        message are there (None unless asked for). Without intervals.
    hops_mean : float
    hops : int64 array
        Packets by number of hops.
    escape_share : float
        Of all hops.
    utilisation : Spread
        Flits per cycle and capacity, over channels between switches.
    completion_cycles : int or None
        Until the last tail arrived; None unless ``finished``.
    flit_hops : int
        While counting.
    cpu_seconds : float
        Of this thread, warm-up included.
    flit_hops_per_cpu_second : float
        While counting.
    counts : Counts
        All that was counted, terminal by terminal and channel by channel.
    """

    settings: SimulationSettings
    load: float
    seed: int
    state: State
    text: str
    warmup_cycles: int
    cycles: int
    samples: int
    senders: int
    offered: float
    accepted: Estimate
    offered_by_terminal: Spread
    accepted_by_terminal: Spread
    jain: float
    worst: Worst
    latency: Latency | None
    network_latency: Latency | None
    message_latency: Latency | None
    in_order_latency: Latency | None
    hops_mean: float
    hops: Int64Array
    escape_share: float
    utilisation: Spread
    completion_cycles: int | None
    flit_hops: int
    cpu_seconds: float
    flit_hops_per_cpu_second: float
    counts: Counts

    @property
    def saturated(self) -> bool | None:
        """Whether it takes less than is offered; None: not known, or nothing was offered."""
        return {"saturated": True, "stationary": False}.get(self.state)

    def facts(self) -> dict[str, Any]:
        """Flat numbers and words, None for what is not known; ``_low``, ``_high``: intervals."""
        found: dict[str, Any] = {
            "load": self.load,
            "seed": self.seed,
            "state": self.state,
            "saturated": self.saturated,
            "text": self.text,
            "offered_load": self.offered,
        }
        found |= interval("accepted_load", self.accepted)
        for name, spread in (
            ("offered", self.offered_by_terminal),
            ("accepted", self.accepted_by_terminal),
        ):
            found |= {
                f"{name}_min": spread.minimum,
                f"{name}_q25": spread.lower_quartile,
                f"{name}_median": spread.median,
                f"{name}_q75": spread.upper_quartile,
                f"{name}_max": spread.maximum,
            }
        found |= {
            "jain": self.jain,
            "worst_terminal": self.worst.terminal if self.worst.terminal >= 0 else None,
            "worst_share": self.worst.share,
        }
        for name in _LATENCIES:
            found |= _latency(name, getattr(self, name))
        found |= {
            "hops_mean": self.hops_mean,
            "hops_max": int(np.flatnonzero(self.hops)[-1]) if self.hops.any() else None,
            "escape_share": self.escape_share,
            "utilisation_max": self.utilisation.maximum,
            "utilisation_mean": self.utilisation.mean,
            "utilisation_min": self.utilisation.minimum,
            "completion_cycles": self.completion_cycles,
            "warmup_cycles": self.warmup_cycles,
            "cycles": self.cycles,
            "samples": self.samples,
            "senders": self.senders,
            "flit_hops": self.flit_hops,
            "cpu_seconds": self.cpu_seconds,
            "flit_hops_per_cpu_s": self.flit_hops_per_cpu_second,
        }
        return {name: known(value) for name, value in found.items()}


def interval(name: str, estimate: Estimate | None) -> dict[str, float | None]:
    """Facts of an estimate: itself and the ends of its interval."""
    ends = (estimate.value, estimate.low, estimate.high) if estimate else (None, None, None)
    return dict(zip((name, f"{name}_low", f"{name}_high"), map(known, ends), strict=True))


def known(value: Any) -> Any:
    """None for NaN."""
    return None if isinstance(value, float) and isnan(value) else value


def _latency(name: str, latency: Latency | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in ("mean", "p50", "p95", "p99"):
        estimate = getattr(latency, part) if latency else None
        whole = interval(f"{name}_{part}", estimate)
        if name != "latency":
            whole = {f"{name}_{part}": whole[f"{name}_{part}"]}
        found |= whole
    return found | {f"{name}_max": latency.maximum if latency else None}


_LATENCIES = ("latency", "network_latency", "message_latency", "in_order_latency")

LATENCY_FACTS = tuple(fact for name in _LATENCIES for fact in _latency(name, None))
"""Names of all facts that a run has of latencies."""


def utilisation_of(flits: Int64Array, cycles: int, topology: Topology) -> Float64Array:
    """Share of what each channel can carry that flits took; the fastest carry one a cycle."""
    capacity = topology.channel_capacity
    share: Float64Array = flits * (capacity.max(initial=0.0) / capacity) / max(cycles, 1)
    return share


def jain_index(values: Float64Array) -> float:
    """Jain's fairness index, (Σx)² / (n Σx²); NaN if all are 0 or there are none.

    R. Jain, D. Chiu and W. Hawe, *A quantitative measure of fairness and discrimination for
    resource allocation in shared computer systems*, DEC-TR-301, 1984.
    """
    square = float((values**2).sum())
    return float(values.sum()) ** 2 / (len(values) * square) if square else float("nan")
