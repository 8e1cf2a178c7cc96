"""Messages of the flow engine: the start of their bytes, their rates and their end.

`at` is the module `layout`, which describes all arrays of `flow`. `u` makes an index unsigned, so
that Numba omits the check for negative ones.
"""

from __future__ import annotations

import numpy as np

from routelab.kernels.bits import u
from routelab.kernels.jit import helper, inline
from routelab.simulation.flow.kernels import layout as at
from routelab.simulation.flow.kernels.events import pop_finish, push_event, schedule_finish
from routelab.simulation.flow.kernels.sharing import (
    enter_resources,
    leave_resources,
    mark_changed,
    recompute_shares,
)


@helper(_nrt=False)
def find_or_create_message(flow, slot):
    """Return the message of a slot to one of its two ends, the send or the receive.

    The end that comes first creates the message and enters it in `ring`. The other end finds it
    there, and removes it from `ring` because no third one will look for it.
    """
    ring = flow.ring
    # the slot modulo the length, a power of two
    index = slot & (len(ring) - 1)
    message = ring[u(index)]
    if message >= 0:
        ring[u(index)] = -1
        return message
    flow.ints[at.NUM_FREE] -= 1
    message = flow.free_messages[u(flow.ints[at.NUM_FREE])]
    ring[u(index)] = message
    flow.messages[u(message)].state = 0
    flow.messages[u(message)].slot = slot
    return message


@inline
def schedule_message(flow, message, ready_time, num_latencies):
    """Schedule the bytes of a message to flow that many latencies after it is ready."""
    bundle = flow.messages[u(message)].bundle
    push_event(flow, ready_time + num_latencies * flow.bundles[u(bundle)].latency, message)


@inline
def release_message(flow, message, end):
    """Add the bit of `end`, SENDER_RELEASED or RECEIVER_RELEASED; free the row after both."""
    state = flow.messages[u(message)].state | end
    flow.messages[u(message)].state = state
    both_ends = at.SENDER_RELEASED | at.RECEIVER_RELEASED
    if state & both_ends == both_ends:
        flow.free_messages[u(flow.ints[at.NUM_FREE])] = message
        flow.ints[at.NUM_FREE] += 1


@inline
def _complete_request(flow, rank, busy):
    """Complete a request that a rank waits for, then let it be busy for that many seconds.

    If this was the last request that it waits for, the rank becomes ready.
    """
    # The message arrives now, but the clock of the rank may be ahead of the events.
    clock = max(flow.ranks[u(rank)].clock, flow.reals[at.NOW]) + busy
    flow.ranks[u(rank)].clock = clock
    flow.ranks[u(rank)].num_awaited -= 1
    if flow.ranks[u(rank)].num_awaited == 0:
        flow.ready_ranks[u(flow.ints[at.NUM_READY])] = rank
        flow.ints[at.NUM_READY] += 1


@helper(_nrt=False)
def _complete_message(flow, message):
    """Complete a message whose last byte has arrived.

    Its sender and receiver release it if they wait for it already, and otherwise when they come to
    wait for it.
    """
    row = flow.messages[u(message)]
    source, target = row.source, row.target
    state = row.state | at.ARRIVED
    row.state = state
    if state & at.RECEIVER_WAITS:
        _complete_request(flow, target, flow.reals[at.OVERHEAD])
    if state & at.SENDER_WAITS:
        _complete_request(flow, source, 0.0)
        release_message(flow, message, at.SENDER_RELEASED)
    if state & at.RECEIVER_WAITS:
        release_message(flow, message, at.RECEIVER_RELEASED)


@inline
def _update_served(flow, bundle):
    """Set `served` to the bytes that a bundle has served to each message until now."""
    now = flow.reals[at.NOW]
    flow.bundles[u(bundle)].served += flow.bundles[u(bundle)].rate * (
        now - flow.bundles[u(bundle)].served_at
    )
    flow.bundles[u(bundle)].served_at = now


