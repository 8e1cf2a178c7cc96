"""The best of a packet's candidates, and what routing functions see of packets that wait."""

from __future__ import annotations

import numpy as np

from routelab.kernels import hops as of
from routelab.kernels.bits import draw, u
from routelab.kernels.jit import inline
from routelab.simulation.packet.kernels import layout as at


@inline
def keep_best(engine, count, shift):
    """Move the candidate of least cost to the front of `out`; return the number of candidates.

    These are one, or one and the escapes.
    """
    out = engine.out
    chosen, least, ties = 0, np.int64(0), np.uint64(0)
    for k in range(count):
        cost = np.int64(out[k, 2])
        if engine.setting[at.S_OCCUPANCY] != 0:
            port = np.int64(engine.port_of_channel[out[k, 0]])
            cost += class_units(engine, port, np.int64(out[k, 1] + shift))
        if k > 0 and cost == least:
            # each of equal candidates is equally likely
            ties += np.uint64(1)
            if of.pick_word(draw(engine.random, 0, 0), ties + np.uint64(1)) != 0:
                continue
        elif k > 0 and cost > least:
            continue
        else:
            ties = np.uint64(0)
        chosen, least = k, cost
    for column in range(3):
        swapped = out[0, column]
        out[0, column] = out[chosen, column]
        out[chosen, column] = swapped
    if engine.setting[at.S_RANKING] == at.BEST:
        return 1
    num_kept = 1
    for k in range(1, count):
        if out[k, 2] >= of.ESCAPE:
            for column in range(3):
                out[num_kept, column] = out[k, column]
            num_kept += 1
    return num_kept


@inline
def class_units(engine, port, vc_class):
    """Return the units that a class of a channel holds, in FIFOs, on the way and in buffers."""
    first_queue = port * engine.setting[at.S_VCS] + engine.classes[vc_class, 0]
    units = np.int64(0)
    for queue in range(first_queue, first_queue + engine.classes[vc_class, 1]):
        units += engine.room[u(queue)].capacity - engine.room[u(queue)].credits
    return units


@inline
def publish_cycle(engine, now):
    """Show routing functions the cycle."""
    row = engine.setting[at.S_WAITING] + len(engine.port_of_channel)
    engine.public[row, of.NOW] = now


@inline
def publish_decision(engine, queue, channel):
    """Show the packet at the front of a queue as waiting for a channel; −1: for none."""
    row, setting = engine.setting[at.S_WAITING], engine.setting
    flits = setting[at.S_UNITS] * setting[at.S_UNIT_FLITS]
    before = engine.decided[u(queue)]
    if before > 0:
        engine.public[row + before - 1, of.FRONT_FLITS] -= flits
    if channel >= 0:
        engine.public[row + channel, of.FRONT_FLITS] += flits
    engine.decided[u(queue)] = channel + 1


@inline
def publish_traversal(engine, queue, out, place, head, tail):
    """Show a unit that moved from the front of a queue to an output."""
    row, flits = engine.setting[at.S_WAITING], engine.setting[at.S_UNIT_FLITS]
    channel = np.int64(-1) if place == at.LEAVES else np.int64(engine.inputs[u(out)].channel)
    if head:
        # it may have taken another channel than the one that it waited for
        publish_decision(engine, queue, np.int64(-1))
        if channel >= 0 and not tail:
            publish_decision(engine, queue, channel)
    if channel < 0:
        return
    engine.public[row + channel, of.BUSY_UNTIL] = engine.outputs[u(out)].free_at
    if not (head and tail):
        engine.public[row + channel, of.FRONT_FLITS] -= flits
    if engine.setting[at.S_FIFO] != 0:
        engine.public[row + channel, of.FRONT_FLITS] += flits
    if tail:
        engine.decided[u(queue)] = 0


@inline
def publish_departure(engine, out):
    """Show a unit that a channel has taken from a FIFO."""
    row = engine.setting[at.S_WAITING] + engine.inputs[u(out)].channel
    engine.public[row, of.FRONT_FLITS] -= engine.setting[at.S_UNIT_FLITS]
    engine.public[row, of.BUSY_UNTIL] = engine.outputs[u(out)].free_at
