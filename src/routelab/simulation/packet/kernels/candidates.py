"""Candidates of the packet at the front of a queue: which are feasible, and which is the best."""

from __future__ import annotations

import numpy as np

from routelab.kernels import hops
from routelab.kernels.bits import lowest, u
from routelab.kernels.jit import inline
from routelab.simulation.packet.kernels import layout as at
from routelab.simulation.packet.kernels.candidate_ranking import class_units, publish_decision

BUSY_LINK, NO_ROOM = -3, -2
"""Why a candidate cannot be taken now. Both are below `EJECTION`, which is −1, and queues."""

_NO_COST = np.int64(1) << 40
"""More than any candidate costs: penalties and units have 32 bits."""


@inline
def _is_free(holder, now):
    """Return whether no packet holds a virtual channel (wormhole).

    `holder` is 1 + the queue of the packet that holds it; 0: none; −t: free from cycle t on.
    """
    return holder <= 0 and -holder <= now


@inline
def find_next_queue(engine, out_port, first_queue, vc_request, now, wormhole):
    """Return the queue that a candidate leads to: of its virtual channels, the one with most room.

    A candidate is `out_port`, `first_queue` and `vc_request` (NEED_MASK describes its bits).
    Returns `EJECTION` if it ejects the packet; `BUSY_LINK` or `NO_ROOM` if it cannot be taken in
    this cycle.
    """
    outputs, room, space = engine.outputs, engine.room, engine.space
    if (
        outputs[u(out_port)].free_at > now + outputs[u(out_port)].slack
        or outputs[u(out_port)].crossing_until > now
    ):
        return BUSY_LINK
    if first_queue == at.EJECTION:
        return at.EJECTION
    need, num_vcs = vc_request & at.NEED_MASK, vc_request >> at.VCS_SHIFT
    # The usual case, which the loop would give, too: nothing to compare.
    if num_vcs == 1 and not wormhole:
        return first_queue if space[u(first_queue)].credits >= need else NO_ROOM
    # `room` decides which virtual channel has most room, in output FIFO and buffer together;
    # `space`, whether the unit can cross the switch now. Without FIFOs both are the same array.
    emptiest, most_credits = NO_ROOM, np.int64(0)
    for queue in range(first_queue, first_queue + num_vcs):
        num_credits = np.int64(room[u(queue)].credits)
        # `&` and not `and`: the processor would mispredict branches
        is_better = (num_credits > most_credits) & (space[u(queue)].credits >= need)
        if wormhole and is_better and vc_request & at.BODY_BIT == 0:
            # Only a head needs a virtual channel that no packet holds: body flits hold theirs.
            is_better = _is_free(engine.queue_extra[u(queue)].holder, now)
        most_credits = num_credits if is_better else most_credits
        emptiest = queue if is_better else emptiest
    return emptiest


@inline
def output_ready_at(outputs, out_port):
    """Return the cycle from which a unit can cross the switch to an output.

    The crossbar must have sent earlier units, and the channel must be free of them but for the
    cycles of work that may queue for it (`slack`).
    """
    has_slack_at = np.int64(outputs[u(out_port)].free_at - outputs[u(out_port)].slack)
    return max(has_slack_at, np.int64(outputs[u(out_port)].crossing_until))


@inline
def has_space(engine, first_queue, vc_request):
    """Return whether a candidate has room for a unit in one of its virtual channels."""
    for queue in range(first_queue, first_queue + (vc_request >> at.VCS_SHIFT)):
        if engine.space[u(queue)].credits > 0:
            return True
    return False


@inline
def candidate_units(engine, candidate):
    """Return the units that the class of a candidate holds; 0 if rankings do not count them.

    `candidate` is a row of `candidates`.
    """
    setting, candidates, room = engine.setting, engine.candidates, engine.room
    if setting[at.S_BY_OCCUPANCY] == 0:
        return np.int64(0)
    first_queue = np.int64(candidates[u(candidate)].first_queue)
    if setting[at.S_ONE_VC_CLASSES] != 0:
        return np.int64(room[u(first_queue)].capacity - room[u(first_queue)].credits)
    port = np.int64(candidates[u(candidate)].out_port)
    vc_class = np.int64(engine.class_of[u(first_queue - port * setting[at.S_VCS])])
    return class_units(engine, port, vc_class)


@inline
def tie_word(engine, queue, now, tie):
    """Return the random word of the `tie`-th tie of a queue in a cycle.

    It is a hash of the three numbers, not the next word of a stream: so it does not depend on which
    queues are examined, and RANK_ON_CHANGE gives the same results as RANK_EACH_CYCLE.
    """
    number = (now * len(engine.queues) + queue) * at.MAX_CANDIDATES + tie
    return hops.word_after(np.uint64(engine.setting[at.S_TIE_SEED]) + np.uint64(number))


@inline
def _find_cheapest(engine, begin, count, bound):
    """Return the least cost, or `bound` if that is less, and the bits of candidates that have it.

    The candidates are `count` rows from `begin` on, at most 64, and bit k is row `begin` + k.
    The processor would predict costs badly, so no branch depends on them.
    """
    least_cost = bound
    cheapest = np.uint64(0)
    for k in range(count):
        cost = engine.candidates[u(begin + k)].penalty + candidate_units(engine, begin + k)
        cheapest = np.uint64(0) if cost < least_cost else cheapest
        cheapest |= np.uint64(cost <= least_cost) << np.uint64(k)
        least_cost = min(least_cost, cost)
    return least_cost, cheapest


