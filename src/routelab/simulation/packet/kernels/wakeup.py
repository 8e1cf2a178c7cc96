"""Waiting queues of the packet engine, and their wake-up.

A queue whose front packet cannot move waits in one of three ways (`stall`):

    a cycle             scheduled for the time when its channel is idle
    a waiting list      one candidate with one virtual channel: in the list of that queue
    the stalled         several virtual channels or candidates: its *watch* says which changes of
                        which candidates may let it move

A candidate is *low* if it has the least penalty of the packet's candidates, otherwise *high*.
"""

from __future__ import annotations

import numpy as np

from routelab.kernels.bits import lowest, mark, u
from routelab.kernels.jit import inline
from routelab.simulation.packet.kernels import layout as at
from routelab.simulation.packet.kernels.candidate_ranking import class_units
from routelab.simulation.packet.kernels.candidates import has_space, next_change, output_ready_at


@inline
def _watch_bit(engine, port, queue):
    """Return the bit of the class of virtual channels that a queue of a port belongs to.

    A hash: other classes and ports may have the same bit, so a queue may be woken for nothing.
    """
    vc_class = np.int64(engine.class_of[u(queue - port * engine.setting[at.S_VCS])])
    return np.uint64(1) << np.uint64((port + 13 * vc_class) & 63)


@inline
def watch_candidates(engine, queue):
    """Let a queue that stalls wake up when one of its candidates changes.

    Called when its packet stalls for the first time; updates all fields of its watch. They stay
    valid if the packet stalls again, because its candidates are fixed; only `max_units` changes.
    """
    candidates, watches = engine.candidates, engine.watches
    begin = queue * engine.setting[at.S_MAX_CANDIDATES]
    end = begin + engine.queues[u(queue)].num_candidates
    least_penalty = np.int64(candidates[u(begin)].penalty)
    for k in range(begin + 1, end):
        least_penalty = min(least_penalty, np.int64(candidates[u(k)].penalty))
    low_bits, high_bits, gap = np.uint64(0), np.uint64(0), np.int64(at.NO_LIMIT)
    for k in range(begin, end):
        out_port = np.int64(candidates[u(k)].out_port)
        first_queue = np.int64(candidates[u(k)].first_queue)
        bit = _watch_bit(engine, out_port, first_queue)
        excess = candidates[u(k)].penalty - least_penalty
        # the processor would predict badly which candidates are low, so no branch depends on it
        low_bits |= bit if excess == 0 else np.uint64(0)
        high_bits |= bit if excess != 0 else np.uint64(0)
        # from the least penalty to the second least; NO_LIMIT if all are equal
        gap = min(gap, excess if excess != 0 else np.int64(at.NO_LIMIT))
    watches[u(queue)].low_penalty_bits, watches[u(queue)].high_penalty_bits = low_bits, high_bits
    watches[u(queue)].max_units, watches[u(queue)].penalty_gap = at.NO_LIMIT, gap
    watches[u(queue)].least_penalty = least_penalty


@inline
def _watch_all(engine, queue):
    """Let a stalled queue wake up when anything changes at its switch."""
    engine.watches[u(queue)].low_penalty_bits = ~np.uint64(0)
    engine.watches[u(queue)].max_units = at.NO_LIMIT


@inline
def wake_stalled(engine, changed_queue, switch, row):
    """Wake the stalled queues of a switch that may move because `changed_queue` behind it changed.

    Updates `engine.scheduled` in `row`, the row of the cycle in which they are examined.
    """
    if engine.num_stalled[u(switch)] == 0:
        return
    queues, stalled, watches = engine.queues, engine.stalled, engine.watches
    port, vcs = np.int64(queues[u(changed_queue)].port), engine.setting[at.S_VCS]
    changed_bit = _watch_bit(engine, port, changed_queue)
    # The usual case: no stalled queue has this candidate.
    if engine.watched_bits[u(switch)] & changed_bit == np.uint64(0):
        return
    vc_class = engine.class_of[u(changed_queue - port * vcs)]
    units = class_units(engine, port, np.int64(vc_class))
    first_queue = np.int64(engine.switch_ports[u(switch)]) * vcs
    last_queue = np.int64(engine.switch_ports[u(switch + 1)]) * vcs - 1
    # The queues of a switch are consecutive bits of `stalled`. Its first and its last word may also
    # have bits of other switches, which are masked.
    num_woken, watched_bits = 0, np.uint64(0)
    for word in range(first_queue >> 6, (last_queue >> 6) + 1):
        bits = stalled[u(word)]
        if word == first_queue >> 6:  # clear the bits below `first_queue`
            bits &= ~np.uint64(0) << np.uint64(first_queue & 63)
        if word == last_queue >> 6:  # clear the bits above `last_queue`
            bits &= ~np.uint64(0) >> np.uint64(63 - (last_queue & 63))
        woken = np.uint64(0)
        while bits != np.uint64(0):
            queue = (word << 6) + lowest(bits)
            bit = bits & (~bits + np.uint64(1))  # the lowest bit alone
            bits ^= bit
            watched_bits |= watches[u(queue)].low_penalty_bits | watches[u(queue)].high_penalty_bits
            max_units = np.int64(watches[u(queue)].max_units)
            if units > max_units:  # too long to be the best candidate, whatever its penalty
                continue
            # With a limit, a candidate matters only if it may be the best now: a low one with at
            # most `max_units`, a high one with fewer by the difference of the penalties.
            is_low = watches[u(queue)].low_penalty_bits & changed_bit != np.uint64(0)
            is_high = watches[u(queue)].high_penalty_bits & changed_bit != np.uint64(0)
            if is_low or (
                is_high
                and (max_units == at.NO_LIMIT or units <= max_units - watches[u(queue)].penalty_gap)
            ):
                woken |= bit
                num_woken += 1
                queues[u(queue)].wait_state = at.NOT_WAITING
        stalled[u(word)] ^= woken
        engine.scheduled[u(row), u(word)] |= woken
    engine.num_stalled[u(switch)] -= num_woken
    # Bits of queues that were woken earlier, which others may not watch, are gone now.
    engine.watched_bits[u(switch)] = watched_bits


