"""Waiting queues of the packet engine, and their wake-up."""

from __future__ import annotations

import numpy as np

from routelab.kernels.bits import lowest, mark, u
from routelab.kernels.jit import inline
from routelab.simulation.packet.kernels import layout as at
from routelab.simulation.packet.kernels.candidate_ranking import class_units
from routelab.simulation.packet.kernels.candidates import has_space, idle_time, next_change


@inline
def _watch_bit(engine, port, first):
    """Return the bit for the class of virtual channels of a channel; others may have the same."""
    vc_class = np.int64(engine.class_of[u(first - port * engine.setting[at.S_VCS])])
    return np.uint64(1) << np.uint64((port + 13 * vc_class) & 63)


@inline
def watch_candidates(engine, queue):
    """Let a queue that stalls wake up when one of its candidates changes.

    Updates all of its watch. A packet that stalls again has the same.
    """
    candidates, watches = engine.candidates, engine.watches
    begin = queue * engine.setting[at.S_MAX_CANDIDATES]
    end = begin + engine.queues[u(queue)].choices
    lowest_penalty = np.int64(candidates[u(begin)].penalty)
    for place in range(begin + 1, end):
        lowest_penalty = min(lowest_penalty, np.int64(candidates[u(place)].penalty))
    near, far, gap = np.uint64(0), np.uint64(0), np.int64(at.NO_LIMIT)
    for place in range(begin, end):
        out, first_queue = np.int64(candidates[u(place)].out), np.int64(candidates[u(place)].first)
        bit = _watch_bit(engine, out, first_queue)
        more = candidates[u(place)].penalty - lowest_penalty
        # which candidates are near is hard to predict, so no branch depends on it
        near |= bit if more == 0 else np.uint64(0)
        far |= bit if more != 0 else np.uint64(0)
        gap = min(gap, more if more != 0 else np.int64(at.NO_LIMIT))
    watches[u(queue)].near, watches[u(queue)].far = near, far
    watches[u(queue)].most, watches[u(queue)].gap = at.NO_LIMIT, gap
    watches[u(queue)].lowest = lowest_penalty


@inline
def _watch_all(engine, queue):
    """Let a stalled queue wake up when anything changes at its switch."""
    engine.watches[u(queue)].near = ~np.uint64(0)
    engine.watches[u(queue)].most = at.NO_LIMIT


@inline
def wake_stalled(engine, place, switch, row):
    """Wake the stalled queues of a switch that may move as the queue `place` has changed."""
    if engine.num_stalled[u(switch)] == 0:
        return
    queues, stalled, watches = engine.queues, engine.stalled, engine.watches
    port, vcs = np.int64(queues[u(place)].port), engine.setting[at.S_VCS]
    changed = _watch_bit(engine, port, place)
    # most changes are of no queue's interest
    if engine.watched[u(switch)] & changed == np.uint64(0):
        return
    vc_class = engine.class_of[u(place - port * vcs)]
    units = class_units(engine, port, np.int64(vc_class))
    first_queue = np.int64(engine.switch_ports[u(switch)]) * vcs
    last_queue = np.int64(engine.switch_ports[u(switch + 1)]) * vcs - 1
    awake, watched = 0, np.uint64(0)
    for word in range(first_queue >> 6, (last_queue >> 6) + 1):
        bits = stalled[u(word)]
        if word == first_queue >> 6:
            bits &= ~np.uint64(0) << np.uint64(first_queue & 63)
        if word == last_queue >> 6:
            bits &= ~np.uint64(0) >> np.uint64(63 - (last_queue & 63))
        woken = np.uint64(0)
        while bits != np.uint64(0):
            queue = (word << 6) + lowest(bits)
            bit = bits & (~bits + np.uint64(1))
            bits ^= bit
            watched |= watches[u(queue)].near | watches[u(queue)].far
            max_units = np.int64(watches[u(queue)].most)
            if units > max_units:
                continue
            near = watches[u(queue)].near & changed != np.uint64(0)
            far = watches[u(queue)].far & changed != np.uint64(0)
            if near or (
                far and (max_units == at.NO_LIMIT or units <= max_units - watches[u(queue)].gap)
            ):
                woken |= bit
                awake += 1
                queues[u(queue)].waiting = 0
        stalled[u(word)] ^= woken
        engine.scheduled[u(row), u(word)] |= woken
    engine.num_stalled[u(switch)] -= awake
    engine.watched[u(switch)] = watched


