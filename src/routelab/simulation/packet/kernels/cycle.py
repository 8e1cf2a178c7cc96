"""The packet engine's cycle.

    credits              arrive from the next switch         here, output_queues
    injection            terminals send                      injection
    route computation    the algorithm gives candidates      route_computation
    candidate ranking    which candidate a packet takes      candidates, candidate_ranking
    switch allocation    inputs propose, outputs accept      switch_allocation
    output queues        channels take units from FIFOs      output_queues

The engine examines only objects that may have changed: queues, terminals and credits wait in
wheels, rows of bits by cycle, and a packet that waits for room is in a list of the queue that it
waits for. Cycles allocate no memory.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from routelab.kernels import hops as of
from routelab.kernels.bits import lowest, mark, prefetch, u
from routelab.kernels.jit import inline
from routelab.kernels.table_hops import prefetch_hop
from routelab.simulation.packet.kernels import layout as at
from routelab.simulation.packet.kernels.arrays import (
    HOP_POINTER,
    INJECT_POINTER,
    PLACES,
    engine_at,
)
from routelab.simulation.packet.kernels.candidate_ranking import publish_cycle
from routelab.simulation.packet.kernels.candidates import rank_candidates
from routelab.simulation.packet.kernels.injection import inject_units
from routelab.simulation.packet.kernels.output_queues import (
    begin_transmissions,
    end_transmissions,
    take_fifo_credit,
)
from routelab.simulation.packet.kernels.route_computation import route_packet
from routelab.simulation.packet.kernels.switch_allocation import allocate
from routelab.simulation.packet.kernels.wakeup import wake_for, wake_rankers

_BLOCK = 64
"""Number of queues in a block: few enough for the cache, enough to overlap memory waits."""


@of.inject_kernel
def inject_nothing(tables, reals, packets, packet, queues, hop, random, out):
    """Make no choices at injection."""
    return 0


@inline
def _receive_credits(engine, now):
    """Take arriving credits, and wake the queues that wait for them."""
    senders, returned, room = engine.senders, engine.credits, engine.room
    sources, terminals = engine.sources, engine.terminals
    has_fifos = engine.setting[at.S_FIFO] != 0
    ranks = engine.setting[at.S_AGAIN] == at.RANK_ON_CHANGE
    row = now & engine.setting[at.S_WHEEL_MASK]
    for word in range(returned.shape[1]):
        bits = returned[row, word]
        if bits == np.uint64(0):
            continue
        returned[row, word] = np.uint64(0)
        while bits != np.uint64(0):
            queue = (word << 6) + lowest(bits)
            bits &= bits - np.uint64(1)
            room[u(queue)].credits += 1
            switch = senders[u(queue)].switch
            # who may wait for the room: a terminal; with FIFOs, the queue's own FIFO, which does
            # not free room for others before a unit has left it; otherwise, queues of the switch
            if switch < 0:
                terminal = -1 - switch
                if terminals[u(terminal)].waits != 0:
                    terminals[u(terminal)].waits = 0
                    mark(sources, now & engine.setting[at.S_SOURCE_MASK], terminal)
            elif has_fifos:
                take_fifo_credit(engine, queue, now)
                # the candidate is shorter now, and may be the best of a packet
                if ranks:
                    wake_rankers(engine, queue, switch, row)
            else:
                wake_for(engine, queue, switch, row)


@inline
def _collect_scheduled(engine, now):
    """Move this cycle's queues into `active`, ascending; return their number."""
    scheduled, active = engine.scheduled, engine.active
    row = now & engine.setting[at.S_WHEEL_MASK]
    num_active = 0
    for word in range(scheduled.shape[1]):
        bits = scheduled[row, word]
        if bits == np.uint64(0):
            continue
        scheduled[row, word] = np.uint64(0)
        # How many a word has is hard to predict. So a step takes two, and no branch depends on
        # whether there is a second one: if not, the next queue takes its place.
        while bits != np.uint64(0):
            for _ in range(2):
                active[u(num_active)].queue = (word << 6) + lowest(bits)
                num_active += np.int64(bits != np.uint64(0))
                bits &= bits - np.uint64(1)
    return num_active


@inline
def _end_of_block(engine, begin, num_active):
    """Return the end of a block of `active`, which contains all queues of its switches."""
    queues, inputs, active = engine.queues, engine.inputs, engine.active
    end = min(begin + _BLOCK, num_active)
    if engine.setting[at.S_FAR] != 0:
        for k in range(begin, end):
            prefetch(queues, active[u(k)].queue)
    if end == num_active:
        return end
    switch = inputs[u(queues[u(active[u(end - 1)].queue)].port)].switch
    while end < num_active and inputs[u(queues[u(active[u(end)].queue)].port)].switch == switch:
        end += 1
    return end


