"""Columns of workload simulations: facts, and rows of channels and ranks."""

from __future__ import annotations

from typing import Any

from routelab.api.columns import Column

CLOCK = ("engine_seconds",)
"""Columns that depend on the speed of the machine."""

_FLOWS: Any = ("flows",)
_SHOWN: Any = ("simulate",)

FACTS: tuple[Column, ...] = (
    Column(
        "completion_time_s",
        "time at which the last rank ends",
        "completion time",
        "s",
        "lower",
        of=_FLOWS,
        shown=_SHOWN,
    ),
    Column(
        "timed_s",
        "longest time that a rank spends in the timed part of the program",
        "time of the timed part",
        "s",
        "lower",
        of=_FLOWS,
        shown=_SHOWN,
    ),
    Column(
        "mops",
        "million operations per second in the timed part, as the benchmark counts them",
        "Mop/s",
        better="higher",
        of=_FLOWS,
        shown=_SHOWN,
    ),
    Column("operations", "operations of the timed part, as the benchmark counts them", of=_FLOWS),
    Column(
        "bottleneck_channel",
        "channel that needs the longest time for its bytes",
        "busiest channel",
        of=_FLOWS,
        shown=_SHOWN,
    ),
    Column(
        "bottleneck_share",
        "share of the timed part that the bottleneck channel needs for its bytes; at 1, only the "
        "busiest channel limits the time",
        "busy share of the busiest channel",
        better="lower",
        of=_FLOWS,
        shown=_SHOWN,
    ),
    Column(
        "bottleneck_bytes",
        "largest number of bytes that crossed a channel",
        "bytes on the busiest channel",
        unit="bytes",
        of=_FLOWS,
    ),
    Column("messages", "messages of the timed part", of=_FLOWS, shown=_SHOWN),
    Column("bytes", "bytes of all messages of the timed part", of=_FLOWS, shown=_SHOWN),
    Column(
        "network_bytes",
        "bytes that entered the network",
        "bytes sent through the network",
        of=_FLOWS,
        shown=_SHOWN,
    ),
    Column(
        "memory_bytes",
        "bytes between ranks of the same terminal",
        "bytes sent within terminals",
        of=_FLOWS,
        shown=_SHOWN,
    ),
    Column("ranks", "ranks of the job", of=_FLOWS, shown=_SHOWN),
    Column(
        "terminals_used", "terminals that run ranks", "terminals in use", of=_FLOWS, shown=_SHOWN
    ),
    Column(
        "iterations_simulated",
        "simulated iterations of the outermost timed loop; the others are extrapolated",
        "simulated iterations",
        of=_FLOWS,
        shown=_SHOWN,
    ),
    Column(
        "iterations_of",
        "iterations of the outermost timed loop",
        "iterations in all",
        of=_FLOWS,
        shown=_SHOWN,
    ),
    Column("convention", "description of the workload", "description of the workload", of=_FLOWS),
    Column("engine_seconds", "wall time of the engine", "engine time", "s", of=_FLOWS),
)

CHANNELS: tuple[Column, ...] = (
    Column("channel", "number of the channel", of=("flow-channels",)),
    Column("source", "switch that the channel leaves", of=("flow-channels",)),
    Column("target", "switch that the channel enters", of=("flow-channels",)),
    Column(
        "direction",
        "direction label of the channel, in networks that have them",
        of=("flow-channels",),
    ),
    Column("bytes", "bytes that crossed the channel in the timed part", of=("flow-channels",)),
    Column(
        "seconds",
        "time that the channel needs for its bytes at full bandwidth",
        "busy time",
        unit="s",
        of=("flow-channels",),
    ),
    Column(
        "share",
        "share of the timed part that the channel needs for its bytes",
        "busy share of the channel",
        of=("flow-channels",),
    ),
)

RANKS: tuple[Column, ...] = (
    Column("rank", "number of the rank", of=("flow-ranks",)),
    Column("terminal", "number of the terminal that the rank runs on", of=("flow-ranks",)),
    Column("name", "name of the terminal, or its number", of=("flow-ranks",)),
    Column("switch", "switch of the terminal", of=("flow-ranks",)),
    Column("begin", "time at which the rank enters the timed part", unit="s", of=("flow-ranks",)),
    Column("end", "time at which the rank leaves the timed part", unit="s", of=("flow-ranks",)),
    Column("finish", "time at which the rank ends", unit="s", of=("flow-ranks",)),
    Column(
        "timed_s",
        "time that the rank spends in the timed part",
        "time of the timed part",
        "s",
        "lower",
        of=("flow-ranks",),
    ),
)

PAIRS: tuple[Column, ...] = (
    Column(
        "sender",
        "number of the terminal that sends; above 256 terminals, the first one of a block",
        "sending terminal",
        of=("flow-pairs",),
    ),
    Column(
        "receiver",
        "number of the terminal that receives; above 256 terminals, the first one of a block",
        "receiving terminal",
        of=("flow-pairs",),
    ),
    Column("block", "consecutive terminals that the numbers stand for", of=("flow-pairs",)),
    Column(
        "bytes",
        "bytes from the one to the other in the timed part, if there are any; without messages "
        "inside a terminal",
        of=("flow-pairs",),
    ),
)

COLUMNS = (*FACTS, *CHANNELS, *RANKS, *PAIRS)
