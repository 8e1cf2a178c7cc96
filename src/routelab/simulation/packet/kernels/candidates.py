"""Candidates of the packet at the front of a queue: which are feasible, and which is the best."""

from __future__ import annotations

import numpy as np

from routelab.kernels import hops as of
from routelab.kernels.bits import lowest, u
from routelab.kernels.jit import inline
from routelab.simulation.packet.kernels import layout as at
from routelab.simulation.packet.kernels.candidate_ranking import class_units, publish_decision

BUSY_LINK, NO_ROOM = -3, -2
"""Why a candidate cannot be taken now; `LEAVES` is the ejection."""

_NO_COST = np.int64(1) << 40
"""More than a candidate costs."""


@inline
def _is_free(holder, now):
    """Return whether no packet holds a virtual channel, which becomes free a cycle later."""
    return holder <= 0 and -holder <= now


@inline
def find_queue(engine, out, first_queue, kind, now, wormhole):
    """Return the queue that a candidate leads to now, or a code why it has none."""
    outputs, room, space = engine.outputs, engine.room, engine.space
    if outputs[u(out)].free_at > now + outputs[u(out)].slack or outputs[u(out)].taken_until > now:
        return BUSY_LINK
    if first_queue == at.LEAVES:
        return at.LEAVES
    need, num_vcs = kind & at.NEED, kind >> at.NUM_VCS
    if num_vcs == 1 and not wormhole:
        return first_queue if space[u(first_queue)].credits >= need else NO_ROOM
    emptiest, most_credits = NO_ROOM, np.int64(0)
    for queue in range(first_queue, first_queue + num_vcs):
        num_credits = np.int64(room[u(queue)].credits)
        # one condition for both: branches would be mispredicted
        is_better = (num_credits > most_credits) & (space[u(queue)].credits >= need)
        if wormhole and is_better and kind & at.BODY == 0:
            # a virtual channel that another packet holds has no room for this one
            is_better = _is_free(engine.more[u(queue)].holder, now)
        most_credits = num_credits if is_better else most_credits
        emptiest = queue if is_better else emptiest
    return emptiest


@inline
def idle_time(outputs, out):
    """Return the time at which a channel, or its queue, is free of other packets."""
    idle = np.int64(outputs[u(out)].free_at - outputs[u(out)].slack)
    return max(idle, np.int64(outputs[u(out)].taken_until))


@inline
def has_space(engine, first_queue, kind):
    """Return whether a unit may cross the switch towards a candidate, were its channel idle."""
    for place in range(first_queue, first_queue + (kind >> at.NUM_VCS)):
        if engine.space[u(place)].credits > 0:
            return True
    return False


@inline
def candidate_units(engine, place):
    """Return the units that the class of a candidate holds; 0 if rankings do not count them."""
    setting, candidates, room = engine.setting, engine.candidates, engine.room
    if setting[at.S_OCCUPANCY] == 0:
        return np.int64(0)
    first_queue = np.int64(candidates[u(place)].first)
    if setting[at.S_ONE_VC] != 0:
        return np.int64(room[u(first_queue)].capacity - room[u(first_queue)].credits)
    port = np.int64(candidates[u(place)].out)
    vc_class = np.int64(engine.class_of[u(first_queue - port * setting[at.S_VCS])])
    return class_units(engine, port, vc_class)


@inline
def tie_word(engine, queue, now, number):
    """Return the random word of a tie that does not depend on which queues are examined."""
    place = (now * len(engine.queues) + queue) * at.MOST_CHOICES + number
    return of.word_after(np.uint64(engine.setting[at.S_TIES]) + np.uint64(place))


@inline
def _find_cheapest(engine, begin, count, least):
    """Return the least cost of up to 64 candidates, or `least`, and the bits of those that have it.

    Costs are hard to predict, so no branch depends on them.
    """
    cheapest = np.uint64(0)
    for k in range(count):
        cost = engine.candidates[u(begin + k)].penalty + candidate_units(engine, begin + k)
        cheapest = np.uint64(0) if cost < least else cheapest
        cheapest |= np.uint64(cost <= least) << np.uint64(k)
        least = min(least, cost)
    return least, cheapest


