"""Waiting queues of the packet engine, and their wake-up."""

from __future__ import annotations

import numpy as np

from routelab.kernels.bits import lowest, mark, u
from routelab.kernels.jit import inline
from routelab.simulation.packet.kernels import layout as at


@inline
def _wake(queues, sleepers, heads, row, first, last):
    """Schedule the sleepers among the queues `first` to `last` - 1."""
    for word in range(first >> 6, ((last - 1) >> 6) + 1):
        bits = sleepers[word]
        if word == first >> 6:
            bits &= ~np.uint64(0) << np.uint64(first & 63)
        if word == (last - 1) >> 6:
            bits &= ~np.uint64(0) >> np.uint64(63 - ((last - 1) & 63))
        sleepers[word] &= ~bits
        heads[row, word] |= bits
        while bits != np.uint64(0):
            queues[u((word << 6) + lowest(bits))].waiting = 0
            bits &= bits - np.uint64(1)


@inline
def wake_for(engine, place, switch, row):
    """Wake the queues of a switch that may wait for room in the queue `place`."""
    queues, heads = engine.queues, engine.heads
    waiting = queues[u(place)].wait_first
    if waiting >= 0:
        queues[u(place)].wait_first = -1
        while waiting >= 0:
            queues[u(waiting)].waiting = 0
            mark(heads, row, waiting)
            waiting = engine.more[u(waiting)].wait_next
    if engine.sleeping[switch] > 0:
        engine.sleeping[switch] = 0
        vcs = engine.setting[at.S_VCS]
        first = engine.switch_ports[switch] * vcs
        last = engine.switch_ports[switch + 1] * vcs
        _wake(queues, engine.sleepers, heads, row, first, last)


@inline
def idle_time(outputs, out):
    """Return the time at which a channel, or its queue, is free of other packets."""
    idle = np.int64(outputs[u(out)].free_at - outputs[u(out)].slack)
    return max(idle, np.int64(outputs[u(out)].taken_until))


@inline
def sleep(engine, queue, port, now):
    """Let a queue wait until its state may change."""
    queues, inputs, outputs, heads = (
        engine.queues,
        engine.inputs,
        engine.outputs,
        engine.heads,
    )
    mask = engine.setting[at.S_MASK]
    if engine.setting[at.S_AGAIN] != 0:
        # its candidates may differ in the next cycle
        mark(heads, (now + 1) & mask, queue)
        return
    count = queues[u(queue)].choices
    if count == 1:
        out = queues[u(queue)].out
        idle = idle_time(outputs, out)
        if idle > now:
            mark(heads, idle & mask, queue)
            return
        if queues[u(queue)].kind >> at.LANES == 1:
            first = queues[u(queue)].first
            engine.more[u(queue)].wait_next = queues[u(first)].wait_first
            queues[u(first)].wait_first = queue
            queues[u(queue)].waiting = 1
            return
    else:
        soonest = np.int64(-1)
        for k in range(count):
            out = engine.candidates[u(queue * engine.setting[at.S_MOST] + k)].out
            idle = idle_time(outputs, out)
            if idle > now and (soonest < 0 or idle < soonest):
                soonest = idle
        if soonest >= 0:
            mark(heads, soonest & mask, queue)
    queues[u(queue)].waiting = 2
    engine.sleepers[queue >> 6] |= np.uint64(1) << np.uint64(queue & 63)
    engine.sleeping[inputs[u(port)].switch] += 1
