"""Why the packet engine could not route a packet: the algorithm is asked once more, aloud."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from routelab.api import needed_classes
from routelab.kernels import hops as of
from routelab.simulation.packet.counts import Blocked
from routelab.simulation.packet.engine import Simulation
from routelab.simulation.packet.kernels import layout as at

TRIES = 64
"""Times that an algorithm is asked; what it answers may be random."""


def why_blocked(simulation: Simulation) -> Blocked | None:
    """As `Simulation.blocked`, with the cause where a packet has no route.

    Where the packet is, what it heads for, and what is wrong with the answer: no candidate at all,
    more than the program says, a channel that does not exist or leaves another switch, a class of
    virtual channels that does not exist, or a waypoint that hop may not set.
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
    text = f"{blocked.text}; maybe inject set a WAYPOINT that is no switch"
    return replace(blocked, text=text)


def _places(simulation: Simulation, packet: int) -> list[int]:
    """Queues with the packet at the front and no candidate for it."""
    queues = simulation._engine.queues
    held = (queues["count"] > 0) & (queues["choices"] == 0)
    found: list[int] = np.flatnonzero(held & (queues["packet"] == packet)).tolist()
    return found


def _cause(simulation: Simulation, packet: int, queue: int) -> str:
    """What is wrong with the algorithm's answers there; empty if nothing is."""
    engine, topology = simulation._engine, simulation.topology
    port, lane = divmod(queue, simulation.router.vcs)
    row = engine.inputs[port]
    states = engine.states.copy()
    mine = states[packet]
    switch, phase = int(row["switch"]), int(mine[of.PHASE])
    if switch == mine[of.TARGET]:
        # it was not looked at yet: there the engine asks nobody
        return ""
    channel, vc = int(row["channel"]), int(engine.class_of[lane])
    came = f"over {topology.channel_name(channel)}" if channel >= 0 else "from a terminal"
    vc -= phase * simulation.program.vc_classes
    # as the engine asks: where a packet enters, or has reached its waypoint, it came from nowhere
    asked = (-1, -1) if channel < 0 or vc < 0 else (channel, vc)
    randoms = np.random.default_rng(0).integers(2**63, size=TRIES, dtype=np.uint64)
    out = np.zeros_like(engine.out)
    for random in randoms:
        states[packet] = engine.states[packet]
        count = simulation.program.hop(
            engine.tables, states, packet, engine.public, switch, *asked, random, out
        )
        wrong = _wrong(simulation, switch, phase, int(count), out) or _wrong_turn(
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


def _wrong(simulation: Simulation, switch: int, phase: int, count: int, out: Any) -> str:
    """The first candidate that the engine refuses, if any; empty if all are right."""
    program, topology = simulation.program, simulation.topology
    if count <= 0:
        return "no candidate"
    if count > program.candidates:
        return f"{count} candidates, and says that it gives {program.candidates} at most"
    shift, classes = phase * program.vc_classes, needed_classes(program)
    for channel, name in out[:count, :2].tolist():
        if not 0 <= channel < topology.num_channels:
            return (
                f"channel {channel}, which is not there: channels are 0 to "
                f"{topology.num_channels - 1}, and links that failed have none"
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


def _wrong_turn(simulation: Simulation, switch: int, before: Any, waypoint: int) -> str:
    """Why hop may not change the waypoint of a packet like that; empty if it may or did not."""
    names = simulation.topology.switch_names
    if waypoint == before[of.WAYPOINT]:
        return ""
    if simulation.program.phases == 1:
        return f"WAYPOINT {waypoint}: its program has one phase"
    if before[of.PHASE] == 1:
        return f"WAYPOINT {waypoint} to a packet that has passed its waypoint"
    if not -1 <= waypoint < len(names):
        return f"WAYPOINT {waypoint}: switches are 0 to {len(names) - 1}, and -1 is for none"
    target = waypoint if waypoint >= 0 else int(before[of.DESTINATION])
    if target == switch:
        return f"WAYPOINT {waypoint}: the packet would be at its target"
    return ""
