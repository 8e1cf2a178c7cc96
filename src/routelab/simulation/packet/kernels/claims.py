"""Claims of ring lanes in the packet engine: bubble flow control without starvation.

A ring lane is one virtual channel of a complete ring under bubble flow control. A packet that has
waited longer than the patience for room to enter one joins the claims of the lane. The first of
them stands: only its packet may enter, and packets that go on along the ring leave room for two
in its buffer, unless they have yielded as long as the patience. The next claim is that of the
oldest packet if priority goes by age, otherwise the one made first. The manual has the proof.

Claims stand from the cycle after they were made, and until the end of the cycle in which their
packet moves. So the order in which switches are examined does not matter.
"""

from __future__ import annotations

import numpy as np

from routelab.kernels.bits import u
from routelab.kernels.jit import inline
from routelab.simulation.packet.kernels import layout as at
from routelab.simulation.packet.kernels.candidates import (
    BUSY_LINK,
    NO_ROOM,
    find_queue,
    idle_time,
)
from routelab.simulation.packet.kernels.waiting import sleep, sleep_until, wake_sleepers

_NEVER = 1 << 40


@inline
def find_room(engine, queue, out, first, kind, now, wormhole, claims):
    """Return what `find_queue` does, for the packet at the front of a queue, and under claims."""
    if not claims:
        return find_queue(engine, out, first, kind, now, wormhole)
    outputs, room = engine.outputs, engine.room
    if outputs[u(out)].free_at > now + outputs[u(out)].slack or outputs[u(out)].taken_until > now:
        return BUSY_LINK
    if first == at.LEAVES:
        return at.LEAVES
    most, found = (kind & at.NEED) - 1, NO_ROOM
    for place in range(first, first + (kind >> at.LANES)):
        known = np.int64(room[u(place)].credits)
        if known > most and _is_admitted(engine, queue, place, kind & at.NEED, now):
            most, found = known, place
    return found


@inline
def _is_admitted(engine, queue, place, need, now):
    """Return whether claims let the packet at the front of a queue into a buffer with room."""
    claims = engine.claims
    lane = np.int64(claims[u(place)].lane)
    if lane < 0:
        return True
    claimant = np.int64(claims[u(lane)].first)
    stands = claimant >= 0 and claims[u(lane)].begins <= now
    if need > 1:
        return claimant == queue if stands else claims[u(lane)].ended != now
    if not stands or claims[u(claimant)].place != place or engine.room[u(place)].credits > 2:
        return True
    since = np.int64(claims[u(queue)].since)
    return since >= 0 and now >= since + engine.setting[at.S_BUBBLE_PATIENCE]


@inline
def rest(engine, queue, port, now):
    """Let a queue that cannot move wait until its state may change, or until it may claim."""
    if engine.setting[at.S_BUBBLE_PATIENCE] == 0:
        sleep(engine, queue, port, now)
        return
    soonest = _press_claim(engine, queue, now)
    if soonest < 0:
        sleep(engine, queue, port, now)
    else:
        sleep_until(engine, queue, port, now, soonest)


@inline
def _press_claim(engine, queue, now):
    """Count the wait of a packet that claims concern, and claim when it is due.

    Returns when to examine the queue if nothing changes, or −1 if no claim concerns it.
    """
    queues, claims, outputs = engine.queues, engine.claims, engine.outputs
    patience = engine.setting[at.S_BUBBLE_PATIENCE]
    count = np.int64(queues[u(queue)].choices)
    begin = queue * engine.setting[at.S_MOST]
    single = count == 1 or engine.setting[at.S_AGAIN] >= at.RANK_AGAIN
    entry, lanes, rank = np.int64(-1), np.int64(0), 0
    concerned, valid, soonest = False, False, np.int64(_NEVER)
    for k in range(begin, begin + (1 if single else count)):
        if single:
            out, first = np.int64(queues[u(queue)].out), np.int64(queues[u(queue)].first)
            kind = np.int64(queues[u(queue)].kind)
        else:
            out, first = (
                np.int64(engine.candidates[u(k)].out),
                np.int64(engine.candidates[u(k)].first),
            )
            kind = np.int64(engine.candidates[u(k)].kind)
        idle = idle_time(outputs, out)
        if idle > now:
            soonest = min(soonest, idle)
        if first == at.LEAVES or claims[u(first)].lane < 0:
            continue
        if kind & at.NEED > 1:
            concerned = True
            for place in range(first, first + (kind >> at.LANES)):
                valid = valid or claims[u(place)].lane == claims[u(queue)].claimed
                if claims[u(claims[u(place)].lane)].ended == now:
                    soonest = now + 1
            if idle <= now and claims[u(queue)].since < 0:
                claims[u(queue)].since = now
            # an escape is free of deadlock, so it goes first
            if rank < 1 + (kind & at.ESCAPES):
                entry, lanes, rank = first, kind >> at.LANES, 1 + (kind & at.ESCAPES)
        elif idle <= now and engine.room[u(first)].credits > 0:
            # it could go on along its ring, but yields
            concerned = True
            if claims[u(queue)].since < 0:
                claims[u(queue)].since = now
            soonest = min(soonest, claims[u(queue)].since + patience)
    if claims[u(queue)].claimed >= 0 and not valid:
        # the packet no longer wants what it claimed
        _withdraw(engine, queue, now)
    if entry >= 0 and claims[u(queue)].claimed < 0 and claims[u(queue)].since >= 0:
        due = np.int64(claims[u(queue)].since + patience + 1)
        if due <= now:
            _claim(engine, queue, entry, lanes, now)
        else:
            soonest = min(soonest, due)
    return soonest if concerned else np.int64(-1)


