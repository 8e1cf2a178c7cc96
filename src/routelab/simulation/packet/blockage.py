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
    cycle : tuple of (channel, virtual channel)
        The packet at the front of each waits for the next one, that of the last for the first;
        empty unless deadlock.
    text : str
        Message with the names of the channels or switches.
    detected_at : int
        Simulated cycle in which the blockage was detected.
    """

    kind: Literal["deadlock", "livelock", "no-route"]
    cycle: tuple[tuple[int, int], ...]
    text: str
    detected_at: int


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
        FAILED_PACKET of the engine's totals: 1 + the row of the packet if it took too many hops;
        −1 − the row if its routing gives no valid candidate.
    max_hops : int or None
        Hops after which a packet is given up.
    now : int
        Current cycle.
    """
    packet = engine.states[abs(failed_packet) - 1]
    names = topology.switch_names
    source, destination = names[packet[hops.SOURCE]], names[packet[hops.DESTINATION]]
    if failed_packet < 0:
        text = (
            f"the routing gives no valid candidate for a packet from {source} to {destination}: "
            "none at all, a channel that does not leave its switch, a class of virtual channels "
            "that its program does not have, or a waypoint that is no switch"
        )
        return Blockage("no-route", cycle=(), text=text, detected_at=now)
    text = f"a packet from {source} to {destination} took more than {max_hops} hops"
    return Blockage("livelock", cycle=(), text=text, detected_at=now)


def blockage_of_queues(
    engine: Any, topology: Topology, stuck: BoolArray, vcs: int, max_candidates: int, now: int
) -> Blockage:
    """Find a cycle of stuck queues that wait for each other, and return it as a deadlock.

    Every stuck queue waits for a stuck queue. So a walk from any of them, always to a queue that
    the last one waits for, visits some queue twice: 5 waits for 2, 2 for 7, 7 for 2. The cycle is
    the part of the walk between these two visits, here 2, 7.

    Parameters
    ----------
    engine : object
        Arrays of the engine, as `layout.build_arrays` makes them.
    topology : Topology
    stuck : bool array, by queue
        Queues that can never move again.
    vcs : int
        Virtual channels of a channel.
    max_candidates : int
        Largest number of candidates of a packet.
    now : int
        Current cycle.
    """
    queue = int(np.flatnonzero(stuck)[0])
    walk: list[int] = []
    first_visit: dict[int, int] = {}  # index in the walk, by queue
    while queue not in first_visit:
        first_visit[queue] = len(walk)
        walk.append(queue)
        queue = _awaited_queue(engine, queue, stuck, max_candidates)
    cycle = []
    for waiting_queue in walk[first_visit[queue] :]:
        # the number of a queue is port * vcs + vc
        port, vc = divmod(waiting_queue, vcs)
        cycle.append((int(engine.inputs["channel"][port]), vc))
    names = [f"{topology.channel_name(channel)} vc {vc}" for channel, vc in cycle]
    text = (
        f"{int(stuck.sum())} buffers wait for each other and can never move: "
        + " waits for ".join([*names, names[0]])
    )
    return Blockage("deadlock", cycle=tuple(cycle), text=text, detected_at=now)


def _awaited_queue(engine: Any, queue: int, stuck: BoolArray, max_candidates: int) -> int:
    """Return a stuck queue that the packet at the front of a stuck queue waits for."""
    queue_row = engine.queues[queue]
    count, begin = int(queue_row["num_candidates"]), queue * max_candidates
    # A single candidate is in the row of the queue, in fields of the same names.
    candidates = engine.candidates[begin : begin + count] if count > 1 else [queue_row]
    for candidate in candidates:
        first_queue = int(candidate["first_queue"])
        num_vcs = int(candidate["vc_request"]) >> at.VCS_SHIFT
        for next_queue in range(first_queue, first_queue + num_vcs):
            if stuck[next_queue]:
                return next_queue
            # Under wormhole switching, the virtual channel may be held by a packet whose flits are
            # still in another queue (`holder` is 1 + that queue; 0: none).
            holder = int(engine.queue_extra["holder"][next_queue]) - 1
            if holder >= 0 and stuck[holder]:
                return holder
    raise AssertionError("a stuck queue waits for no stuck queue")