@helper(_nrt=False)
def start_flow(flow, message):
    """Let the bytes of a message begin to flow: add it to its bundle."""
    messages, bundles = flow.messages, flow.bundles
    bundle = messages[u(message)].bundle
    # 1. A message without bytes, or on a path without limited resources, arrives with its latency.
    if messages[u(message)].bytes == 0.0 or bundles[u(bundle)].num_crossings == 0:
        _complete_message(flow, message)
        return
    # 2. An empty bundle begins to serve now: the time without messages does not count.
    if bundles[u(bundle)].num_messages == 0:
        bundles[u(bundle)].served = 0.0
        bundles[u(bundle)].rate = 0.0
        bundles[u(bundle)].served_at = flow.reals[at.NOW]
        bundles[u(bundle)].head = -1
        bundles[u(bundle)].tail = -1
        enter_resources(flow, bundle)
    else:
        _update_served(flow, bundle)
    # 3. All messages of a bundle are served at one rate, so the order of their ends never changes.
    #    Insert the message into the list by `served_at_end`, from behind, where it belongs if all
    #    messages have one size.
    served_at_end = bundles[u(bundle)].served + messages[u(message)].bytes
    previous = bundles[u(bundle)].tail
    following = np.int32(-1)
    while previous >= 0 and messages[u(previous)].served_at_end > served_at_end:
        following = previous
        previous = messages[u(previous)].previous
    messages[u(message)].served_at_end = served_at_end
    messages[u(message)].previous = previous
    messages[u(message)].following = following
    if previous >= 0:
        messages[u(previous)].following = message
    else:
        bundles[u(bundle)].head = message
    if following >= 0:
        messages[u(following)].previous = message
    else:
        bundles[u(bundle)].tail = message
    bundles[u(bundle)].num_messages += 1
    mark_changed(flow, bundle)


@helper(_nrt=False)
def finish_messages(flow):
    """End the first message of the bundle that finishes first, and those that end with it."""
    messages, bundles = flow.messages, flow.bundles
    bundle = pop_finish(flow)
    message = bundles[u(bundle)].head
    bundles[u(bundle)].served = messages[u(message)].served_at_end
    bundles[u(bundle)].served_at = flow.reals[at.NOW]
    # All messages of the bundle that end before the time step does end now, with the first one.
    rest_of_step = (flow.reals[at.STEP_END] - flow.reals[at.NOW]) * bundles[u(bundle)].rate
    served_at_step_end = bundles[u(bundle)].served + rest_of_step
    while message >= 0 and messages[u(message)].served_at_end <= served_at_step_end:
        following = messages[u(message)].following
        bundles[u(bundle)].num_messages -= 1
        _complete_message(flow, message)
        message = following
    bundles[u(bundle)].head = message
    if message >= 0:
        messages[u(message)].previous = -1
    else:  # the bundle is empty
        bundles[u(bundle)].tail = -1
        leave_resources(flow, bundle)
    mark_changed(flow, bundle)


@helper(_nrt=False)
def update_rates(flow):
    """Give bundles their max-min fair rates from now on, and reschedule the ends of messages."""
    bundles, resources, messages = flow.bundles, flow.resources, flow.messages
    for k in range(recompute_shares(flow)):
        bundle = flow.affected_bundles[u(k)]
        bottleneck, new_rate = bundles[u(bundle)].new_bottleneck, bundles[u(bundle)].new_rate
        if bottleneck != bundles[u(bundle)].bottleneck:
            if bundles[u(bundle)].bottleneck >= 0:
                resources[u(bundles[u(bundle)].bottleneck)].num_bottlenecked -= 1
            resources[u(bottleneck)].num_bottlenecked += 1
            bundles[u(bundle)].bottleneck = bottleneck
        # The first message ends at the same time as before.
        if new_rate == bundles[u(bundle)].rate and bundles[u(bundle)].changed == 0:
            continue
        # The old rate holds until now, the new one from now on.
        bundles[u(bundle)].changed = 0
        _update_served(flow, bundle)
        bundles[u(bundle)].rate = new_rate
        head = bundles[u(bundle)].head
        remaining = max(messages[u(head)].served_at_end - bundles[u(bundle)].served, 0.0)
        bundles[u(bundle)].finish_time = flow.reals[at.NOW] + remaining / new_rate
        schedule_finish(flow, bundle)
