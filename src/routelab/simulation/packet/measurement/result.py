"""Results of a measurement."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import Any, Literal

import numpy as np

from routelab.api.topology import Float64Array, Int64Array, Topology
from routelab.simulation.packet.counts import Counts, Histogram
from routelab.simulation.packet.measurement.intervals import Estimate
from routelab.simulation.packet.measurement.settings import SimulationSettings

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

- ``stationary``: the network accepts the offered load; latencies are valid.
- ``saturated``: it accepts less than the offered load: the sources' backlog grows without end, or
full source queues (`injection_queue`) stall terminals.
- ``undecided``: the allowed cycles did not suffice to decide between these two.
- ``deadlock``, ``livelock``, ``no-route``: packets that can never move again; that move without
end; that have no channel from the routing.
- ``finished``, ``unfinished``: all messages arrived; not all within the allowed cycles.
"""


FEW_STARVED = 10
"""Generated packets from which on a terminal without an accepted one counts as starved."""


@dataclass(frozen=True)
class Distribution:
    """Distribution of a number over terminals or channels; NaN without any."""

    mean: float
    minimum: float
    lower_quartile: float
    median: float
    upper_quartile: float
    maximum: float

    @classmethod
    def of(cls, values: Float64Array) -> Distribution:
        """Return the distribution of an array of any length."""
        if not values.size:
            return cls(*[float("nan")] * 6)
        return cls(float(values.mean()), *map(float, np.quantile(values, (0, 0.25, 0.5, 0.75, 1))))

    def facts(self, name: str) -> dict[str, float]:
        """Return the smallest and largest number and the quartiles as flat facts."""
        return {
            f"{name}_min": self.minimum,
            f"{name}_q25": self.lower_quartile,
            f"{name}_median": self.median,
            f"{name}_q75": self.upper_quartile,
            f"{name}_max": self.maximum,
        }


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
        """Return the latencies of a histogram; None if it is empty."""
        if not counted.total:
            return None
        p50, p95, p99 = (Estimate(counted.quantile(share)) for share in (0.5, 0.95, 0.99))
        return cls(Estimate(counted.mean), p50, p95, p99, counted.maximum)


@dataclass(frozen=True)
class Worst:
    """The terminal with the worst service, by arrivals or, if messages are to finish, by time.

    Attributes
    ----------
    terminal : int
        −1: no terminal sent; in a run with messages to finish: nothing arrived.
    share : float
        Share of its offered flits that arrived. In a run with messages to finish it is no share:
        the cycle of its last arrival, the latest of all, divided by the mean over the terminals at
        which something arrived; so at least 1.
    """

    terminal: int
    share: float

    def facts(self) -> dict[str, Any]:
        """Return the terminal, None without one, and the share as columns of a load."""
        return {
            "worst_terminal": self.terminal if self.terminal >= 0 else None,
            "worst_share": self.share,
        }

    @classmethod
    def least_served(
        cls, senders: Int64Array, generated: Float64Array, arrived: Float64Array
    ) -> Worst:
        """Return the terminal of which the smallest share of the generated flits arrives.

        `senders` are the terminals that send; `generated` and `arrived` are their flits per cycle.
        """
        has_generated = generated > 0
        if not has_generated.any():
            return cls(terminal=-1, share=float("nan"))
        share = arrived[has_generated] / generated[has_generated]
        worst = int(share.argmin())
        return cls(terminal=int(senders[has_generated][worst]), share=float(share[worst]))

    @classmethod
    def last_served(cls, counts: Counts) -> Worst:
        """Return the terminal whose last arrival is the latest."""
        last_arrival = counts.finished_at  # −1: nothing arrived
        has_arrivals = last_arrival >= 0
        mean = float(last_arrival[has_arrivals].mean()) if has_arrivals.any() else 0.0
        if not mean:  # nothing arrived after cycle 0, so there is no last terminal
            return cls(terminal=-1, share=float("nan"))
        return cls(terminal=int(last_arrival.argmax()), share=float(last_arrival.max()) / mean)