@inline
def rank_candidates(engine, entry, queue, now):
    """Choose the candidate of least cost among several; each of equal ones is equally likely.

    The entry of `active` keeps which candidates have the least cost.
    """
    queues, candidates = engine.queues, engine.candidates
    begin = queue * engine.setting[at.S_MAX_CANDIDATES]
    end = begin + queues[u(queue)].choices
    chosen, least, ties = begin, _NO_COST, np.int64(0)
    for word in range(begin, end, 64):
        least_before = least
        least, cheapest = _find_cheapest(engine, word, min(end - word, 64), least)
        ties = 0 if least < least_before else ties
        engine.active[u(entry)].least = least
        engine.active[u(entry)].cheapest = cheapest if end - begin <= 64 else np.uint64(0)
        # the n-th of equal ones replaces those before it with probability 1/n
        while cheapest != np.uint64(0):
            place = word + lowest(cheapest)
            cheapest &= cheapest - np.uint64(1)
            if (
                ties == 0
                or of.pick_word(tie_word(engine, queue, now, ties), np.uint64(ties + 1)) == 0
            ):
                chosen = place
            ties += 1
    queues[u(queue)].out = candidates[u(chosen)].out
    queues[u(queue)].first = candidates[u(chosen)].first
    queues[u(queue)].kind = candidates[u(chosen)].kind
    if engine.setting[at.S_WAITING] >= 0:
        publish_decision(engine, queue, np.int64(engine.inputs[u(queues[u(queue)].out)].channel))


@inline
def _still_cheapest(engine, entry, begin):
    """Return the bits of the candidates that had the least cost in this cycle, and have it now.

    Between ranking and allocation queues only become longer, so no other one has it.
    """
    active, still_cheapest = engine.active, np.uint64(0)
    bits = active[u(entry)].cheapest
    while bits != np.uint64(0):
        place = begin + lowest(bits)
        bit = bits & (~bits + np.uint64(1))
        bits ^= bit
        cost = engine.candidates[u(place)].penalty + candidate_units(engine, place)
        still_cheapest |= bit if cost == active[u(entry)].least else np.uint64(0)
    return still_cheapest


@inline
def next_change(engine, entry, queue, now):
    """Return when a packet may choose a feasible one of several candidates; −1: after an event.

    Until then, the least cost does not grow, because the units of a candidate without room, or with
    a busy channel, do not. So a candidate costs more if it has more units than `most` of the
    queue's watch.
    """
    candidates = engine.candidates
    begin = queue * engine.setting[at.S_MAX_CANDIDATES]
    end = begin + engine.queues[u(queue)].choices
    least, soonest = _NO_COST, np.int64(-1)
    still_cheapest = _still_cheapest(engine, entry, begin)
    if still_cheapest != np.uint64(0):
        least = np.int64(engine.active[u(entry)].least)
    for word in range(begin, end, 64):
        cheapest = still_cheapest
        if cheapest == np.uint64(0):
            least_before = least
            least, cheapest = _find_cheapest(engine, word, min(end - word, 64), least)
            soonest = np.int64(-1) if least < least_before else soonest
        while cheapest != np.uint64(0):
            place = word + lowest(cheapest)
            cheapest &= cheapest - np.uint64(1)
            first_queue = np.int64(candidates[u(place)].first)
            if not has_space(engine, first_queue, np.int64(candidates[u(place)].kind)):
                continue
            # a candidate may have become the best in this cycle
            idle = idle_time(engine.outputs, np.int64(candidates[u(place)].out))
            feasible_at = max(now + 1, idle)
            if soonest < 0 or feasible_at < soonest:
                soonest = feasible_at
    engine.watches[u(queue)].most = least - engine.watches[u(queue)].lowest
    return soonest
