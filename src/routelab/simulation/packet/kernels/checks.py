"""Checks of the packet engine: queues that can never move."""

from __future__ import annotations

import numpy as np

from routelab.kernels.jit import inline, jit
from routelab.simulation.packet.kernels import layout as at
from routelab.simulation.packet.kernels.arrays import engine_at
from routelab.simulation.packet.kernels.candidates import candidate_units


@jit
def stuck_queues(addresses, now):
    """Return which queues have a front packet that can never move again; bool, shape (Q,).

    All waiting queues are assumed to be stuck, and those that can be freed are removed until none
    is. A waiting front can be freed if a buffer that it waits for has a credit in transit, or if
    the front of that buffer can move. Under wormhole switching the packet that holds the virtual
    channel must also be able to move. An output FIFO moves if the buffer behind its channel has a
    credit, and gets room when a unit of it has left. The remaining queues are stuck permanently.
    Room for two packets, which entering a ring needs, is assumed to come, as it does if the routing
    is proven to be free of deadlock. A packet that chooses again while it waits counts as waiting
    after `PATIENCE` cycles.

    Parameters
    ----------
    addresses : int64 array
        Those of the engine's arrays (`array_addresses`).
    now : int
        The cycle.
    """
    engine = engine_at(addresses)
    queues, repeats = engine.queues, engine.setting[at.S_REPEAT] != at.ROUTE_ONCE
    stuck = np.zeros(len(queues), np.bool_)
    for queue in range(len(queues)):
        waits = queues[queue].wait_state != at.NOT_WAITING
        # A packet that chooses again while it waits need not be in a wait state.
        if repeats:
            has_lost_patience = engine.first_tried[queue] + at.PATIENCE <= now
            waits = queues[queue].num_candidates > 0 and has_lost_patience
        stuck[queue] = queues[queue].count > 0 and waits
    changed = True
    while changed:
        changed = False
        for queue in range(len(queues)):
            if stuck[queue] and _can_be_freed(engine, queue, stuck, now):
                stuck[queue] = False
                changed = True
    return stuck


@inline
def _can_be_freed(engine, queue, stuck, now):
    """Return whether a queue's front can move after all queues not marked in `stuck` have moved.

    It can if one of its candidates gets room.
    """
    queues, candidates = engine.queues, engine.candidates
    count = queues[queue].num_candidates
    begin = queue * engine.setting[at.S_MAX_CANDIDATES]
    has_fifos = engine.setting[at.S_FIFO_UNITS] != 0
    takes_best = engine.setting[at.S_REPEAT] >= at.RANK_EACH_CYCLE and count > 1
    least_cost = np.int64(1) << 40  # more than any cost
    if takes_best:
        for k in range(begin, begin + count):
            least_cost = min(least_cost, candidates[k].penalty + candidate_units(engine, k))
    for k in range(begin, begin + count):
        # A candidate may get shorter and become the best. But with a penalty above the least cost
        # it is not the best even if it is empty.
        if takes_best and candidates[k].penalty > least_cost:
            continue
        # a single candidate is in the row of the queue
        out_port = queues[queue].out_port if count == 1 else candidates[k].out_port
        first_queue = queues[queue].first_queue if count == 1 else candidates[k].first_queue
        vc_request = queues[queue].vc_request if count == 1 else candidates[k].vc_request
        # A terminal always takes packets; and while the channel is busy, the packet may wait for
        # nothing else.
        if first_queue == at.EJECTION or engine.outputs[out_port].free_at > now:
            return True
        for next_queue in range(first_queue, first_queue + (vc_request >> at.VCS_SHIFT)):
            # wormhole: a packet that is stuck holds the virtual channel, and it is not this packet
            holder = engine.queue_extra[next_queue].holder - 1
            if holder >= 0 and holder != queue and stuck[holder]:
                continue
            num_credits = np.int64(engine.room[next_queue].credits)
            if has_fifos:
                # The FIFO sends a unit, because the buffer behind it has room; or one of its units
                # is leaving: it is no longer counted, but still takes room.
                num_credits = np.int64(engine.fifos[next_queue].credits)
                num_counted = np.int64(engine.fifos[next_queue].count)
                is_leaving = (
                    engine.setting[at.S_FIFO_UNITS] - num_counted > engine.space[next_queue].credits
                )
                if num_credits > 0 or is_leaving:
                    return True
            # A credit is in transit if the buffer has more room than the sender knows.
            free_units = engine.setting[at.S_CAPACITY] - queues[next_queue].count
            if free_units > num_credits or not stuck[next_queue]:
                return True
    return False