@dataclass(frozen=True, eq=False)
class LoadResult:
    """Result of one run at one load.

    Loads are in flits per cycle and terminal that sends; packets count as accepted when their tail
    has arrived. Hops are switch to switch.

    Attributes
    ----------
    settings : SimulationSettings
    load : float
        Requested offered load; 0 in a run with messages to finish.
    seed : int
    state : State
    text : str
        The state in words, with its reason and any shortfall in the requested precision.
    warmup_cycles, cycles : int
        Cycles before counting, and of counting.
    samples : int
        Number of samples for the intervals.
    senders : int
        Number of terminals that send.
    offered : float
        Generated load during counting.
    accepted : Estimate
        Accepted load.
    offered_by_terminal, accepted_by_terminal : Distribution
        Over terminals that send, by source.
    jain : float
        Jain's fairness index of each terminal's arrivals relative to its rate: 1 for equal service,
        1 / senders if only one is served.
    worst : Worst
        Terminal with the worst service.
    starved : int
        Terminals with none of at least `FEW_STARVED` generated packets accepted.
    latency : Latency or None
        Latency of packets from generation to the tail's arrival. None, like the other latencies,
        unless the state is ``stationary`` or ``finished``.
    network_latency, message_latency, in_order_latency : Latency or None
        Latency from injection; of messages, to their last tail; of packets, until all earlier ones
        of their message have arrived (None unless requested). Without intervals.
    hops_mean : float
        Mean number of hops of the packets that arrived.
    hops : int64 array
        Packets by number of hops.
    escape_share : float
        Hops on escapes (candidates that the routing marks so), as a share of all hops.
    utilisation : Distribution
        Flits per cycle and capacity, over channels between switches.
    completion_cycles : int or None
        Cycles until the last tail arrived; None unless ``finished``.
    flit_hops : int
        Flit hops during counting.
    cpu_seconds : float
        CPU time of this thread, including warm-up.
    flit_hops_per_cpu_second : float
        Speed during counting.
    counts : Counts
        All counts, by terminal and by channel.
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
    offered_by_terminal: Distribution
    accepted_by_terminal: Distribution
    jain: float
    worst: Worst
    starved: int
    latency: Latency | None
    network_latency: Latency | None
    message_latency: Latency | None
    in_order_latency: Latency | None
    hops_mean: float
    hops: Int64Array
    escape_share: float
    utilisation: Distribution
    completion_cycles: int | None
    flit_hops: int
    cpu_seconds: float
    flit_hops_per_cpu_second: float
    counts: Counts

    @property
    def saturated(self) -> bool | None:
        """Whether the network accepts less than the offered load; None: unknown, or no load."""
        return {"saturated": True, "stationary": False}.get(self.state)

    def facts(self) -> dict[str, Any]:
        """Return the result as columns of a load, without nesting; None if unknown.

        Columns that end in ``_low`` and ``_high`` are ends of intervals.
        """
        # All columns of latencies, also without a latency: rows of all loads have the same columns.
        latencies: dict[str, Any] = {}
        for name in _LATENCIES:
            latencies |= _latency_facts(name, getattr(self, name))
        values: dict[str, Any] = {
            "load": self.load,
            "seed": self.seed,
            "seeds": 1,
            "state": self.state,
            "saturated": self.saturated,
            "text": self.text,
            "offered_load": self.offered,
            **interval("accepted_load", self.accepted),
            **self.offered_by_terminal.facts("offered"),
            **self.accepted_by_terminal.facts("accepted"),
            "jain": self.jain,
            **self.worst.facts(),
            "starved_terminals": self.starved,
            **latencies,
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
        return {name: none_for_nan(value) for name, value in values.items()}


def interval(name: str, estimate: Estimate | None) -> dict[str, float | None]:
    """Return the facts of an estimate: its value and the ends of its interval."""
    ends = (estimate.value, estimate.low, estimate.high) if estimate else (None, None, None)
    return dict(zip((name, f"{name}_low", f"{name}_high"), map(none_for_nan, ends), strict=True))


def none_for_nan(value: Any) -> Any:
    """Return None for NaN, other values unchanged."""
    return None if isinstance(value, float) and isnan(value) else value


def _latency_facts(name: str, latency: Latency | None) -> dict[str, Any]:
    """Return the facts of a latency, all None without one; only ``latency`` has intervals."""
    facts: dict[str, Any] = {}
    for part in ("mean", "p50", "p95", "p99"):
        column = f"{name}_{part}"
        value_and_ends = interval(column, getattr(latency, part) if latency else None)
        if name == "latency":
            facts |= value_and_ends
        else:
            facts[column] = value_and_ends[column]
    return facts | {f"{name}_max": latency.maximum if latency else None}


_LATENCIES = ("latency", "network_latency", "message_latency", "in_order_latency")

LATENCY_FACTS = tuple(fact for name in _LATENCIES for fact in _latency_facts(name, None))
"""Names of all facts about latencies."""


def utilisation_of(flits: Int64Array, cycles: int, topology: Topology) -> Float64Array:
    """Return the used share of each channel's bandwidth; the fastest carry one flit per cycle."""
    capacity = topology.channel_capacity
    share: Float64Array = flits * (capacity.max(initial=0.0) / capacity) / max(cycles, 1)
    return share


def jain_index(values: Float64Array) -> float:
    """Return Jain's fairness index, (Σx)² / (n Σx²); NaN for zeros only or an empty array.

    R. Jain, D. Chiu and W. Hawe, *A quantitative measure of fairness and discrimination for
    resource allocation in shared computer systems*, DEC-TR-301, 1984.
    """
    square = float((values**2).sum())
    return float(values.sum()) ** 2 / (len(values) * square) if square else float("nan")
