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
        "Time at which the last rank ends",
        "completion time",
        "s",
        "lower",
        of=_FLOWS,
        shown=_SHOWN,
    ),
    Column(
        "timed_s",
        "Longest time that a rank spends in the timed part of the program",
        "timed part",
        "s",
        "lower",
        of=_FLOWS,
        shown=_SHOWN,
    ),
    Column(
        "mops",
        "Million operations in a second of the timed part, in the benchmark's own count",
        "Mop/s",
        better="higher",
        of=_FLOWS,
        shown=_SHOWN,
    ),
    Column("operations", "Operations of the timed part, in the benchmark's own count", of=_FLOWS),
    Column(
        "bottleneck_channel",
        "Channel that needs longest for its bytes",
        of=_FLOWS,
        shown=_SHOWN,
    ),
    Column(
        "bottleneck_share",
        "Part of the timed seconds that the bottleneck needs for its bytes; at 1 only the largest "
        "load counts",
        better="lower",
        of=_FLOWS,
        shown=_SHOWN,
    ),
    Column("bottleneck_bytes", "Most bytes that crossed a channel", unit="bytes", of=_FLOWS),
    Column("messages", "Messages of the timed part", of=_FLOWS, shown=_SHOWN),
    Column("bytes", "Bytes of all messages of the timed part", of=_FLOWS, shown=_SHOWN),
    Column("network_bytes", "Bytes that entered the network", of=_FLOWS, shown=_SHOWN),
    Column("memory_bytes", "Bytes between ranks of one terminal", of=_FLOWS, shown=_SHOWN),
    Column("ranks", "Ranks of the job", of=_FLOWS, shown=_SHOWN),
    Column("terminals_used", "Terminals that have ranks", of=_FLOWS, shown=_SHOWN),
    Column(
        "iterations_simulated",
        "Rounds of the outermost timed loop that were simulated; the others are extrapolated",
        of=_FLOWS,
        shown=_SHOWN,
    ),
    Column("iterations_of", "Rounds of the outermost timed loop", of=_FLOWS, shown=_SHOWN),
    Column("convention", "What the workload does, in words", of=_FLOWS),
    Column("engine_seconds", "Wall time of the engine", "engine time", "s", of=_FLOWS),
)

CHANNELS: tuple[Column, ...] = (
    Column("channel", "Number of the channel", of=("flow-channels",)),
    Column("source", "Switch that the channel leaves", of=("flow-channels",)),
    Column("target", "Switch that the channel leads to", of=("flow-channels",)),
    Column(
        "direction", "Direction of the channel, in networks that have them", of=("flow-channels",)
    ),
    Column("bytes", "Bytes that crossed the channel in the timed part", of=("flow-channels",)),
    Column(
        "seconds",
        "Time that the channel needs for its bytes, at its bandwidth",
        unit="s",
        of=("flow-channels",),
    ),
    Column("share", "Part of the timed seconds that the channel needs", of=("flow-channels",)),
)

RANKS: tuple[Column, ...] = (
    Column("rank", "Number of the rank", of=("flow-ranks",)),
    Column("terminal", "Terminal that the rank runs on", of=("flow-ranks",)),
    Column("switch", "Switch of the terminal", of=("flow-ranks",)),
    Column("begin", "Time at which the rank comes to the timed part", unit="s", of=("flow-ranks",)),
    Column("end", "Time at which the rank leaves the timed part", unit="s", of=("flow-ranks",)),
    Column("finish", "Time at which the rank ends", unit="s", of=("flow-ranks",)),
    Column(
        "timed_s",
        "Time that the rank spends in the timed part",
        "timed part",
        "s",
        "lower",
        of=("flow-ranks",),
    ),
)

COLUMNS = (*FACTS, *CHANNELS, *RANKS)