@inline
def _claim(engine, queue, first, lanes, now):
    """Add a queue to the claims of the virtual channel with most room, the lowest of equals."""
    claims, room = engine.claims, engine.room
    best = first
    for place in range(first + 1, first + lanes):
        if room[u(place)].credits > room[u(best)].credits:
            best = place
    lane = np.int64(claims[u(best)].lane)
    claims[u(queue)].claimed, claims[u(queue)].place = lane, best
    claims[u(queue)].next = -1
    if claims[u(lane)].first < 0:
        claims[u(lane)].first = queue
        claims[u(lane)].begins = now + 1
        return
    last = np.int64(claims[u(lane)].first)
    while claims[u(last)].next >= 0:
        last = np.int64(claims[u(last)].next)
    claims[u(last)].next = queue


@inline
def end_claim(engine, queue, now):
    """End the wait of a packet that has moved, and its claim."""
    claims = engine.claims
    claims[u(queue)].since = -1
    if claims[u(queue)].claimed >= 0:
        _withdraw(engine, queue, now)


@inline
def _withdraw(engine, queue, now):
    """Remove a queue from the claims of a lane; if its claim stood, wake all who wait there."""
    claims, inputs = engine.claims, engine.inputs
    lane = np.int64(claims[u(queue)].claimed)
    following = claims[u(queue)].next
    claims[u(queue)].claimed = -1
    if claims[u(lane)].first != queue:
        before = np.int64(claims[u(lane)].first)
        while claims[u(before)].next != queue:
            before = np.int64(claims[u(before)].next)
        claims[u(before)].next = following
        return
    if claims[u(lane)].begins <= now:
        claims[u(lane)].ended = now
    claims[u(lane)].first = following
    if engine.setting[at.S_PRIORITY] == at.AGE:
        _promote_oldest(engine, lane)
    claims[u(lane)].begins = now + 1
    row = (now + 1) & engine.setting[at.S_MASK]
    vcs = engine.setting[at.S_VCS]
    port = np.int64(engine.queues[u(lane)].port)
    vc, first = lane - port * vcs, port
    while True:
        wake_sleepers(engine, port * vcs + vc, inputs[u(port)].from_, row)
        port = np.int64(inputs[u(port)].ring_next)
        if port == first:
            return


@inline
def _promote_oldest(engine, lane):
    """Move the claim of the oldest packet to the front; of equal ones, the first stays first."""
    claims, queues, packets = engine.claims, engine.queues, engine.packets
    first = np.int64(claims[u(lane)].first)
    if first < 0:
        return
    oldest, ahead = np.int64(packets[u(queues[u(first)].packet)].born), np.int64(-1)
    before = first
    while claims[u(before)].next >= 0:
        one = np.int64(claims[u(before)].next)
        born = np.int64(packets[u(queues[u(one)].packet)].born)
        if born < oldest:
            oldest, ahead = born, before
        before = one
    if ahead >= 0:
        one = np.int64(claims[u(ahead)].next)
        claims[u(ahead)].next = claims[u(one)].next
        claims[u(one)].next = first
        claims[u(lane)].first = one
