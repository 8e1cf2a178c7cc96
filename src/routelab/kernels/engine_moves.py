"""Allocation in the packet engine: inputs propose, outputs take, units move."""

from __future__ import annotations

import numpy as np
from numba import njit

from routelab.kernels import engine_layout as at
from routelab.kernels import hops as of
from routelab.kernels.engine_layout import draw, mark, mark_if, marked, prefetch, u
from routelab.kernels.engine_tallies import count_arrival
from routelab.kernels.engine_waiting import release, sleep

BUSY_LINK, NO_ROOM = -3, -2
"""Why a candidate cannot be taken now; `LEAVES` stands for the way out."""

_ROUND = 1 << 30


@njit(_nrt=False, forceinline=True)
def _is_free(holder, now):
    """Whether no packet holds a virtual channel; one that was left is free in the next cycle."""
    return holder <= 0 and -holder <= now


@njit(_nrt=False, forceinline=True)
def _place(engine, out, first, kind, now, wormhole):
    """The queue that a candidate means now, or why there is none."""
    outputs, room = engine.outputs, engine.room
    if outputs[u(out)].free_at > now + outputs[u(out)].slack or outputs[u(out)].taken_until > now:
        return BUSY_LINK
    if first == at.LEAVES:
        return at.LEAVES
    most = (kind & at.NEED) - 1
    found = NO_ROOM
    for queue in range(first, first + (kind >> at.LANES)):
        known = np.int64(room[u(queue)].credits)
        # a lane that is held by another packet has no room for this one
        if known > most and (
            not wormhole or kind & at.BODY != 0 or _is_free(engine.more[u(queue)].holder, now)
        ):
            most = known
            found = queue
    return found


@njit(_nrt=False, forceinline=True)
def _choose(engine, queue, now):
    """Take the best candidate that is feasible among several.

    Returns the queue behind it, `LEAVES` excluded (what leaves has one candidate), or `NO_ROOM`.
    """
    queues, room, candidates = engine.queues, engine.room, engine.candidates
    wormhole = engine.setting[at.S_UNITS] > 1
    weigh = engine.setting[at.S_OCCUPANCY] != 0
    best = NO_ROOM
    least, ties = np.int64(0), np.uint64(0)
    begin = queue * engine.setting[at.S_MOST]
    for k in range(begin, begin + queues[u(queue)].choices):
        out = candidates[u(k)].out
        kind = candidates[u(k)].kind
        place = _place(engine, out, candidates[u(k)].first, kind, now, wormhole)
        if place < 0:
            continue
        cost = np.int64(candidates[u(k)].penalty)
        if weigh:
            cost += room[u(place)].capacity - room[u(place)].credits
        if best >= 0 and cost == least:
            # each of the equals is equally likely
            ties += np.uint64(1)
            if of.pick(draw(engine.random, 0, 0), ties + np.uint64(1)) != 0:
                continue
        elif best >= 0 and cost > least:
            continue
        else:
            ties = np.uint64(0)
        least = cost
        best = place
        queues[u(queue)].out = out
        queues[u(queue)].kind = kind
    return best


@njit(_nrt=False, forceinline=True)
def _rank(engine, round_, queue):
    """What is least goes first."""
    mode = engine.setting[at.S_PRIORITY]
    if mode == at.AGE:
        slot = queue * engine.setting[at.S_CAPACITY] + engine.queues[u(queue)].front
        return np.int64(engine.packets[u(engine.slots[u(slot)].packet)].born)
    if mode == at.ROUND_ROBIN:
        # from the one whose turn it is upwards, then the ones before it
        return round_ if round_ >= 0 else round_ + _ROUND
    return of.pick(draw(engine.random, 0, 0), np.uint64(1 << 30))


@njit(_nrt=False, forceinline=True)
def _propose(engine, begin, end, now, last):
    """Let every input port propose one of its queues, and return how many did.

    What cannot move goes to sleep in the `last` allocation of a cycle; it is −1 in `active` then.
    """
    queues, inputs, active, proposals = (
        engine.queues,
        engine.inputs,
        engine.active,
        engine.proposals,
    )
    wormhole = engine.setting[at.S_UNITS] > 1
    made, latest = -1, -1
    for k in range(begin, end):
        queue, port = active[u(k), 0], active[u(k), 1]
        if queue < 0 or inputs[u(port)].free_at > now:
            continue
        if queues[u(queue)].choices == 1:
            kind = np.int64(queues[u(queue)].kind)
            place = np.int64(
                _place(engine, queues[u(queue)].out, queues[u(queue)].first, kind, now, wormhole)
            )
        else:
            place = np.int64(_choose(engine, queue, now))
            if place >= 0:
                prefetch(queues, place)
                prefetch(engine.slots, place * engine.setting[at.S_CAPACITY])
        if place < at.LEAVES:
            if last:
                sleep(engine, queue, port, now)
                active[u(k), 0] = -1
            continue
        rank = _rank(engine, np.int64(queue - inputs[u(port)].turn), queue)
        # the queues of a port follow one another
        if port != latest:
            latest = port
            made += 1
        elif rank >= proposals[u(made), 3]:
            continue
        proposals[u(made), 0] = k
        proposals[u(made), 1] = place
        proposals[u(made), 2] = queues[u(queue)].out
        proposals[u(made), 3] = rank
    return made + 1


