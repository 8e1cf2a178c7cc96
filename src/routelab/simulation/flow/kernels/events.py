"""What happens next in the flow engine: two binary heaps.

Messages that begin to flow and ranks that go on are never taken back and lie in one of their own;
bundles whose first message will be through change their time with every share, and know their
place.
"""

from __future__ import annotations

from routelab.kernels.bits import u
from routelab.kernels.jit import helper
from routelab.simulation.flow.kernels import layout as at


@helper(_nrt=False)
def push(flow, time, event):
    """Let something happen at a time."""
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
def pop(flow):
    """Take out what happens first."""
    times, events = flow.event_time, flow.event
    first = events[0]
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
    return first


@helper(_nrt=False)
def schedule_finish(flow, bundle):
    """Put a bundle where its `finish` belongs, whether it is in the queue or not."""
    bundles, queue = flow.bundles, flow.finishes
    time = bundles[u(bundle)].finish
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
    """Take out the bundle whose first message is through first."""
    bundles, queue = flow.bundles, flow.finishes
    first = queue[0]
    bundles[u(first)].queue = -1
    size = flow.ints[at.FINISHES] - 1
    flow.ints[at.FINISHES] = size
    if size > 0:
        last = queue[u(size)]
        queue[0] = last
        bundles[u(last)].queue = 0
        schedule_finish(flow, last)
    return first
