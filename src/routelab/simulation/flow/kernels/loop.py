"""Main loop of the flow engine, from event to event.

`at` is the module `layout`, which describes all arrays of `flow`. `u` makes an index unsigned, so
that Numba omits the check for negative ones.
"""

from __future__ import annotations

from numba import njit, types

from routelab.kernels.bits import u
from routelab.kernels.jit import helper
from routelab.simulation.flow.kernels import layout as at
from routelab.simulation.flow.kernels.events import pop_event
from routelab.simulation.flow.kernels.messages import finish_messages, start_flow, update_rates
from routelab.simulation.flow.kernels.ranks import run_rank


@helper(_nrt=False)
def _next_event_time(flow):
    """Return the time of the next event; infinity if none is left."""
    time = flow.event_time[0] if flow.ints[at.NUM_EVENTS] > 0 else at.NEVER
    if flow.ints[at.NUM_FINISHES] > 0:
        time = min(time, flow.bundles[u(flow.finish_heap[0])].finish_time)
    return time


@helper(_nrt=False)
def _process_next_event(flow):
    """Process the next event: messages that end, a message that begins to flow, or a rank."""
    # Of simultaneous events, ends of messages come first.
    finishes = flow.ints[at.NUM_FINISHES] > 0
    if finishes and (
        flow.ints[at.NUM_EVENTS] == 0
        or flow.bundles[u(flow.finish_heap[0])].finish_time <= flow.event_time[0]
    ):
        flow.reals[at.NOW] = flow.bundles[u(flow.finish_heap[0])].finish_time
        finish_messages(flow)
        return
    flow.reals[at.NOW] = flow.event_time[0]
    event = pop_event(flow)
    if event >= 0:  # a message
        start_flow(flow, event)
    else:
        rank = -1 - event
        flow.ready_ranks[u(flow.ints[at.NUM_READY])] = rank
        flow.ints[at.NUM_READY] += 1


@njit(
    [types.int64(at.FLOW, types.int64)], cache=True, nogil=True, no_cfunc_wrapper=True, _nrt=False
)
def run_time_steps(flow, max_steps):
    """Run up to `max_steps` time steps; return why it stopped: FINISHED, STUCK, PAUSED or FULL_...

    A time step is a time with events: all of them are processed before the shares are computed,
    once. After FULL_MESSAGES or FULL_RING, the caller enlarges `messages` or `ring` and calls
    again. Updated are all arrays of `flow`.
    """
    ints, reals = flow.ints, flow.reals
    last_step = ints[at.TIME_STEPS] + max_steps
    while True:
        # 1. Ranks that can continue run ahead to the operations in which they wait.
        while ints[at.NUM_READY] > 0:
            if ints[at.NUM_FREE] < at.BURST:
                return at.FULL_MESSAGES
            rank = flow.ready_ranks[u(ints[at.NUM_READY]) - u(1)]
            ints[at.NUM_READY] -= 1
            if not run_rank(flow, rank):
                # The rank continues from here when the caller has made room.
                flow.ready_ranks[u(ints[at.NUM_READY])] = rank
                ints[at.NUM_READY] += 1
                return at.FULL_RING
        # 2. The events of this time step, one by one. Each can make ranks ready.
        if _next_event_time(flow) <= reals[at.STEP_END]:
            _process_next_event(flow)
            continue
        # 3. The next time step. No event is left: all ranks have ended, or wait for each other.
        update_rates(flow)
        time = _next_event_time(flow)
        if time == at.NEVER:
            return at.FINISHED if ints[at.NUM_ENDED] == ints[at.S_RANKS] else at.STUCK
        if ints[at.TIME_STEPS] >= last_step:
            return at.PAUSED
        ints[at.TIME_STEPS] += 1
        reals[at.STEP_END] = time * (1.0 + at.TOLERANCE)