@inline
def rank_candidates(engine, entry, queue, now):
    """Choose the candidate of least cost among several; each of equal ones is equally likely.

    Updates the queue to the chosen candidate, and the `entry` of `active`: the least cost and, for
    `next_change`, the bits of the candidates that have it.
    """
    queues, candidates = engine.queues, engine.candidates
    begin = queue * engine.setting[at.S_MAX_CANDIDATES]
    end = begin + queues[u(queue)].num_candidates
    chosen, least_cost, ties = begin, _NO_COST, np.int64(0)
    # 64 candidates at a time, as many as a word has bits
    for first in range(begin, end, 64):
        cost_before = least_cost
        least_cost, cheapest = _find_cheapest(engine, first, min(end - first, 64), cost_before)
        # cheaper than all candidates before `first`: their ties no longer count
        ties = 0 if least_cost < cost_before else ties
        engine.active[u(entry)].least_cost = least_cost
        engine.active[u(entry)].cheapest = cheapest if end - begin <= 64 else np.uint64(0)
        # The n-th of equal ones replaces those before it with probability 1/n, so each is equally
        # likely. `ties` is n − 1; the first one needs no draw.
        while cheapest != np.uint64(0):
            candidate = first + lowest(cheapest)
            cheapest &= cheapest - np.uint64(1)
            if (
                ties == 0
                or hops.pick_word(tie_word(engine, queue, now, ties), np.uint64(ties + 1)) == 0
            ):
                chosen = candidate
            ties += 1
    queues[u(queue)].out_port = candidates[u(chosen)].out_port
    queues[u(queue)].first_queue = candidates[u(chosen)].first_queue
    queues[u(queue)].vc_request = candidates[u(chosen)].vc_request
    if engine.setting[at.S_WAITING_ROW] >= 0:
        out_port = queues[u(queue)].out_port
        publish_decision(engine, queue, np.int64(engine.inputs[u(out_port)].channel))


@inline
def _still_cheapest(engine, entry, begin):
    """Return the bits of the candidates that had the least cost in this cycle, and have it now.

    Since the ranking, allocation only made queues longer, so no other candidate has this cost.
    0 also if there are more than 64 candidates: their bits were not kept.
    """
    active, still_cheapest = engine.active, np.uint64(0)
    bits = active[u(entry)].cheapest
    while bits != np.uint64(0):
        candidate = begin + lowest(bits)
        bit = bits & (~bits + np.uint64(1))  # the lowest bit alone, as bits & −bits
        bits ^= bit
        cost = engine.candidates[u(candidate)].penalty + candidate_units(engine, candidate)
        still_cheapest |= bit if cost == active[u(entry)].least_cost else np.uint64(0)
    return still_cheapest


@inline
def next_change(engine, entry, queue, now):
    """Return the cycle in which a packet that stalls may move without an event; −1: none.

    The packet takes a candidate of least cost only. Such a candidate with room becomes feasible
    when its output is ready: the earliest of these cycles is returned. One without room becomes
    feasible by an event, which the watch of the queue waits for.

    Updates `max_units` of the watch: the units with which a candidate of the least penalty has the
    least cost. While the packet waits, the least cost does not grow, because units of a candidate
    without room, or with a busy channel, do not. So a candidate of the least penalty that has more
    units than `max_units` cannot be the best, and its changes wake nobody.
    """
    candidates = engine.candidates
    begin = queue * engine.setting[at.S_MAX_CANDIDATES]
    end = begin + engine.queues[u(queue)].num_candidates
    least_cost, soonest = _NO_COST, np.int64(-1)
    # The ranking has found the cheapest candidates. Search again only if all of them became longer.
    still_cheapest = _still_cheapest(engine, entry, begin)
    if still_cheapest != np.uint64(0):
        least_cost = np.int64(engine.active[u(entry)].least_cost)
    for first in range(begin, end, 64):
        cheapest = still_cheapest
        if cheapest == np.uint64(0):
            cost_before = least_cost
            least_cost, cheapest = _find_cheapest(engine, first, min(end - first, 64), cost_before)
            # cheaper than all candidates before `first`: their times no longer count
            soonest = np.int64(-1) if least_cost < cost_before else soonest
        while cheapest != np.uint64(0):
            candidate = first + lowest(cheapest)
            cheapest &= cheapest - np.uint64(1)
            first_queue = np.int64(candidates[u(candidate)].first_queue)
            if not has_space(engine, first_queue, np.int64(candidates[u(candidate)].vc_request)):
                continue
            # Not before the next cycle: a candidate that became the best after this cycle's ranking
            # may be idle already.
            out_port = np.int64(candidates[u(candidate)].out_port)
            feasible_at = max(now + 1, output_ready_at(engine.outputs, out_port))
            if soonest < 0 or feasible_at < soonest:
                soonest = feasible_at
    engine.watches[u(queue)].max_units = least_cost - engine.watches[u(queue)].least_penalty
    return soonest
