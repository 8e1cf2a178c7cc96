"""Main loop of the flow engine, from event to event."""

from __future__ import annotations

from numba import njit, types

from routelab.kernels.bits import u
from routelab.kernels.jit import helper
from routelab.simulation.flow.kernels import layout as at
from routelab.simulation.flow.kernels.events import pop_event
from routelab.simulation.flow.kernels.messages import finish, share, start
from routelab.simulation.flow.kernels.ranks import run_rank


@helper(_nrt=False)
def _first(flow):
    """Return the time of the next event; infinity if none is left."""
    time = flow.event_time[0] if flow.ints[at.EVENTS] > 0 else at.NEVER
    if flow.ints[at.FINISHES] > 0:
        time = min(time, flow.bundles[u(flow.finishes[0])].finish)
    return time


@helper(_nrt=False)
def _process_first(flow):
    """Process the first event."""
    finishes = flow.ints[at.FINISHES] > 0
    if finishes and (
        flow.ints[at.EVENTS] == 0 or flow.bundles[u(flow.finishes[0])].finish <= flow.event_time[0]
    ):
        flow.reals[at.NOW] = flow.bundles[u(flow.finishes[0])].finish
        finish(flow)
        return
    flow.reals[at.NOW] = flow.event_time[0]
    event = pop_event(flow)
    if event >= 0:
        start(flow, event)
    else:
        flow.ready[u(flow.ints[at.READY_RANKS])] = -1 - event
        flow.ints[at.READY_RANKS] += 1


@njit(
    [types.int64(at.FLOW, types.int64)], cache=True, nogil=True, no_cfunc_wrapper=True, _nrt=False
)
def run_time_steps(flow, max_steps):
    """Run up to `max_steps` time steps; return why it stopped: FINISHED, STUCK, PAUSED or FULL_...

    After FULL_... the caller makes room and calls again. A time step is a time with events: all of
    them are processed before the shares are computed, once.
    """
    ints, reals = flow.ints, flow.reals
    last_step = ints[at.TIME_STEPS] + max_steps
    while True:
        while ints[at.READY_RANKS] > 0:
            if ints[at.FREE] < at.BURST:
                return at.FULL_MESSAGES
            rank = flow.ready[u(ints[at.READY_RANKS]) - u(1)]
            ints[at.READY_RANKS] -= 1
            if not run_rank(flow, rank):
                flow.ready[u(ints[at.READY_RANKS])] = rank
                ints[at.READY_RANKS] += 1
                return at.FULL_RING
        if _first(flow) <= reals[at.UNTIL]:
            _process_first(flow)
            continue
        share(flow)
        time = _first(flow)
        if time == at.NEVER:
            return at.FINISHED if ints[at.ENDED] == ints[at.S_RANKS] else at.STUCK
        if ints[at.TIME_STEPS] >= last_step:
            return at.PAUSED
        ints[at.TIME_STEPS] += 1
        reals[at.UNTIL] = time * (1.0 + at.TOLERANCE)