@inline
def wake_for_shorter_queue(engine, shorter_queue, switch, row):
    """Wake the stalled queues of a switch for which a shorter queue may be the best candidate now.

    If its class has no room in the FIFOs, it cannot be taken, however short it is: nobody wakes.
    They are examined in the cycle of `row` of `engine.scheduled`.
    """
    vcs = engine.setting[at.S_VCS]
    port = np.int64(engine.queues[u(shorter_queue)].port)
    vc_class = engine.class_of[u(shorter_queue - port * vcs)]
    first_queue = port * vcs + engine.classes[vc_class, at.FIRST_VC]
    num_vcs = np.int64(engine.classes[vc_class, at.VC_COUNT])
    if has_space(engine, first_queue, num_vcs << at.VCS_SHIFT):
        wake_stalled(engine, shorter_queue, switch, row)


@inline
def wake_for_room(engine, freed_queue, switch, row):
    """Wake the queues of a switch that may wait for room in `freed_queue`.

    They are examined in the cycle of `row` of `engine.scheduled`.
    """
    queues, scheduled, senders = engine.queues, engine.scheduled, engine.senders
    waiter = senders[u(freed_queue)].first_waiter
    if waiter >= 0:
        senders[u(freed_queue)].first_waiter = -1
        while waiter >= 0:
            queues[u(waiter)].wait_state = at.NOT_WAITING
            mark(scheduled, row, waiter)
            waiter = engine.queue_extra[u(waiter)].next_waiter
    wake_stalled(engine, freed_queue, switch, row)


@inline
def _add_stalled(engine, queue, port):
    """Add a queue to the stalled ones of its switch."""
    engine.queues[u(queue)].wait_state = at.STALLED
    engine.stalled[queue >> 6] |= np.uint64(1) << np.uint64(queue & 63)
    switch = engine.inputs[u(port)].switch
    engine.num_stalled[u(switch)] += 1
    engine.watched_bits[u(switch)] |= (
        engine.watches[u(queue)].low_penalty_bits | engine.watches[u(queue)].high_penalty_bits
    )


@inline
def stall(engine, entry, queue, port, now):
    """Let the queue of an `entry` of `active` wait until its packet may be able to move.

    It waits for the cycle in which an output is ready, for room, or for both: scheduled in that
    cycle, in a waiting list, or with a watch.
    """
    queues, repeat = engine.queues, engine.setting[at.S_REPEAT]
    wheel_mask, count = engine.setting[at.S_WHEEL_MASK], np.int64(queues[u(queue)].num_candidates)
    if repeat == at.ROUTE_EACH_CYCLE or (repeat == at.RANK_EACH_CYCLE and count > 1):
        # Its candidates or their ranking may differ in every cycle: examine it in the next one.
        mark(engine.scheduled, (now + 1) & wheel_mask, queue)
        return
    # 1. The watch of a packet that stalls for the first time: `route_packet` has set its bits to 0.
    fixed = engine.setting[at.S_FIXED_CANDIDATES] != 0
    if fixed and count > 1 and engine.watches[u(queue)].low_penalty_bits == np.uint64(0):
        watch_candidates(engine, queue)
    # 2. The cycle in which the packet may move without an event: it is scheduled for it.
    if repeat == at.RANK_ON_CHANGE and count > 1:
        soonest = next_change(engine, entry, queue, now)
        if soonest >= 0:
            mark(engine.scheduled, soonest & wheel_mask, queue)
    elif count == 1:
        out_port = np.int64(queues[u(queue)].out_port)
        first_queue = np.int64(queues[u(queue)].first_queue)
        ready_at = output_ready_at(engine.outputs, out_port)
        # Whether there is room is found out then: the queue waits for one thing at a time.
        if ready_at > now:
            mark(engine.scheduled, ready_at & wheel_mask, queue)
            return
        # The output is ready, so a virtual channel is missing: full, or held by another packet. If
        # there is only one to wait for, the queue joins its list; otherwise any change at the
        # switch wakes it.
        if queues[u(queue)].vc_request >> at.VCS_SHIFT == 1:
            engine.queue_extra[u(queue)].next_waiter = engine.senders[u(first_queue)].first_waiter
            engine.senders[u(first_queue)].first_waiter = queue
            queues[u(queue)].wait_state = at.IN_WAITING_LIST
            return
        _watch_all(engine, queue)
    else:
        soonest = np.int64(-1)
        for k in range(count):
            candidate = engine.candidates[u(queue * engine.setting[at.S_MAX_CANDIDATES] + k)]
            ready_at = output_ready_at(engine.outputs, np.int64(candidate.out_port))
            first_queue = np.int64(candidate.first_queue)
            vc_request = np.int64(candidate.vc_request)
            # With fixed candidates the watch sees when a candidate gets space. Without space, the
            # packet cannot move when the channel is idle.
            if (
                ready_at > now
                and (soonest < 0 or ready_at < soonest)
                and (not fixed or has_space(engine, first_queue, vc_request))
            ):
                soonest = ready_at
        if soonest >= 0:
            mark(engine.scheduled, soonest & wheel_mask, queue)
        if not fixed:
            _watch_all(engine, queue)
    # 3. The events for which it waits.
    _add_stalled(engine, queue, port)
