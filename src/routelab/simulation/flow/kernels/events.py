"""The next events of the flow engine: two binary heaps.

One heap holds messages that begin to flow and ranks that continue; these events never change. The
other holds bundles by the time at which their first message finishes; each share changes this time,
so bundles store their place in the heap.
"""

from __future__ import annotations

from routelab.kernels.bits import u
from routelab.kernels.jit import helper
from routelab.simulation.flow.kernels import layout as at


@helper(_nrt=False)
def push_event(flow, time, event):
    """Add an event at a time."""
    times, events = flow.event_time, flow.event
    place = flow.ints[at.EVENTS]
    flow.ints[at.EVENTS] = place + 1
    while place > 0:
        parent = (place - 1) >> 1
        if times[u(parent)] <= time:
            break
        times[u(place)] = times[u(parent)]
        events[u(place)] = events[u(parent)]
        place = parent
    times[u(place)] = time
    events[u(place)] = event


@helper(_nrt=False)
def pop_event(flow):
    """Remove the first event and return it."""
    times, events = flow.event_time, flow.event
    next_event = events[0]
    size = flow.ints[at.EVENTS] - 1
    flow.ints[at.EVENTS] = size
    time, event = times[u(size)], events[u(size)]
    place, child = 0, 1
    while child < size:
        if child + 1 < size and times[u(child + 1)] < times[u(child)]:
            child += 1
        if times[u(child)] >= time:
            break
        times[u(place)] = times[u(child)]
        events[u(place)] = events[u(child)]
        place = child
        child = 2 * place + 1
    times[u(place)] = time
    events[u(place)] = event
    return next_event


@helper(_nrt=False)
def schedule_finish(flow, bundle):
    """Move a bundle to the place of its `finish`, and add it if it is not in the queue."""
    bundles, queue = flow.bundles, flow.finishes
    time = bundles[u(bundle)].finish
    # 1. Up from its place, or from the end of the heap, past all that finish later.
    place = bundles[u(bundle)].queue
    if place < 0:
        place = flow.ints[at.FINISHES]
        flow.ints[at.FINISHES] = place + 1
    while place > 0:
        parent = (place - 1) >> 1
        if bundles[u(queue[u(parent)])].finish <= time:
            break
        queue[u(place)] = queue[u(parent)]
        bundles[u(queue[u(place)])].queue = place
        place = parent
    # 2. Down past those that finish earlier: a smaller share may have delayed it. A bundle that has
    #    moved up stays, because those below its new place were below the ones that it has passed.
    size = flow.ints[at.FINISHES]
    child = 2 * place + 1
    while child < size:
        if (
            child + 1 < size
            and bundles[u(queue[u(child + 1)])].finish < bundles[u(queue[u(child)])].finish
        ):
            child += 1
        if bundles[u(queue[u(child)])].finish >= time:
            break
        queue[u(place)] = queue[u(child)]
        bundles[u(queue[u(place)])].queue = place
        place = child
        child = 2 * place + 1
    queue[u(place)] = bundle
    bundles[u(bundle)].queue = place


@helper(_nrt=False)
def pop_finish(flow):
    """Remove the bundle with the first finish and return it."""
    bundles, queue = flow.bundles, flow.finishes
    bundle = queue[0]
    bundles[u(bundle)].queue = -1
    size = flow.ints[at.FINISHES] - 1
    flow.ints[at.FINISHES] = size
    if size > 0:
        last_bundle = queue[u(size)]
        queue[0] = last_bundle
        bundles[u(last_bundle)].queue = 0
        schedule_finish(flow, last_bundle)
    return bundle
