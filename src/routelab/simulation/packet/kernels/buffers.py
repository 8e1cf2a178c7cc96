"""Buffers of the packet engine: first in, first out; the queue's row holds the head."""

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
        queues[u(queue)].packet = packet
        queues[u(queue)].ready = ready
        mark(engine.scheduled, ready & engine.setting[at.S_WHEEL_MASK], queue)
        return
    capacity = engine.setting[at.S_CAPACITY]
    place = queues[u(queue)].front + count
    if place >= capacity:
        place -= capacity
    slots[u(queue * capacity + place)].packet = packet
    slots[u(queue * capacity + place)].ready = ready


@inline
def pop_unit(engine, queue, soonest):
    """Remove the head of a buffer; the next unit is examined from `soonest` on."""
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
    mark(engine.scheduled, max(ready, soonest) & engine.setting[at.S_WHEEL_MASK], queue)