@inline
def wake_rankers(engine, place, switch, row):
    """Wake the stalled queues of a switch whose choice may differ as the queue `place` is shorter.

    A candidate without room in a FIFO cannot be taken, however short it is.
    """
    vcs = engine.setting[at.S_VCS]
    port = np.int64(engine.queues[u(place)].port)
    vc_class = engine.class_of[u(place - port * vcs)]
    first_queue = port * vcs + engine.classes[vc_class, 0]
    if has_space(engine, first_queue, np.int64(engine.classes[vc_class, 1]) << at.NUM_VCS):
        wake_stalled(engine, place, switch, row)


@inline
def wake_for(engine, place, switch, row):
    """Wake the queues of a switch that may wait for room in the queue `place`."""
    queues, scheduled, senders = engine.queues, engine.scheduled, engine.senders
    waiting = senders[u(place)].wait_first
    if waiting >= 0:
        senders[u(place)].wait_first = -1
        while waiting >= 0:
            queues[u(waiting)].waiting = 0
            mark(scheduled, row, waiting)
            waiting = engine.more[u(waiting)].wait_next
    wake_stalled(engine, place, switch, row)


@inline
def _add_stalled(engine, queue, port):
    """Add a queue to the stalled ones of its switch."""
    engine.queues[u(queue)].waiting = 2
    engine.stalled[queue >> 6] |= np.uint64(1) << np.uint64(queue & 63)
    switch = engine.inputs[u(port)].switch
    engine.num_stalled[u(switch)] += 1
    engine.watched[u(switch)] |= engine.watches[u(queue)].near | engine.watches[u(queue)].far


@inline
def stall(engine, entry, queue, port, now):
    """Let the queue of an entry of `active` wait until its state may change."""
    queues, again = engine.queues, engine.setting[at.S_AGAIN]
    mask, count = engine.setting[at.S_WHEEL_MASK], np.int64(queues[u(queue)].choices)
    if again == at.CALL_AGAIN or (again == at.RANK_AGAIN and count > 1):
        # the choice may differ in the next cycle
        mark(engine.scheduled, (now + 1) & mask, queue)
        return
    fixed = engine.setting[at.S_FIXED] != 0
    if fixed and count > 1 and engine.watches[u(queue)].near == np.uint64(0):
        watch_candidates(engine, queue)
    if again == at.RANK_ON_CHANGE and count > 1:
        soonest = next_change(engine, entry, queue, now)
        if soonest >= 0:
            mark(engine.scheduled, soonest & mask, queue)
    elif count == 1:
        out, first_queue = np.int64(queues[u(queue)].out), np.int64(queues[u(queue)].first)
        idle = idle_time(engine.outputs, out)
        if idle > now:
            mark(engine.scheduled, idle & mask, queue)
            return
        if queues[u(queue)].kind >> at.NUM_VCS == 1:
            engine.more[u(queue)].wait_next = engine.senders[u(first_queue)].wait_first
            engine.senders[u(first_queue)].wait_first = queue
            queues[u(queue)].waiting = 1
            return
        _watch_all(engine, queue)
    else:
        soonest = np.int64(-1)
        for k in range(count):
            candidate = engine.candidates[u(queue * engine.setting[at.S_MAX_CANDIDATES] + k)]
            idle = idle_time(engine.outputs, np.int64(candidate.out))
            if (
                idle > now
                and (soonest < 0 or idle < soonest)
                and (
                    not fixed
                    or has_space(engine, np.int64(candidate.first), np.int64(candidate.kind))
                )
            ):
                soonest = idle
        if soonest >= 0:
            mark(engine.scheduled, soonest & mask, queue)
        if not fixed:
            _watch_all(engine, queue)
    _add_stalled(engine, queue, port)
