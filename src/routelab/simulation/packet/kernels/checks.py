"""Checks of the packet engine: queues that can never move."""

from __future__ import annotations

import numpy as np

from routelab.kernels.jit import inline, jit
from routelab.simulation.packet.kernels import layout as at
from routelab.simulation.packet.kernels.arrays import engine_at
from routelab.simulation.packet.kernels.candidates import candidate_units


@jit
def stuck_queues(places, now):
    """Mark the queues whose front no event can ever free; bool, shape (Q,).

    A waiting front can be freed if a buffer that it waits for has a credit in transit, or if the
    front of that buffer can move. Under wormhole switching the packet that holds the virtual
    channel must also be able to move. An output FIFO moves if the buffer behind its channel has a
    credit, and gets room when a unit of it has left. The remaining queues are stuck permanently.
    Room for two packets, which entering a ring needs, is assumed to come, as it does if the routing
    is proven. If candidates change while a packet waits, it counts as waiting after `PATIENCE`
    cycles.

    Parameters
    ----------
    places : int64 array
        Those of the engine's arrays (`places_of`).
    now : int
        The cycle.
    """
    engine = engine_at(places)
    queues, again = engine.queues, engine.setting[at.S_AGAIN] != at.ONCE
    stuck = np.zeros(len(queues), np.bool_)
    for queue in range(len(queues)):
        waits = queues[queue].waiting != 0
        if again:
            waits = queues[queue].choices > 0 and engine.tried[queue] + at.PATIENCE <= now
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
    """Return whether a queue can move as soon as all queues that are not stuck have moved."""
    queues, candidates = engine.queues, engine.candidates
    count = queues[queue].choices
    begin = queue * engine.setting[at.S_MAX_CANDIDATES]
    has_fifos = engine.setting[at.S_FIFO] != 0
    ranked = engine.setting[at.S_AGAIN] >= at.RANK_AGAIN and count > 1
    least = np.int64(1) << 40
    if ranked:
        for k in range(begin, begin + count):
            least = min(least, candidates[k].penalty + candidate_units(engine, k))
    for k in range(begin, begin + count):
        # a candidate may get shorter and become the best, unless its penalty is too large
        if ranked and candidates[k].penalty > least:
            continue
        out = queues[queue].out if count == 1 else candidates[k].out
        first_queue = queues[queue].first if count == 1 else candidates[k].first
        kind = queues[queue].kind if count == 1 else candidates[k].kind
        if first_queue == at.LEAVES or engine.outputs[out].free_at > now:
            return True
        for place in range(first_queue, first_queue + (kind >> at.NUM_VCS)):
            holder = engine.more[place].holder - 1
            if holder >= 0 and holder != queue and stuck[holder]:
                continue
            num_credits = np.int64(engine.room[place].credits)
            if has_fifos:
                num_credits = np.int64(engine.fifos[place].credits)
                leaving = engine.setting[at.S_FIFO] - engine.fifos[place].count
                if num_credits > 0 or leaving > engine.space[place].credits:
                    return True
            if (
                engine.setting[at.S_CAPACITY] - queues[place].count > num_credits
                or not stuck[place]
            ):
                return True
    return False
