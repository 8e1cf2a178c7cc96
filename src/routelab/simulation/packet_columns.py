"""Columns of packet simulations: facts, and rows of loads, channels, terminals and latencies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from routelab.api.columns import Column, Pooling

CLOCK = ("cpu_seconds", "flit_hops_per_cpu_s")
"""Columns that depend on the speed of the machine."""

_RUN: Any = ("simulations", "loads")
_WHOLE: Any = ("simulations",)
_SEARCH = "find_saturation"
_RATE, _CYCLES = "flits per cycle", "cycles"
_SHOWN: Any = ("simulate",)


def _interval(name: str, meaning: str, heading: str = "", **more: Any) -> Iterator[Column]:
    """A column, and the ends of its confidence interval."""
    more = {"of": _RUN, **more}
    yield Column(name, meaning, heading, **more)
    rest = {key: value for key, value in more.items() if key not in ("shown", "better")}
    title = heading or name.replace("_", " ")
    for end, word in (("low", "Lower"), ("high", "Upper")):
        yield Column(
            f"{name}_{end}",
            f"{word} end of the confidence interval of `{name}`",
            f"{title}, {word.lower()} end",
            **rest,
        )


def _spread(name: str, what: str) -> Iterator[Column]:
    """How a rate is distributed over terminals."""
    for part, words, seeds in (
        ("min", "least", "min"),
        ("q25", "lower quartile of the", "mean"),
        ("median", "median of the", "mean"),
        ("q75", "upper quartile of the", "mean"),
        ("max", "greatest", "max"),
    ):
        pooling: Any = seeds
        yield Column(
            f"{name}_{part}",
            f"Over the terminals that send: {words} load that each of them {what}",
            unit=_RATE,
            seeds=pooling,
            of=_RUN,
        )


_QUANTILES = {"p50": "Median", "p95": "95 % quantile", "p99": "99 % quantile"}


def _latency() -> Iterator[Column]:
    meaning = (
        "latency of packets, from generation to the arrival of the tail. Missing where a load is "
        "saturated"
    )
    more: Any = {"unit": _CYCLES, "seeds": "all-mean"}
    better: Any = {**more, "better": "lower", "shown": _SHOWN}
    yield from _interval("latency_mean", f"Mean {meaning}", "mean latency", **better)
    yield from _interval("latency_p50", f"Median {meaning}", "median latency", **more, shown=_SHOWN)
    yield from _interval("latency_p95", f"95 % quantile of the {meaning}", "95 % latency", **more)
    yield from _interval("latency_p99", f"99 % quantile of the {meaning}", "99 % latency", **better)
    yield Column(
        "latency_max",
        f"Largest {meaning}",
        "largest latency",
        unit=_CYCLES,
        seeds="max",
        of=_RUN,
        shown=_SHOWN,
    )


def _other_latency(name: str, meaning: str, heading: str) -> Iterator[Column]:
    for part, words in {"mean": "Mean", **_QUANTILES}.items():
        yield Column(
            f"{name}_{part}",
            f"{words} of the {meaning}",
            f"{words[0].lower()}{words[1:]}, {heading}" if part != "mean" else f"mean {heading}",
            unit=_CYCLES,
            seeds="all-mean",
            of=_RUN,
        )
    yield Column(
        f"{name}_max",
        f"Largest {meaning}",
        f"largest {heading}",
        unit=_CYCLES,
        seeds="max",
        of=_RUN,
    )


MEASURED: tuple[Column, ...] = (
    Column(
        "load",
        "Offered load: flits that a terminal of rate 1 offers in a cycle; 0 in a run with messages "
        "to be finished",
        "offered load",
        of=("simulations", "loads", "channels", "terminals", "latencies"),
        shown=_SHOWN,
    ),
    Column(
        "state",
        "How the run ended: stationary, saturated, undecided, deadlock, livelock, no-route, "
        "finished or unfinished; of several seeds the gravest",
        of=_RUN,
        shown=_SHOWN,
    ),
    Column(
        "completion_cycles",
        "Cycle in which the last message arrived",
        "completion",
        _CYCLES,
        "lower",
        "max",
        of=_RUN,
        needs="messages",
        shown=_SHOWN,
    ),
    Column(
        "saturated",
        "Whether the network accepts less than is offered; missing where that is not known",
        of=_RUN,
    ),
    Column("text", "The state in words, with what is missing of the precision asked for", of=_RUN),
    Column(
        "offered_load",
        "Flits that were generated in a cycle, by terminal that sends",
        unit=_RATE,
        of=_RUN,
    ),
    *_interval(
        "accepted_load",
        "Flits that arrived in a cycle, by terminal that sends",
        unit=_RATE,
        better="higher",
        shown=_SHOWN,
    ),
    *_spread("offered", "offers"),
    *_spread("accepted", "has accepted"),
    Column(
        "jain",
        "Jain's fairness index of what arrived of each terminal relative to its rate: 1 if all are "
        "served alike, 1/n if one of n has it all",
        "Jain index",
        better="higher",
        of=_RUN,
    ),
    Column("worst_terminal", "Number of the terminal that is served worst", of=_RUN),
    *_latency(),
    *_other_latency(
        "network_latency",
        "latency of packets, from the cycle in which the terminal begins to send them",
        "latency in the network",
    ),
    *_other_latency(
        "message_latency",
        "latency of messages, to the arrival of the last tail",
        "latency of messages",
    ),
    *_other_latency(
        "in_order_latency",
        "latency of packets until all earlier ones of their message have arrived; with the "
        "setting `in_order`",
        "latency in order",
    ),
    *_interval(
        "hops_mean",
        "Mean number of channels between switches that packets crossed",
        "mean hops",
        shown=_SHOWN,
    ),
    Column("hops_max", "Largest number of channels that a packet crossed", seeds="max", of=_RUN),
    Column(
        "escape_share",
        "Part of the hops that the routing marks as escape",
        "hops on the escape",
        of=_RUN,
    ),
    Column(
        "utilisation_max",
        "Utilisation of the busiest channel between switches: flits in a cycle, relative to what "
        "the channel can carry",
        "maximum utilisation",
        better="lower",
        seeds="max",
        of=_RUN,
        shown=_SHOWN,
    ),
    Column(
        "utilisation_mean",
        "Mean utilisation of the channels between switches",
        "mean utilisation",
        of=_RUN,
    ),
    Column(
        "utilisation_min",
        "Utilisation of the least busy channel between switches",
        "minimum utilisation",
        seeds="min",
        of=_RUN,
    ),
    Column(
        "worst_share",
        "Part of its offered load that the worst-served terminal gets through; with `messages`, "
        "the time of the last terminal to finish, relative to the mean",
        "share of the worst-served terminal",
        better="higher",
        of=_RUN,
        shown=_SHOWN,
    ),
    Column(
        "warmup_cycles",
        "Cycles before counting began; where the warm-up ends is detected",
        unit=_CYCLES,
        seeds="sum",
        of=_RUN,
    ),
    Column("cycles", "Cycles that were counted", seeds="sum", of=_RUN, shown=_SHOWN),
    Column("samples", "Parts that the intervals were made of", seeds="sum", of=_RUN),
    Column("senders", "Terminals that send", of=_RUN),
    Column("flit_hops", "Flits times channels crossed, while counting", seeds="sum", of=_RUN),
    Column("cpu_seconds", "CPU time of the simulation", "CPU time", "s", seeds="sum", of=_RUN),
    Column(
        "flit_hops_per_cpu_s",
        "Speed of the simulation: flits times channels crossed in a second of one core",
        of=_RUN,
        shown=_SHOWN,
    ),
)
"""Columns of a load; the facts of a simulation are those of its highest load."""

FOUND: tuple[Column, ...] = (
    Column("convention", "What the traffic means on this network", of=_WHOLE),
    Column("worst_terminal_switch", "Switch of the terminal that is served worst", of=_WHOLE),
    Column(
        "deadlock",
        "Verdict of the deadlock checker on the routing in these routers: proven, not-proven or "
        "not-checked",
        of=_WHOLE,
    ),
    Column("deadlock_proof", "Kind of the proof", of=_WHOLE),
    Column("deadlock_reason", "The verdict in words", of=_WHOLE),
    Column(
        "deadlock_coverage",
        "States of a hop-by-hop algorithm that were examined; empty: all routes",
        of=_WHOLE,
    ),
    Column("deadlock_cycle", "Channels that wait for each other, one a line", of=_WHOLE),
    Column("flow_control", "Flow control of the routing: plain or bubble", of=_WHOLE),
    Column("virtual_channels", "Virtual channels that the routing needs", of=_WHOLE),
    Column("virtual_channels_used", "Virtual channels of the routers that it uses", of=_WHOLE),
    Column("virtual_channels_unused", "Virtual channels that are left over", of=_WHOLE),
    Column(
        "blocked",
        "Why packets could not go on, at the lowest load at which they could not; missing where "
        "they could",
        of=_WHOLE,
    ),
    Column(
        "saturation_load",
        "Largest offered load that the network sustains",
        "saturation load",
        _RATE,
        "higher",
        of=_WHOLE,
        needs=_SEARCH,
    ),
    Column(
        "saturation_bound",
        "Smallest load above it that was found to be too much",
        unit=_RATE,
        of=_WHOLE,
        needs=_SEARCH,
    ),
    *_interval(
        "saturation_accepted",
        "Load that was accepted at `saturation_load`",
        unit=_RATE,
        of=_WHOLE,
        needs=_SEARCH,
    ),
    *_interval(
        "throughput",
        "Largest load that was accepted at any offered load",
        unit=_RATE,
        better="higher",
        of=_WHOLE,
        needs=_SEARCH,
    ),
    Column(
        "throughput_at",
        "Offered load of `throughput`",
        unit=_RATE,
        of=_WHOLE,
        needs=_SEARCH,
    ),
    Column("saturation_text", "Result of the search in words", of=_WHOLE, needs=_SEARCH),
    Column("loads_tried", "Loads that the search tried", of=_WHOLE, needs=_SEARCH),
    Column(
        "terminal_throughput",
        "Mean over terminals of what each of them received in a cycle until its last message had "
        "arrived",
        "throughput, mean over terminals",
        _RATE,
        "higher",
        of=_WHOLE,
        needs="messages",
    ),
)
"""Facts of a whole simulation."""

CHANNELS: tuple[Column, ...] = (
    Column("channel", "Number of the channel", of=("channels",)),
    Column("source", "Switch that the channel leaves", of=("channels",)),
    Column("target", "Switch that the channel leads to", of=("channels",)),
    Column("direction", "Direction of the channel, in networks that have them", of=("channels",)),
    Column("flits", "Flits that crossed the channel", seeds="sum", of=("channels",)),
    Column(
        "utilisation", "Flits in a cycle, relative to what the channel can carry", of=("channels",)
    ),
)

TERMINALS: tuple[Column, ...] = (
    Column("terminal", "Number of the terminal", of=("terminals",)),
    Column("switch", "Switch of the terminal", of=("terminals",)),
    Column(
        "offered",
        "Flits in a cycle that the terminal offers; missing where the traffic gives it nothing to "
        "send",
        unit=_RATE,
        of=("terminals",),
    ),
    Column(
        "accepted",
        "Flits in a cycle of the terminal that arrived",
        unit=_RATE,
        better="higher",
        of=("terminals",),
    ),
    Column(
        "received",
        "Flits in a cycle that the terminal received; missing where nothing is sent to it",
        unit=_RATE,
        of=("terminals",),
    ),
    Column(
        "latency_mean",
        "Mean latency of the packets that the terminal sent; missing where the load is saturated",
        "mean latency",
        _CYCLES,
        "lower",
        of=("terminals",),
    ),
    Column(
        "latency_mean_received",
        "Mean latency of the packets that the terminal received",
        "mean latency of what it got",
        _CYCLES,
        "lower",
        of=("terminals",),
    ),
    Column(
        "finished_at",
        "Cycle in which the last packet arrived at the terminal",
        "last arrival",
        "cycle",
        "lower",
        "max",
        of=("terminals",),
        needs="messages",
    ),
    Column(
        "throughput",
        "Flits in a cycle that the terminal received until the last packet arrived",
        unit=_RATE,
        better="higher",
        of=("terminals",),
        needs="messages",
    ),
)

LATENCIES: tuple[Column, ...] = (
    Column(
        "latency",
        "Cycles from the generation of packets to the arrival of their tails",
        unit=_CYCLES,
        of=("latencies",),
    ),
    Column(
        "network_latency",
        "Cycles of packets from the beginning of their injection",
        "latency in the network",
        _CYCLES,
        of=("latencies",),
    ),
    Column(
        "message_latency",
        "Cycles of messages to the arrival of the last tail",
        "latency of messages",
        _CYCLES,
        of=("latencies",),
    ),
    Column(
        "in_order_latency",
        "Cycles of packets until all earlier ones of their message have arrived",
        "latency to delivery in order",
        _CYCLES,
        of=("latencies",),
    ),
    Column("count", "Packets or messages with this latency", seeds="sum", of=("latencies",)),
    Column("share", "Share of all that took no longer", of=("latencies",)),
)

COLUMNS = (*MEASURED, *FOUND, *CHANNELS, *TERMINALS, *LATENCIES)

POOLING: dict[str, Pooling] = {column.name: column.seeds for column in MEASURED}
"""How the facts of several seeds become one."""
