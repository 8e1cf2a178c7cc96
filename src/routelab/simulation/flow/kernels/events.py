"""The next events of the flow engine: two binary heaps.

One heap holds messages that begin to flow and ranks that continue; these events never change. The
other holds bundles by the time at which their first message finishes; each new rate changes this
time, so bundles store their index in the heap. The parent of index i has index (i − 1) / 2 rounded
down, its children have indices 2 i + 1 and 2 i + 2.

`at` is the module `layout`, which describes all arrays of `flow`. `u` makes an index unsigned, so
that Numba omits the check for negative ones.
"""

from __future__ import annotations

from routelab.kernels.bits import u
from routelab.kernels.jit import helper
from routelab.simulation.flow.kernels import layout as at


@helper(_nrt=False)
def push_event(flow, time, event):
    """Add an event to the heap `event`.

    `event` is a message whose bytes begin to flow at this time, or −1 − r: rank r continues.
    """
    times, events = flow.event_time, flow.event
    index = flow.ints[at.NUM_EVENTS]
    flow.ints[at.NUM_EVENTS] = index + 1
    while index > 0:
        parent = (index - 1) >> 1
        if times[u(parent)] <= time:
            break
        times[u(index)] = times[u(parent)]
        events[u(index)] = events[u(parent)]
        index = parent
    times[u(index)] = time
    events[u(index)] = event


@helper(_nrt=False)
def pop_event(flow):
    """Remove the earliest event of the heap `event` and return it."""
    # The last entry takes the first place and moves down past all earlier events.
    times, events = flow.event_time, flow.event
    next_event = events[0]
    size = flow.ints[at.NUM_EVENTS] - 1
    flow.ints[at.NUM_EVENTS] = size
    time, event = times[u(size)], events[u(size)]
    index, child = 0, 1
    while child < size:
        if child + 1 < size and times[u(child + 1)] < times[u(child)]:
            child += 1
        if times[u(child)] >= time:
            break
        times[u(index)] = times[u(child)]
        events[u(index)] = events[u(child)]
        index = child
        child = 2 * index + 1
    times[u(index)] = time
    events[u(index)] = event
    return next_event


@helper(_nrt=False)
def schedule_finish(flow, bundle):
    """Add a bundle to `finish_heap`, or move it there after a change of its `finish_time`."""
    bundles, heap = flow.bundles, flow.finish_heap
    time = bundles[u(bundle)].finish_time
    # 1. Up from its index, or from the end of the heap, past all bundles that finish later.
    index = bundles[u(bundle)].heap_index
    if index < 0:
        index = flow.ints[at.NUM_FINISHES]
        flow.ints[at.NUM_FINISHES] = index + 1
    while index > 0:
        parent = (index - 1) >> 1
        if bundles[u(heap[u(parent)])].finish_time <= time:
            break
        heap[u(index)] = heap[u(parent)]
        bundles[u(heap[u(index)])].heap_index = index
        index = parent
    # 2. Down past those that finish earlier: a smaller rate may have delayed it. A bundle that has
    #    moved up stays, because those below its new index were below the ones that it has passed.
    size = flow.ints[at.NUM_FINISHES]
    child = 2 * index + 1
    while child < size:
        if (
            child + 1 < size
            and bundles[u(heap[u(child + 1)])].finish_time < bundles[u(heap[u(child)])].finish_time
        ):
            child += 1
        if bundles[u(heap[u(child)])].finish_time >= time:
            break
        heap[u(index)] = heap[u(child)]
        bundles[u(heap[u(index)])].heap_index = index
        index = child
        child = 2 * index + 1
    heap[u(index)] = bundle
    bundles[u(bundle)].heap_index = index


@helper(_nrt=False)
def pop_finish(flow):
    """Remove the bundle that finishes first from `finish_heap` and return it."""
    bundles, heap = flow.bundles, flow.finish_heap
    bundle = heap[0]
    bundles[u(bundle)].heap_index = -1
    size = flow.ints[at.NUM_FINISHES] - 1
    flow.ints[at.NUM_FINISHES] = size
    # The last entry takes the first place; `schedule_finish` moves it down to where it belongs.
    if size > 0:
        last_bundle = heap[u(size)]
        heap[0] = last_bundle
        bundles[u(last_bundle)].heap_index = 0
        schedule_finish(flow, last_bundle)
    return bundle
