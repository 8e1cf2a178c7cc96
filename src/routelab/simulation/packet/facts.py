"""Facts of a packet simulation: of each load, and of the whole simulation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from typing import Any

import numpy as np

from routelab.api import Topology
from routelab.simulation.packet.measurement.intervals import Estimate
from routelab.simulation.packet.measurement.result import interval
from routelab.simulation.packet.measurement.saturation import Saturation
from routelab.simulation.packet.measurement.sweep import Point
from routelab.simulation.packet.router import Router

BLOCKED = ("deadlock", "livelock", "no-route")
"""States of blocked runs."""

WITHOUT_REMARK = ("stationary", "finished: all messages arrived")
"""Texts of loads that need no line of their own."""

MAX_FREEDOM = 1000
"""Largest number of degrees of freedom: with more, a t distribution is practically the same."""


STARVATION = (
    ". Under bubble flow control, a packet enters a ring only if there is room for two, which "
    "through traffic may never leave; with datelines, terminals do not starve for that"
)
"""Why terminals may starve under bubble flow control."""


def curve_row(point: Point, *, bubble: bool) -> dict[str, Any]:
    """Return all facts of a load, with an interval of the mean hops.

    `bubble` says whether the routing uses bubble flow control.
    """
    # The facts in the order of `Point.facts`. The mean of hops has no interval there: here it
    # becomes three facts, the mean and both ends of its interval.
    row: dict[str, Any] = {}
    for name, value in point.facts().items():
        row |= interval(name, _mean_hops(point)) if name == "hops_mean" else {name: value}
    # The text is that of one run, the gravest. If terminals starved in this run, add the reason.
    if bubble and any(run.starved for run in point.runs if run.text == row["text"]):
        row["text"] += STARVATION
    return row


def _mean_hops(point: Point) -> Estimate:
    """Estimate the mean number of hops; the hops of packets are taken as independent draws."""
    packets = point.hops
    num_packets = int(packets.sum())
    if not num_packets:
        return Estimate(float("nan"))
    hops = np.arange(len(packets))
    mean = float(packets @ hops) / num_packets
    variance = float(packets @ (hops - mean) ** 2) / max(num_packets - 1, 1)
    return Estimate(
        value=mean,
        error=sqrt(variance / num_packets),
        freedom=min(num_packets - 1, MAX_FREEDOM),
        confidence=point.runs[0].settings.confidence,
        independent=True,
    )


def highest_load_facts(
    points: Sequence[Point], topology: Topology, *, bubble: bool
) -> dict[str, Any]:
    """Return the facts of the highest load, which stand for the whole simulation."""
    row = curve_row(points[-1], bubble=bubble)
    # The facts of a simulation also have its settings `seed` and `seeds`, which stay as they are.
    row = {key: value for key, value in row.items() if key not in ("seed", "seeds")}
    terminal = row["worst_terminal"]
    is_known = terminal is not None
    switch = topology.switch_names[topology.terminal_switch[terminal]] if is_known else None
    name = topology.terminal_name(terminal) if is_known else None
    return {**row, "worst_terminal_switch": switch, "worst_terminal_name": name}


def blocked_at(curve: Iterable[Mapping[str, Any]]) -> str | None:
    """Return why packets were blocked, at the lowest load at which they were; None if never."""
    for row in curve:
        if row["state"] in BLOCKED:
            # load 0: messages to finish, which have no load
            return f"load {row['load']:g}: {row['text']}" if row["load"] else str(row["text"])
    return None


def saturation_facts(saturation: Saturation) -> dict[str, Any]:
    """Return the facts of the saturation search."""
    # a bound above 1 says that all loads are sustained, so that there is none
    bound = saturation.bound if saturation.bound <= 1 else None
    return {
        "saturation_load": saturation.load,
        "saturation_bound": bound,
        **interval("saturation_accepted", saturation.accepted),
        **interval("throughput", saturation.throughput),
        "throughput_at": saturation.throughput_at,
        "saturation_text": saturation.text,
        "loads_tried": len(saturation.points),
    }


def notes_of(
    router: Router, facts: Mapping[str, Any], curve: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Return the lines below the printed table: router, traffic, deadlock, remarks on loads."""
    used, unused = facts["virtual_channels_used"], facts["virtual_channels_unused"]
    # what the checker examined, and the channels of a cycle; often both are empty
    proof = [facts["deadlock_coverage"], *facts["deadlock_cycle"].splitlines()]
    lines = [
        f"router: {router.text}",
        f"traffic: {facts['convention']}",
        f"virtual channels: {used} used" + (f", {unused} unused" if unused else ""),
        f"deadlock: {facts['deadlock']}: {facts['deadlock_reason']}",
        *(f"    {line}" for line in proof if line),
    ]
    if "saturation_text" in facts:
        lines.append(f"saturation: {facts['saturation_text']}")
    for row in curve:
        if row["text"] not in WITHOUT_REMARK:
            text = str(row["text"])
            lines.append(f"load {row['load']:g}: {text}" if row["load"] else text)
    return lines
