"""Messages of the flow engine: their start, shares and finish."""

from __future__ import annotations

import numpy as np

from routelab.kernels.bits import u
from routelab.kernels.jit import helper, inline
from routelab.simulation.flow.kernels import layout as at
from routelab.simulation.flow.kernels.events import pop_finish, push_event, schedule_finish
from routelab.simulation.flow.kernels.sharing import (
    change,
    enter_resources,
    leave_resources,
    shares,
)


@helper(_nrt=False)
def find_message(flow, slot):
    """Return the message of a slot; create it for the first of its two ends."""
    ring = flow.ring
    place = slot & (len(ring) - 1)
    message = ring[u(place)]
    if message >= 0:
        ring[u(place)] = -1  # this is the second and last end
        return message
    flow.ints[at.FREE] -= 1
    message = flow.free[u(flow.ints[at.FREE])]
    ring[u(place)] = message
    flow.messages[u(message)].state = 0
    flow.messages[u(message)].slot = slot
    return message


@inline
def schedule_message(flow, message, ready, latencies):
    """Schedule the bytes of a message to flow that many latencies after it is ready."""
    bundle = flow.messages[u(message)].bundle
    push_event(flow, ready + latencies * flow.bundles[u(bundle)].delay, message)


@inline
def release_message(flow, message, end):
    """Release a message from one of its ends; free it after both."""
    state = flow.messages[u(message)].state | end
    flow.messages[u(message)].state = state
    both_ends = at.SENDER_GONE | at.RECEIVER_GONE
    if state & both_ends == both_ends:
        flow.free[u(flow.ints[at.FREE])] = message
        flow.ints[at.FREE] += 1


@inline
def _wake(flow, rank, busy):
    """Complete a request that a rank waits for; the rank is busy for a time then."""
    clock = max(flow.ranks[u(rank)].clock, flow.reals[at.NOW]) + busy
    flow.ranks[u(rank)].clock = clock
    flow.ranks[u(rank)].awaited -= 1
    if flow.ranks[u(rank)].awaited == 0:
        flow.ready[u(flow.ints[at.READY_RANKS])] = rank
        flow.ints[at.READY_RANKS] += 1


@helper(_nrt=False)
def _deliver(flow, message):
    """Complete a message after its last byte."""
    delivered = flow.messages[u(message)]
    source, target = delivered.source, delivered.target
    state = delivered.state | at.DONE
    delivered.state = state
    if state & at.RECEIVER_WAITS:
        _wake(flow, target, flow.reals[at.OVERHEAD])
    if state & at.SENDER_WAITS:
        _wake(flow, source, 0.0)
        release_message(flow, message, at.SENDER_GONE)
    if state & at.RECEIVER_WAITS:
        release_message(flow, message, at.RECEIVER_GONE)


@inline
def _serve(flow, bundle):
    """Update the bytes that a bundle has served until now."""
    now = flow.reals[at.NOW]
    flow.bundles[u(bundle)].served += flow.bundles[u(bundle)].rate * (
        now - flow.bundles[u(bundle)].since
    )
    flow.bundles[u(bundle)].since = now


@helper(_nrt=False)
def start(flow, message):
    """Start the first byte: add the message to its bundle."""
    messages, bundles = flow.messages, flow.bundles
    bundle = messages[u(message)].bundle
    # 1. A message without bytes, or on a path without limited resources, arrives with its latency.
    if messages[u(message)].bytes == 0.0 or bundles[u(bundle)].crossings == 0:
        _deliver(flow, message)
        return
    # 2. An empty bundle begins to serve now: the time without messages does not count.
    if bundles[u(bundle)].count == 0:
        bundles[u(bundle)].served = 0.0
        bundles[u(bundle)].rate = 0.0
        bundles[u(bundle)].since = flow.reals[at.NOW]
        bundles[u(bundle)].head = -1
        bundles[u(bundle)].tail = -1
        enter_resources(flow, bundle)
    else:
        _serve(flow, bundle)
    # 3. All messages of a bundle are served at one rate, so the order of their ends never changes:
    #    a list by `until`. The search begins at its end, where messages of equal sizes belong.
    until = bundles[u(bundle)].served + messages[u(message)].bytes
    before = bundles[u(bundle)].tail
    behind = np.int32(-1)
    while before >= 0 and messages[u(before)].until > until:
        behind = before
        before = messages[u(before)].before
    messages[u(message)].until = until
    messages[u(message)].before = before
    messages[u(message)].behind = behind
    if before >= 0:
        messages[u(before)].behind = message
    else:
        bundles[u(bundle)].head = message
    if behind >= 0:
        messages[u(behind)].before = message
    else:
        bundles[u(bundle)].tail = message
    bundles[u(bundle)].count += 1
    change(flow, bundle)


@helper(_nrt=False)
def finish(flow):
    """Finish the first message of the first bundle, and all others that end with it."""
    messages, bundles = flow.messages, flow.bundles
    bundle = pop_finish(flow)
    message = bundles[u(bundle)].head
    bundles[u(bundle)].served = messages[u(message)].until
    bundles[u(bundle)].since = flow.reals[at.NOW]
    together = (flow.reals[at.UNTIL] - flow.reals[at.NOW]) * bundles[u(bundle)].rate
    upto = bundles[u(bundle)].served + together
    while message >= 0 and messages[u(message)].until <= upto:
        behind = messages[u(message)].behind
        bundles[u(bundle)].count -= 1
        _deliver(flow, message)
        message = behind
    bundles[u(bundle)].head = message
    if message >= 0:
        messages[u(message)].before = -1
    else:
        bundles[u(bundle)].tail = -1
        leave_resources(flow, bundle)
    change(flow, bundle)


@helper(_nrt=False)
def share(flow):
    """Set the shares of bundles from now on."""
    bundles, resources, messages = flow.bundles, flow.resources, flow.messages
    for k in range(shares(flow)):
        bundle = flow.affected_bundles[u(k)]
        limit, fresh = bundles[u(bundle)].fresh_limit, bundles[u(bundle)].fresh
        if limit != bundles[u(bundle)].limit:
            if bundles[u(bundle)].limit >= 0:
                resources[u(bundles[u(bundle)].limit)].limits -= 1
            resources[u(limit)].limits += 1
            bundles[u(bundle)].limit = limit
        if fresh == bundles[u(bundle)].rate and bundles[u(bundle)].changed == 0:
            continue
        bundles[u(bundle)].changed = 0
        _serve(flow, bundle)
        bundles[u(bundle)].rate = fresh
        head = bundles[u(bundle)].head
        remaining = max(messages[u(head)].until - bundles[u(bundle)].served, 0.0)
        bundles[u(bundle)].finish = flow.reals[at.NOW] + remaining / fresh
        schedule_finish(flow, bundle)
