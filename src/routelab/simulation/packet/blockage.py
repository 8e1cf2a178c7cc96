"""Why packets are blocked: a deadlock, a packet that walks forever, or one without a route."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from routelab.api import Topology
from routelab.api.topology import BoolArray
from routelab.kernels import hops
from routelab.simulation.packet.kernels import layout as at


@dataclass(frozen=True)
class Blockage:
    """Reason why a simulation cannot continue.

    Attributes
    ----------
    kind : {"deadlock", "livelock", "no-route"}
    cycle : tuple of (int, int)
        Channels and virtual channels that wait for each other; empty unless deadlock.
    text : str
        Message with the names of the channels.
    at : int
        Cycle of the detection.
    """

    kind: Literal["deadlock", "livelock", "no-route"]
    cycle: tuple[tuple[int, int], ...]
    text: str
    at: int


def blockage_of_packet(
    engine: Any, topology: Topology, failed_packet: int, max_hops: int | None, now: int
) -> Blockage:
    """Return why the engine gave up a packet: no valid candidate, or too many hops.

    Parameters
    ----------
    engine : object
        Arrays of the engine, as `layout.build_arrays` makes them.
    topology : Topology
    failed_packet : int
        1 + the row of the packet if it took too many hops; −1 − the row if its routing gives no
        valid candidate.
    max_hops : int or None
        Hops after which a packet is given up.
    now : int
        Cycle.
    """
    row = engine.states[abs(failed_packet) - 1]
    names = topology.switch_names
    ends = f"from {names[row[hops.SOURCE]]} to {names[row[hops.DESTINATION]]}"
    if failed_packet < 0:
        text = (
            f"the routing gives no valid candidate for a packet {ends}: none at all, a channel "
            "that does not leave its switch, a class of virtual channels that its program does "
            "not have, or a waypoint that is no switch"
        )
        return Blockage("no-route", (), text, now)
    text = f"a packet {ends} took more than {max_hops} hops"
    return Blockage("livelock", (), text, now)


def blockage_of_queues(
    engine: Any, topology: Topology, stuck: BoolArray, vcs: int, candidates: int, now: int
) -> Blockage:
    """Return a deadlock among stuck queues: a cycle of queues that wait for each other.

    Every stuck queue waits for another one. So the chain from any of them returns to one of its
    members, from which on it is a cycle.

    Parameters
    ----------
    engine : object
        Arrays of the engine, as `layout.build_arrays` makes them.
    topology : Topology
    stuck : bool array, by queue
        Queues that can never move again.
    vcs : int
        Virtual channels of a channel.
    candidates : int
        Most candidates of a packet.
    now : int
        Cycle.
    """
    queue = int(np.flatnonzero(stuck)[0])
    position_of: dict[int, int] = {}
    chain: list[int] = []
    while queue not in position_of:
        position_of[queue] = len(chain)
        chain.append(queue)
        queue = _awaited_queue(engine, queue, stuck, candidates)
    cycle = []
    for member in chain[position_of[queue] :]:
        channel = int(engine.inputs["channel"][member // vcs])
        cycle.append((channel, member % vcs))
    names = [f"{topology.channel_name(c)} vc {v}" for c, v in cycle]
    text = (
        f"{int(stuck.sum())} buffers wait for each other and can never move: "
        + " waits for ".join([*names, names[0]])
    )
    return Blockage("deadlock", tuple(cycle), text, now)


def _awaited_queue(engine: Any, queue: int, stuck: BoolArray, candidates: int) -> int:
    """Return a stuck queue that the front of a queue waits for."""
    row = engine.queues[queue]
    count, begin = int(row["num_candidates"]), queue * candidates
    # a single candidate is in the row of the queue
    rows = engine.candidates[begin : begin + count] if count > 1 else [row]
    for candidate in rows:
        first_queue = int(candidate["first_queue"])
        num_vcs = int(candidate["vc_request"]) >> at.VCS_SHIFT
        for next_queue in range(first_queue, first_queue + num_vcs):
            if stuck[next_queue]:
                return next_queue
            # wormhole: the packet that holds the virtual channel is in another queue
            holder = int(engine.queue_extra["holder"][next_queue]) - 1
            if holder >= 0 and stuck[holder]:
                return holder
    raise AssertionError("a queue that is stuck waits for another that is")
