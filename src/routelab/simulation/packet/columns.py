"""Columns of packet simulations: facts, and rows of loads, channels, terminals and latencies."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from routelab.api.columns import Column, Pooling

CLOCK = ("cpu_seconds", "flit_hops_per_cpu_s")
"""Columns that depend on the speed of the machine."""

_RUN: Any = ("simulations", "loads")
_WHOLE: Any = ("simulations",)
_SEARCH = "find_saturation"
_RATE, _CYCLES = "flits per cycle", "cycles"
_SHOWN: Any = ("simulate",)

# Columns by the rows that have them: loads and simulations, simulations only, channels, …
_load = partial(Column, of=_RUN)
_fact = partial(Column, of=_WHOLE)
_channel = partial(Column, of=("channels",))
_terminal = partial(Column, of=("terminals",))
_latency_row = partial(Column, of=("latencies",))


def _interval(name: str, meaning: str, heading: str = "", **options: Any) -> Iterator[Column]:
    """Yield a column and the ends of its confidence interval; `options` are those of `Column`.

    Only the column itself is shown in tables and compared (`shown`, `better`).
    """
    options = {"of": _RUN, **options}
    yield Column(name, meaning, heading, **options)
    end_options = {key: value for key, value in options.items() if key not in ("shown", "better")}
    title = heading or name.replace("_", " ")
    for end, word in (("low", "lower"), ("high", "upper")):
        yield Column(
            f"{name}_{end}",
            f"{word} end of the confidence interval of `{name}`",
            f"{title}, {word} confidence limit",
            **end_options,
        )


def _distribution(prefix: str, quantity: str) -> Iterator[Column]:
    """Yield columns of the distribution of a quantity over the terminals that send.

    They are ``{prefix}_min``, ``{prefix}_q25`` and so on.
    """
    # suffix of the name, words of the meaning, end of the heading, and how to combine several seeds
    statistics: tuple[tuple[str, str, str, Pooling], ...] = (
        ("min", "smallest", "minimum", "min"),
        ("q25", "lower quartile of the", "lower quartile", "mean"),
        ("median", "median of the", "median", "mean"),
        ("q75", "upper quartile of the", "upper quartile", "mean"),
        ("max", "largest", "maximum", "max"),
    )
    for suffix, words, title, pooling in statistics:
        yield _load(
            f"{prefix}_{suffix}",
            f"{words} {quantity} of a terminal, over all terminals that send",
            f"{quantity} of terminals, {title}",
            unit=_RATE,
            seeds=pooling,
        )


_QUANTILES = {"p50": "median", "p95": "95th-percentile", "p99": "99th-percentile"}


def _latency() -> Iterator[Column]:
    """Yield the columns of the latency of packets, the only latency with confidence intervals."""
    meaning = (
        "latency of packets, from generation to the arrival of the tail; missing at saturated loads"
    )
    # A load has a latency only if all its seeds have one ("all-mean"). Mean and 99th percentile are
    # compared between routings (`better`); all but the 95th percentile are shown in tables.
    options: Any = {"unit": _CYCLES, "seeds": "all-mean"}
    shown: Any = {**options, "shown": _SHOWN}
    compared: Any = {**shown, "better": "lower"}
    yield from _interval("latency_mean", f"mean {meaning}", "mean latency", **compared)
    yield from _interval("latency_p50", f"median {meaning}", "median latency", **shown)
    yield from _interval(
        "latency_p95", f"95 % quantile of the {meaning}", "95th-percentile latency", **options
    )
    yield from _interval(
        "latency_p99", f"99 % quantile of the {meaning}", "99th-percentile latency", **compared
    )
    yield _load(
        "latency_max",
        f"largest {meaning}",
        "maximum latency",
        unit=_CYCLES,
        seeds="max",
        shown=_SHOWN,
    )


def _other_latency(name: str, meaning: str, heading: str) -> Iterator[Column]:
    """Yield the columns of a latency without intervals: mean, quantiles and maximum."""
    for suffix, words in {"mean": "mean", **_QUANTILES}.items():
        yield _load(
            f"{name}_{suffix}",
            f"{words} {meaning}",
            f"{words} {heading}",
            unit=_CYCLES,
            seeds="all-mean",
        )
    yield _load(
        f"{name}_max", f"largest {meaning}", f"maximum {heading}", unit=_CYCLES, seeds="max"
    )


MEASURED: tuple[Column, ...] = (
    Column(
        "load",
        "offered load: flits per cycle that a terminal of rate 1 generates; 0 in runs with "
        "`messages`",
        "offered load",
        _RATE,
        of=("simulations", "loads", "channels", "terminals", "latencies"),
        shown=_SHOWN,
    ),
    _load(
        "state",
        "how the run ended: `stationary`, `saturated`, `undecided`, `deadlock`, `livelock`, "
        "`no-route`, `finished` or `unfinished`; with several seeds, the worst of them",
        shown=_SHOWN,
    ),
    _load(
        "completion_cycles",
        "cycle in which the last message arrived",
        "completion time",
        _CYCLES,
        "lower",
        "max",
        needs="messages",
        shown=_SHOWN,
    ),
    _load(
        "saturated",
        "whether the network accepts less than the offered load; missing if that is unknown",
    ),
    _load(
        "text",
        "the state in words, with any shortfall in the requested precision",
        "result in words",
    ),
    _load(
        "offered_load", "flits generated per cycle and sending terminal", "offered load", unit=_RATE
    ),
    *_interval(
        "accepted_load",
        "flits that arrived per cycle and sending terminal",
        "accepted load",
        unit=_RATE,
        better="higher",
        shown=_SHOWN,
    ),
    *_distribution("offered", "offered load"),
    *_distribution("accepted", "accepted load"),
    _load(
        "jain",
        "Jain's fairness index of the accepted loads of terminals, relative to their rates: 1 if "
        "all terminals are served equally, 1/n if only one of n is served",
        "Jain fairness index",
        better="higher",
    ),
    _load("worst_terminal", "number of the worst-served terminal", "worst-served terminal"),
    *_latency(),
    *_other_latency(
        "network_latency",
        "latency of packets, from the start of their injection to the arrival of the tail",
        "network latency",
    ),
    *_other_latency(
        "message_latency", "latency of messages, to the arrival of the last tail", "message latency"
    ),
    *_other_latency(
        "in_order_latency",
        "latency of packets until all earlier packets of their message have arrived; with the "
        "setting `in_order`",
        "in-order latency",
    ),
    *_interval(
        "hops_mean",
        "mean number of channels between switches that a packet crossed",
        "mean path length",
        unit="hops",
        shown=_SHOWN,
    ),
    _load(
        "hops_max",
        "largest number of channels between switches that a packet crossed",
        "maximum path length",
        "hops",
        seeds="max",
    ),
    _load("escape_share", "share of hops that the routing marks as escape", "share of escape hops"),
    _load(
        "utilisation_max",
        "utilisation of the busiest channel between switches: flits per cycle, as a share "
        "of what the channel can carry",
        "maximum channel utilisation",
        better="lower",
        seeds="max",
        shown=_SHOWN,
    ),
    _load(
        "utilisation_mean",
        "mean utilisation of the channels between switches",
        "mean channel utilisation",
    ),
    _load(
        "utilisation_min",
        "utilisation of the least busy channel between switches",
        "minimum channel utilisation",
        seeds="min",
    ),
    _load(
        "worst_share",
        "share of its offered load that the worst-served terminal gets accepted; with `messages`, "
        "the last arrival at the last terminal to finish, divided by the mean over terminals",
        "accepted share of the worst-served terminal",
        better="higher",
        shown=_SHOWN,
    ),
    _load(
        "starved_terminals",
        "terminals that generated at least 10 packets, of which none was accepted; with several "
        "seeds, the largest number",
        "starved terminals",
        better="lower",
        seeds="max",
    ),
    _load(
        "warmup_cycles",
        "cycles of the warm-up, whose end is detected; they are not counted",
        "warm-up",
        unit=_CYCLES,
        seeds="sum",
    ),
    _load(
        "cycles",
        "cycles that were counted, after the warm-up",
        "counted cycles",
        seeds="sum",
        shown=_SHOWN,
    ),
    _load("samples", "samples that the confidence intervals are computed from", seeds="sum"),
    _load("senders", "terminals that send", "sending terminals"),
    _load(
        "flit_hops",
        "flits times channels that they crossed, in the cycles that were counted",
        "flit hops",
        seeds="sum",
    ),
    _load("cpu_seconds", "CPU time of the simulation", "CPU time", "s", seeds="sum"),
    _load(
        "flit_hops_per_cpu_s",
        "speed of the simulation: flits times channels that they cross, per second of CPU time",
        "flit hops per CPU second",
        shown=_SHOWN,
    ),
)
"""Columns of a load; the facts of a simulation are those of its highest load."""

FOUND: tuple[Column, ...] = (
    _fact("convention", "description of the traffic on this network", "description of the traffic"),
    _fact(
        "worst_terminal_name",
        "name, or number, of the worst-served terminal",
        "worst-served terminal",
    ),
    _fact(
        "worst_terminal_switch",
        "switch of the worst-served terminal",
        "switch of the worst-served terminal",
    ),
    _fact(
        "deadlock",
        "verdict of the deadlock checker on the routing in these routers: `proven`, `proven if "
        "declared`, `cycle`, `broken` or `unproven`",
        "deadlock freedom",
    ),
    _fact(
        "deadlock_proof",
        "kind of the proof, such as `acyclic`, `bubble` or `duato`",
        "kind of deadlock proof",
    ),
    _fact("deadlock_reason", "reason of the verdict", "reason for the deadlock verdict"),
    _fact(
        "deadlock_coverage",
        "states of a hop-by-hop algorithm that were checked; empty for tables, whose routes are "
        "all checked",
        "states checked for deadlock",
    ),
    _fact(
        "deadlock_cycle",
        "channels that wait for each other in a cycle, one per line",
        "cycle of waiting channels",
    ),
    _fact("flow_control", "flow control of the routing: `plain` or `bubble`", "flow control"),
    _fact("virtual_channels", "virtual channels that the routing needs", "virtual channels"),
    _fact(
        "virtual_channels_used",
        "virtual channels of the routers that the routing uses",
        "used virtual channels",
    ),
    _fact(
        "virtual_channels_unused",
        "virtual channels of the routers that the routing leaves unused",
        "unused virtual channels",
    ),
    _fact(
        "blocked",
        "why packets were blocked, at the lowest load at which they were; missing if they were not",
    ),
    _fact(
        "saturation_load",
        "largest offered load that the network sustains",
        "saturation load",
        _RATE,
        "higher",
        needs=_SEARCH,
    ),
    _fact(
        "saturation_bound",
        "smallest load that the search found not to be sustained",
        "smallest load not sustained",
        unit=_RATE,
        needs=_SEARCH,
    ),
    *_interval(
        "saturation_accepted",
        "load accepted at `saturation_load`",
        "accepted load at saturation",
        unit=_RATE,
        of=_WHOLE,
        needs=_SEARCH,
    ),
    *_interval(
        "throughput",
        "largest load accepted at any offered load",
        unit=_RATE,
        better="higher",
        of=_WHOLE,
        needs=_SEARCH,
    ),
    _fact(
        "throughput_at",
        "offered load at which `throughput` was measured",
        "offered load of the throughput",
        unit=_RATE,
        needs=_SEARCH,
    ),
    _fact(
        "saturation_text",
        "result of the saturation search in words",
        "saturation search in words",
        needs=_SEARCH,
    ),
    _fact(
        "loads_tried",
        "number of loads that the saturation search tried",
        "loads tried",
        needs=_SEARCH,
    ),
    _fact(
        "terminal_throughput",
        "mean over terminals of the flits per cycle that each received until its last packet "
        "arrived",
        "mean throughput of terminals",
        _RATE,
        "higher",
        needs="messages",
    ),
)
"""Facts of a whole simulation."""

CHANNELS: tuple[Column, ...] = (
    _channel("channel", "number of the channel"),
    _channel("source", "switch that the channel leaves", "source switch"),
    _channel("target", "switch that the channel enters", "target switch"),
    _channel("direction", "direction label of the channel, in networks that have them"),
    _channel("flits", "flits that crossed the channel", seeds="sum"),
    _channel(
        "utilisation",
        "flits per cycle, as a share of what the channel can carry",
        "channel utilisation",
    ),
)

TERMINALS: tuple[Column, ...] = (
    _terminal("terminal", "number of the terminal"),
    _terminal("name", "name of the terminal, or its number"),
    _terminal("switch", "switch of the terminal"),
    _terminal(
        "offered",
        "flits per cycle that the terminal generates; missing if it has nothing to send",
        "offered load",
        unit=_RATE,
    ),
    _terminal(
        "accepted",
        "flits per cycle from the terminal that arrived; missing if it has nothing to send",
        "accepted load",
        unit=_RATE,
        better="higher",
    ),
    _terminal(
        "received",
        "flits per cycle that the terminal received; missing if nothing is sent to it",
        "received load",
        unit=_RATE,
    ),
    _terminal(
        "latency_mean",
        "mean latency of the packets that the terminal sent; missing at saturated loads",
        "mean latency",
        _CYCLES,
        "lower",
    ),
    _terminal(
        "latency_mean_received",
        "mean latency of the packets that the terminal received; missing at saturated loads",
        "mean latency of received packets",
        _CYCLES,
        "lower",
    ),
    _terminal(
        "finished_at",
        "cycle in which the last packet arrived at the terminal",
        "last arrival",
        "cycle",
        "lower",
        "max",
        needs="messages",
    ),
    _terminal(
        "throughput",
        "flits per cycle that the terminal received until its last packet arrived",
        unit=_RATE,
        better="higher",
        needs="messages",
    ),
)

LATENCIES: tuple[Column, ...] = (
    _latency_row(
        "latency", "latency of packets, from generation to the arrival of the tail", unit=_CYCLES
    ),
    _latency_row(
        "network_latency",
        "latency of packets, from the start of their injection to the arrival of the tail",
        "network latency",
        _CYCLES,
    ),
    _latency_row(
        "message_latency",
        "latency of messages, to the arrival of the last tail",
        "message latency",
        _CYCLES,
    ),
    _latency_row(
        "in_order_latency",
        "latency of packets until all earlier packets of their message have arrived",
        "in-order latency",
        _CYCLES,
    ),
    _latency_row("hops", "number of hops of packets", "path length", unit="hops"),
    _latency_row(
        "count", "number of packets or messages with this latency or number of hops", seeds="sum"
    ),
    _latency_row(
        "share",
        "share of packets or messages with at most this latency or number of hops",
        "cumulative share",
    ),
)

COLUMNS = (*MEASURED, *FOUND, *CHANNELS, *TERMINALS, *LATENCIES)

POOLING: dict[str, Pooling] = {column.name: column.seeds for column in MEASURED}
"""Combination of the values of several seeds, by column."""