@njit(_nrt=False, forceinline=True)
def _grant(engine, made, now):
    """Let every output take one proposal, and move what was taken."""
    inputs, outputs, active, proposals = (
        engine.inputs,
        engine.outputs,
        engine.active,
        engine.proposals,
    )
    for j in range(made):
        queue, port = active[u(proposals[j, 0]), 0], active[u(proposals[j, 0]), 1]
        out = proposals[u(j), 2]
        rank = _rank(engine, np.int64(port - outputs[u(out)].turn), queue)
        proposals[u(j), 3] = rank
        best = outputs[u(out)].choice
        # an old choice may be any number; it counts if it is a proposal of this round for `out`
        if best >= j or proposals[u(best), 2] != out or rank < proposals[u(best), 3]:
            outputs[u(out)].choice = j
    for j in range(made):
        out = proposals[u(j), 2]
        if outputs[u(out)].choice != j:
            continue
        entry = proposals[u(j), 0]
        queue, port = active[u(entry), 0], active[u(entry), 1]
        outputs[u(out)].turn = port + 1
        inputs[u(port)].turn = queue + 1
        _move(engine, queue, port, out, proposals[u(j), 1], now)
        active[u(entry), 0] = -1


@njit(_nrt=False, forceinline=True)
def allocate(engine, begin, end, now):
    """Input first, output second, as often as the speed-up says.

    All switches of a block at once: what one does has no bearing on another in the same cycle.
    """
    active, inputs = engine.active, engine.inputs
    speedup, mask = engine.setting[at.S_SPEEDUP], engine.setting[at.S_MASK]
    for turn in range(speedup):
        _grant(engine, _propose(engine, begin, end, now, turn == speedup - 1), now)
    for k in range(begin, end):
        queue = active[u(k), 0]
        if queue >= 0:
            # who was not taken tries again
            again = max(now + 1, np.int64(inputs[u(active[u(k), 1])].free_at))
            mark(engine.heads, again & mask, queue)


@njit(_nrt=False, forceinline=True)
def _move(engine, queue, port, out, place, now):
    """Send the unit at the front of a queue over a port to the queue `place`, or out."""
    queues, more, slots, packets = engine.queues, engine.more, engine.slots, engine.packets
    inputs, outputs, room = engine.inputs, engine.outputs, engine.room
    setting, totals = engine.setting, engine.totals
    capacity, mask, units = setting[at.S_CAPACITY], setting[at.S_MASK], setting[at.S_UNITS]
    front = queues[u(queue)].front
    packet = slots[u(queue * capacity + front)].packet
    start = max(now, np.int64(outputs[u(out)].free_at))
    outputs[u(out)].free_at = start + outputs[u(out)].busy
    hold = np.int64(outputs[u(out)].hold)
    if setting[at.S_SPEEDUP] > 1:
        # a buffer is not read faster than it is filled
        age = now - slots[u(queue * capacity + front)].ready
        hold = max(hold, setting[at.S_UNIT_FLITS] - age if setting[at.S_UNIT_FLITS] > 1 else 0)
    inputs[u(port)].free_at = now + hold
    outputs[u(out)].taken_until = now + hold
    # the unit leaves its buffer
    front += 1
    queues[u(queue)].front = front if front < capacity else 0
    queues[u(queue)].count -= 1
    credit_at = now + max(hold, 1) - 1 + inputs[u(port)].credit_delay
    # one credit of a queue a cycle
    while marked(engine.credits, credit_at & mask, queue):
        credit_at += 1
    mark(engine.credits, credit_at & mask, queue)
    # under cut-through every unit is a packet, and nobody counts
    sent = np.int64(more[u(queue)].sent) if units > 1 else 0
    head, tail = sent == 0, sent + 1 == units
    if place == at.LEAVES:
        if tail:
            count_arrival(engine, packet, start + setting[at.S_EJECT_DELAY])
    else:
        if head:
            packets[u(packet)].hops += 1
            if packets[u(packet)].hops > setting[at.S_MAX_HOPS] and totals[at.LOST] == 0:
                totals[at.LOST] = 1 + packet
            if queues[u(queue)].kind & at.ESCAPES != 0:
                totals[at.ESCAPE_HOPS] += 1
        totals[at.UNIT_HOPS] += 1
        room[u(place)].credits -= 1
        queues[u(place)].units += 1
        slot = queues[u(place)].front + queues[u(place)].count
        if slot >= capacity:
            slot -= capacity
        ready = start + outputs[u(out)].delay
        slots[u(place * capacity + slot)].packet = packet
        slots[u(place * capacity + slot)].ready = ready
        queues[u(place)].count += 1
        mark_if(engine.heads, ready & mask, place, queues[u(place)].count == 1)
    if tail:
        queues[u(queue)].choices = 0
        if units > 1:
            more[u(queue)].sent = 0
            if place != at.LEAVES:
                more[u(place)].holder = -(now + 1)
                release(engine, place, inputs[u(port)].switch, now + 1)
    else:
        more[u(queue)].sent += 1
        if head:
            # the rest follows on the same way
            queues[u(queue)].choices = 1
            queues[u(queue)].first = place
            queues[u(queue)].kind = (1 << at.LANES) | at.BODY | 1
            if place != at.LEAVES:
                more[u(place)].holder = 1 + queue
    following = np.int64(slots[u(queue * capacity + queues[u(queue)].front)].ready)
    following = max(following, np.int64(now + max(hold, 1)))
    mark_if(engine.heads, following & mask, queue, queues[u(queue)].count > 0)
