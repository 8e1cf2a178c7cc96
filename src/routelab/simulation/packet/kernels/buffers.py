"""Buffers of the packet engine: first in, first out.

The row of a queue holds the unit at the front. Those behind it are in a ring of S_CAPACITY `slots`
of the queue, from index `front` on; the slot of the front unit itself is not used.

`engine.scheduled` is the timing wheel of the queues: row ``cycle & S_WHEEL_MASK`` has a bit for
each queue that the engine examines in that cycle. Only the unit at the front can leave, so a queue
is scheduled for the cycle in which its front unit may.
"""

from __future__ import annotations

from routelab.kernels.bits import mark, u
from routelab.kernels.jit import inline
from routelab.simulation.packet.kernels import layout as at


@inline
def push_unit(engine, queue, packet, ready):
    """Add a unit of a packet to a buffer, which it may leave from cycle `ready` on."""
    queues, slots = engine.queues, engine.slots
    count = queues[u(queue)].count
    queues[u(queue)].count = count + 1
    if count == 0:
        # The unit is at the front. `pop_unit` schedules any other one when it comes to the front.
        queues[u(queue)].packet = packet
        queues[u(queue)].ready = ready
        mark(engine.scheduled, ready & engine.setting[at.S_WHEEL_MASK], queue)
        return
    # unit `count` of the buffer, from 0 on, in the ring of slots
    capacity = engine.setting[at.S_CAPACITY]
    slot = queues[u(queue)].front + count
    if slot >= capacity:
        slot -= capacity
    slots[u(queue * capacity + slot)].packet = packet
    slots[u(queue * capacity + slot)].ready = ready


@inline
def pop_unit(engine, queue, port_free_at):
    """Remove the front unit of a buffer, and schedule the next one.

    It may leave when it is ready, and not before cycle `port_free_at`.
    """
    queues, slots = engine.queues, engine.slots
    count = queues[u(queue)].count - 1
    queues[u(queue)].count = count
    if count == 0:
        return
    capacity = engine.setting[at.S_CAPACITY]
    front = queues[u(queue)].front + 1
    if front >= capacity:
        front -= capacity
    queues[u(queue)].front = front
    ready = slots[u(queue * capacity + front)].ready
    queues[u(queue)].packet = slots[u(queue * capacity + front)].packet
    queues[u(queue)].ready = ready
    mark(engine.scheduled, max(ready, port_free_at) & engine.setting[at.S_WHEEL_MASK], queue)