@inline
def _route_heads(engine, hop, begin, end, now):
    """Keep the queues of a block whose front may leave now, and route it; return their end."""
    queues, inputs, active = engine.queues, engine.inputs, engine.active
    mask, far = engine.setting[at.S_WHEEL_MASK], engine.setting[at.S_FAR] != 0
    again = engine.setting[at.S_AGAIN]
    # 1. The queues that may move.
    block_end = begin
    for k in range(begin, end):
        queue = np.int64(active[u(k)].queue)
        port = np.int64(queues[u(queue)].port)
        # a queue that was woken twice may have moved in between, and have another wait now
        if queues[u(queue)].count == 0 or queues[u(queue)].waiting == 1:
            continue
        due = max(inputs[u(port)].free_at, queues[u(queue)].ready)
        if due > now:
            mark(engine.scheduled, due & mask, queue)
            continue
        if queues[u(queue)].waiting == 2:
            queues[u(queue)].waiting = 0
            engine.stalled[queue >> 6] &= ~(np.uint64(1) << np.uint64(queue & 63))
            engine.num_stalled[inputs[u(port)].switch] -= 1
        packet = queues[u(queue)].packet
        if far:
            prefetch(engine.packets, packet)
            prefetch(engine.slots, queue * engine.setting[at.S_CAPACITY] + queues[u(queue)].front)
            if again == at.RANK_ON_CHANGE and queues[u(queue)].choices != 1:
                _prefetch_candidates(engine, queue)
        active[u(block_end)].queue = queue
        active[u(block_end)].port = port
        active[u(block_end)].packet = packet
        block_end += 1
    # 2. A round of its own: the rows of the packets are on their way here since round 1.
    if far and engine.setting[at.S_FOLLOWS] != 0:
        for k in range(begin, block_end):
            if queues[u(active[u(k)].queue)].choices == 0:
                packet = np.int64(active[u(k)].packet)
                switch = np.int64(inputs[u(active[u(k)].port)].switch)
                prefetch_hop(engine.tables, engine.states, packet, switch)
    # 3. Route computation, and the choice among candidates that may have changed.
    for k in range(begin, block_end):
        queue = np.int64(active[u(k)].queue)
        fresh = queues[u(queue)].choices == 0
        if fresh and again != at.ONCE:
            engine.tried[u(queue)] = now + 1
        if fresh or (again == at.CALL_AGAIN and engine.more[u(queue)].sent == 0):
            port, packet = np.int64(active[u(k)].port), np.int64(active[u(k)].packet)
            route_packet(engine, hop, queue, port, packet, now)
        if again >= at.RANK_AGAIN and queues[u(queue)].choices > 1:
            rank_candidates(engine, k, queue, now)
        if far:
            _prefetch_outputs(engine, queue, again >= at.RANK_AGAIN)
    return block_end


@inline
def _prefetch_candidates(engine, queue):
    """Prefetch the candidates of the packet at a queue's front, four to a line of the cache.

    A packet that is not routed yet may write any number of them. If it stalls, it needs its watch.
    """
    begin = queue * engine.setting[at.S_MAX_CANDIDATES]
    count = np.int64(engine.queues[u(queue)].choices)
    for place in range(
        begin, begin + (count if count > 0 else engine.setting[at.S_MAX_CANDIDATES]), 4
    ):
        prefetch(engine.candidates, place)
    prefetch(engine.watches, queue)


@inline
def _prefetch_outputs(engine, queue, chosen):
    """Prefetch the rows that the allocation needs for the packet at a queue's front.

    Of several candidates it needs one if that is `chosen` already.
    """
    queues = engine.queues
    if queues[u(queue)].choices == 1 or chosen:
        prefetch(engine.outputs, queues[u(queue)].out)
        if queues[u(queue)].first >= 0:
            prefetch(engine.room, queues[u(queue)].first)
            prefetch(queues, queues[u(queue)].first)
        return
    begin = queue * engine.setting[at.S_MAX_CANDIDATES]
    for place in range(begin, begin + queues[u(queue)].choices):
        prefetch(engine.outputs, engine.candidates[u(place)].out)
        prefetch(engine.room, engine.candidates[u(place)].first)


@njit(
    [types.int64(PLACES, HOP_POINTER, INJECT_POINTER, types.int64, types.int64)],
    cache=True,
    nogil=True,
    no_cfunc_wrapper=True,
    _nrt=False,
)
def run_cycles(places, hop, inject, begin, end):
    """Run the cycles `begin` to `end` - 1 and return the number of examined queues.

    `places` are those of the engine's arrays (`places_of`).
    """
    engine = engine_at(places)
    examined = 0
    for now in range(begin, end):
        _receive_credits(engine, now)
        if engine.setting[at.S_FIFO] != 0:
            end_transmissions(engine, now)
        if engine.setting[at.S_WAITING] >= 0:
            publish_cycle(engine, now)
        inject_units(engine, hop, inject, now)
        num_active = _collect_scheduled(engine, now)
        examined += num_active
        begin_block = 0
        while begin_block < num_active:
            end_block = _end_of_block(engine, begin_block, num_active)
            routed_end = _route_heads(engine, hop, begin_block, end_block, now)
            allocate(engine, begin_block, routed_end, now)
            begin_block = end_block
        if engine.setting[at.S_FIFO] != 0:
            begin_transmissions(engine, now)
    return examined
