"""Diagnosis of packets without a route: the algorithm is called again, with checks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from routelab.api import needed_classes
from routelab.kernels import hops as of
from routelab.simulation.packet.counts import Blockage
from routelab.simulation.packet.engine import Simulation
from routelab.simulation.packet.kernels import layout as at

TRIES = 64
"""Number of calls of an algorithm, whose answers may be random."""


def why_blocked(simulation: Simulation) -> Blockage | None:
    """Return `Simulation.blocked`, with the cause if a packet has no route.

    The cause has the packet's switch and target, and what is wrong with the answer. It may have no
    candidate, or more than the program declares. It may name a channel that does not exist or
    leaves another switch, a nonexistent class of virtual channels, or a waypoint that hop may not
    set.
    """
    blocked = simulation.blocked()
    if blocked is None or blocked.kind != "no-route":
        return blocked
    packet = abs(int(simulation._engine.totals[at.LOST])) - 1
    places = _places(simulation, packet)
    causes = [cause for place in places if (cause := _cause(simulation, packet, place))]
    if causes:
        return replace(blocked, text=causes[0])
    if simulation.program.inject is None:
        return blocked
    text = f"{blocked.text}; check whether inject sets a WAYPOINT that is not a switch"
    return replace(blocked, text=text)


def _places(simulation: Simulation, packet: int) -> list[int]:
    """Return the queues with the packet at the front and no candidate for it."""
    queues = simulation._engine.queues
    held = (queues["count"] > 0) & (queues["choices"] == 0)
    found: list[int] = np.flatnonzero(held & (queues["packet"] == packet)).tolist()
    return found


def _cause(simulation: Simulation, packet: int, queue: int) -> str:
    """Describe the problem of the algorithm's answers there; empty if they are valid."""
    engine, topology = simulation._engine, simulation.topology
    port, lane = divmod(queue, simulation.router.vcs)
    row = engine.inputs[port]
    states = engine.states.copy()
    mine = states[packet]
    switch, phase = int(row["switch"]), int(mine[of.PHASE])
    if switch == mine[of.TARGET]:
        # the packet was not examined yet: the engine does not call hop there
        return ""
    channel, vc = int(row["channel"]), int(engine.class_of[lane])
    came = f"over {topology.channel_name(channel)}" if channel >= 0 else "from a terminal"
    vc -= phase * simulation.program.vc_classes
    # as in the engine: a packet that enters, or is at its waypoint, has no previous channel
    origin = (-1, -1) if channel < 0 or vc < 0 else (channel, vc)
    randoms = np.random.default_rng(0).integers(2**63, size=TRIES, dtype=np.uint64)
    out = np.zeros_like(engine.out)
    for random in randoms:
        states[packet] = engine.states[packet]
        count = simulation.program.hop(
            engine.tables, states, packet, engine.public, switch, *origin, random, out
        )
        wrong = _invalid_candidate(simulation, switch, phase, int(count), out) or _invalid_waypoint(
            simulation, switch, engine.states[packet], int(mine[of.WAYPOINT])
        )
        if wrong:
            names = topology.switch_names
            target = int(mine[of.TARGET])
            waypoint = "its waypoint " if target != int(mine[of.DESTINATION]) else ""
            return (
                f"at switch {names[switch]}, for a packet to {waypoint}{names[target]} that came "
                f"{came}, the routing gives {wrong}"
            )
    return ""


def _invalid_candidate(
    simulation: Simulation, switch: int, phase: int, count: int, out: Any
) -> str:
    """Describe the first invalid candidate; empty if all are valid."""
    program, topology = simulation.program, simulation.topology
    if count <= 0:
        return "no candidate"
    if count > program.candidates:
        return f"{count} candidates, but declares at most {program.candidates}"
    shift, classes = phase * program.vc_classes, needed_classes(program)
    for channel, name in out[:count, :2].tolist():
        if not 0 <= channel < topology.num_channels:
            return (
                f"channel {channel}, which does not exist: channels are 0 to "
                f"{topology.num_channels - 1}, and failed links have none"
            )
        if topology.channel_source[channel] != switch:
            return (
                f"channel {channel}, {topology.channel_name(channel)}: it leaves another switch "
                "(where links have failed, channels have other numbers)"
            )
        if not 0 <= name + shift < classes:
            return (
                f"class {name} of virtual channels on {topology.channel_name(channel)}: its "
                f"program has 0 to {program.vc_classes - 1}"
            )
    return ""


def _invalid_waypoint(simulation: Simulation, switch: int, before: Any, waypoint: int) -> str:
    """Return why hop may not change the packet's waypoint; empty if it may or did not."""
    names = simulation.topology.switch_names
    if waypoint == before[of.WAYPOINT]:
        return ""
    if simulation.program.phases == 1:
        return f"WAYPOINT {waypoint}: its program has one phase"
    if before[of.PHASE] == 1:
        return f"WAYPOINT {waypoint} to a packet that has passed its waypoint"
    if not -1 <= waypoint < len(names):
        return f"WAYPOINT {waypoint}: switches are 0 to {len(names) - 1}; -1 means none"
    target = waypoint if waypoint >= 0 else int(before[of.DESTINATION])
    if target == switch:
        return f"WAYPOINT {waypoint}: the packet would be at its target"
    return ""
