"""The best of a packet's candidates, and what routing functions see of packets that wait.

Routing functions of programs with `waiting` read two numbers of each channel, FRONT_FLITS and
BUSY_UNTIL of routelab.kernels.hops. The `publish_…` functions keep them in `visible_queues`, from
row S_WAITING_ROW on:

    FRONT_FLITS     + a packet at the front of a queue chooses the channel     publish_decision
                    − a unit of it crosses the switch …                        publish_traversal
                    + … into an output FIFO                                    publish_traversal
                    − the unit leaves the FIFO                                 publish_departure
"""

from __future__ import annotations

import numpy as np

from routelab.kernels import hops
from routelab.kernels.bits import draw, u
from routelab.kernels.jit import inline
from routelab.simulation.packet.kernels import layout as at


@inline
def keep_best(engine, count, first_class):
    """Move the candidate of least cost to the front of `hop_out`; return how many remain.

    With the ranking ``best`` only this one remains, with ``best-or-escape`` also the escapes. hop
    numbers the classes of a phase from 0: its class 0 is `first_class` of the engine.
    """
    hop_out = engine.hop_out
    # `ties` is n − 1 for the n-th candidate that has the least cost so far
    best, least_cost, ties = 0, np.int64(0), np.uint64(0)
    for k in range(count):
        cost = np.int64(hop_out[k, at.HOP_PENALTY])
        if engine.setting[at.S_BY_OCCUPANCY] != 0:
            port = np.int64(engine.port_of_channel[hop_out[k, at.HOP_CHANNEL]])
            cost += class_units(engine, port, np.int64(hop_out[k, at.HOP_CLASS] + first_class))
        if k > 0 and cost == least_cost:
            # The n-th of equal candidates replaces those before it with probability 1/n, so each is
            # equally likely.
            ties += np.uint64(1)
            if hops.pick_word(draw(engine.random, 0, 0), ties + np.uint64(1)) != 0:
                continue
        elif k > 0 and cost > least_cost:
            continue
        else:
            ties = np.uint64(0)
        best, least_cost = k, cost
    # swap rows 0 and `best`
    for column in range(3):
        first = hop_out[0, column]
        hop_out[0, column] = hop_out[best, column]
        hop_out[best, column] = first
    if engine.setting[at.S_RANKING] == at.BEST:
        return 1
    # The escapes among the others move up behind it.
    num_kept = 1
    for k in range(1, count):
        if hop_out[k, at.HOP_PENALTY] >= hops.ESCAPE:
            for column in range(3):
                hop_out[num_kept, column] = hop_out[k, column]
            num_kept += 1
    return num_kept


@inline
def class_units(engine, port, vc_class):
    """Return the units that a class of a channel holds, in FIFOs, on the way and in buffers."""
    first_queue = port * engine.setting[at.S_VCS] + engine.classes[vc_class, at.FIRST_VC]
    units = np.int64(0)
    for queue in range(first_queue, first_queue + engine.classes[vc_class, at.VC_COUNT]):
        units += engine.room[u(queue)].capacity - engine.room[u(queue)].credits
    return units


@inline
def publish_cycle(engine, now):
    """Show the current cycle to routing functions."""
    row = engine.setting[at.S_WAITING_ROW] + len(engine.port_of_channel)
    engine.visible_queues[row, hops.NOW] = now


@inline
def publish_decision(engine, queue, channel):
    """Show that the packet at the front of a queue waits for a channel; −1: for none.

    Its flits move from the channel that it has waited for until now, if any, to this one.
    """
    row, setting = engine.setting[at.S_WAITING_ROW], engine.setting
    flits = setting[at.S_UNITS_PER_PACKET] * setting[at.S_UNIT_FLITS]
    before = engine.awaited_channel[u(queue)]  # 1 + channel; 0: none
    if before > 0:
        engine.visible_queues[row + before - 1, hops.FRONT_FLITS] -= flits
    if channel >= 0:
        engine.visible_queues[row + channel, hops.FRONT_FLITS] += flits
    engine.awaited_channel[u(queue)] = channel + 1


@inline
def publish_traversal(engine, queue, out_port, next_queue, is_head, is_tail):
    """Show that a unit moved from the front of a queue to an output.

    `next_queue` is the queue behind the output, or `EJECTION`.
    """
    row, flits = engine.setting[at.S_WAITING_ROW], engine.setting[at.S_UNIT_FLITS]
    is_ejected = next_queue == at.EJECTION
    channel = np.int64(-1) if is_ejected else np.int64(engine.inputs[u(out_port)].channel)
    # A head may take another channel than the one that the packet was waiting for. Then all its
    # flits move to this channel; a packet of one unit has no flits left in the queue.
    if is_head:
        publish_decision(engine, queue, np.int64(-1))
        if channel >= 0 and not is_tail:
            publish_decision(engine, queue, channel)
    if channel < 0:
        return
    engine.visible_queues[row + channel, hops.BUSY_UNTIL] = engine.outputs[u(out_port)].free_at
    # The unit no longer waits at the front. (A packet of one unit was subtracted with its
    # decision.)
    if not (is_head and is_tail):
        engine.visible_queues[row + channel, hops.FRONT_FLITS] -= flits
    # With output FIFOs, it waits there now.
    if engine.setting[at.S_FIFO_UNITS] != 0:
        engine.visible_queues[row + channel, hops.FRONT_FLITS] += flits
    if is_tail:
        engine.awaited_channel[u(queue)] = 0


@inline
def publish_departure(engine, out_port):
    """Show that a channel has taken a unit from a FIFO."""
    row = engine.setting[at.S_WAITING_ROW] + engine.inputs[u(out_port)].channel
    engine.visible_queues[row, hops.FRONT_FLITS] -= engine.setting[at.S_UNIT_FLITS]
    engine.visible_queues[row, hops.BUSY_UNTIL] = engine.outputs[u(out_port)].free_at
