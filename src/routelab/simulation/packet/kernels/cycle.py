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

from routelab.kernels import hops
from routelab.kernels.bits import lowest, mark, prefetch, u
from routelab.kernels.jit import inline
from routelab.kernels.table_hops import prefetch_hop
from routelab.simulation.packet.kernels import layout as at
from routelab.simulation.packet.kernels.arrays import (
    ADDRESSES,
    HOP_POINTER,
    INJECT_POINTER,
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
from routelab.simulation.packet.kernels.wakeup import wake_for_room, wake_for_shorter_queue

_BLOCK = 64
"""Number of queues in a block: few enough for the cache, enough to overlap memory waits."""


@hops.inject_kernel
def inject_nothing(tables, reals, packets, packet, queues, hop, random, out):
    """Make no choices at injection: a program without inject."""
    return 0  # the engine ignores what inject returns


@inline
def _receive_credits(engine, now):
    """Take the credits that arrive in this cycle, and wake who waits for them."""
    senders, returned, room = engine.senders, engine.credits, engine.room
    sources, terminals = engine.sources, engine.terminals
    has_fifos = engine.setting[at.S_FIFO_UNITS] != 0
    ranks_on_change = engine.setting[at.S_REPEAT] == at.RANK_ON_CHANGE
    row = now & engine.setting[at.S_WHEEL_MASK]
    for word in range(returned.shape[1]):
        bits = returned[row, word]
        if bits == np.uint64(0):
            continue
        returned[row, word] = np.uint64(0)
        while bits != np.uint64(0):
            queue = (word << 6) + lowest(bits)
            bits &= bits - np.uint64(1)  # clears the lowest bit
            room[u(queue)].credits += 1
            switch = senders[u(queue)].switch
            # Who may wait for the credit? Of an injection, the terminal. With output FIFOs, the
            # FIFO of this queue: its room becomes free only when a unit has left it, so no queue of
            # the switch upstream can move yet. Without FIFOs, the queues of the switch upstream.
            if switch < 0:  # an injection: −1 − terminal
                terminal = -1 - switch
                if terminals[u(terminal)].waits_for_credit != 0:
                    terminals[u(terminal)].waits_for_credit = 0
                    mark(sources, now & engine.setting[at.S_SOURCE_MASK], terminal)
            elif has_fifos:
                take_fifo_credit(engine, queue, now)
                # the queue is shorter now, and may be the best candidate of a packet
                if ranks_on_change:
                    wake_for_shorter_queue(engine, queue, switch, row)
            else:
                wake_for_room(engine, queue, switch, row)


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
        # The processor predicts badly how many bits a word has. So a step writes two queues, and no
        # branch depends on whether there is a second one: without it, `num_active` stays, and the
        # next queue overwrites the row.
        while bits != np.uint64(0):
            for _ in range(2):
                active[u(num_active)].queue = (word << 6) + lowest(bits)
                num_active += np.int64(bits != np.uint64(0))
                bits &= bits - np.uint64(1)
    return num_active


@inline
def _end_of_block(engine, begin, num_active):
    """Return the end of the block of `active` that begins at `begin`; prefetch its queues.

    A block ends with the last queue of a switch, because a switch is allocated as a whole.
    """
    queues, inputs, active = engine.queues, engine.inputs, engine.active
    end = min(begin + _BLOCK, num_active)
    if engine.setting[at.S_PREFETCH] != 0:
        for k in range(begin, end):
            prefetch(queues, active[u(k)].queue)
    if end == num_active:
        return end
    # the switch of the last queue so far; queues of a switch are consecutive in `active`
    last_queue = active[u(end - 1)].queue
    switch = inputs[u(queues[u(last_queue)].port)].switch
    while end < num_active and inputs[u(queues[u(active[u(end)].queue)].port)].switch == switch:
        end += 1
    return end


@inline
def _route_heads(engine, hop, begin, end, now):
    """Route the packets at the front of a block of queues, if they may leave now.

    Updates the block of `active`: the queues whose front may leave move to its beginning. Returns
    the end of these.
    """
    queues, inputs, active = engine.queues, engine.inputs, engine.active
    wheel_mask, prefetches = engine.setting[at.S_WHEEL_MASK], engine.setting[at.S_PREFETCH] != 0
    repeat = engine.setting[at.S_REPEAT]
    # 1. The queues that may move. The others are scheduled again, or already wait for an event.
    movable_end = begin
    for k in range(begin, end):
        queue = np.int64(active[u(k)].queue)
        port = np.int64(queues[u(queue)].port)
        # A queue may be scheduled in two cycles. By the second one it may be empty, or in a waiting
        # list.
        if queues[u(queue)].count == 0 or queues[u(queue)].wait_state == at.IN_WAITING_LIST:
            continue
        due = max(inputs[u(port)].free_at, queues[u(queue)].ready)
        if due > now:
            mark(engine.scheduled, due & wheel_mask, queue)
            continue
        # A stalled queue is also scheduled for the time when a channel becomes idle.
        if queues[u(queue)].wait_state == at.STALLED:
            queues[u(queue)].wait_state = at.NOT_WAITING
            engine.stalled[queue >> 6] &= ~(np.uint64(1) << np.uint64(queue & 63))
            engine.num_stalled[inputs[u(port)].switch] -= 1
        packet = queues[u(queue)].packet
        if prefetches:
            prefetch(engine.packets, packet)
            prefetch(engine.slots, queue * engine.setting[at.S_CAPACITY] + queues[u(queue)].front)
            if repeat == at.RANK_ON_CHANGE and queues[u(queue)].num_candidates != 1:
                _prefetch_candidates(engine, queue)
        active[u(movable_end)].queue = queue
        active[u(movable_end)].port = port
        active[u(movable_end)].packet = packet
        movable_end += 1
    # 2. Prefetch the next hops. A loop of its own, because these addresses are in the rows of the
    #    packets, which arrive from memory while loop 1 goes on.
    if prefetches and engine.setting[at.S_TABLE_ROUTED] != 0:
        for k in range(begin, movable_end):
            if queues[u(active[u(k)].queue)].num_candidates == 0:
                packet = np.int64(active[u(k)].packet)
                switch = np.int64(inputs[u(active[u(k)].port)].switch)
                prefetch_hop(engine.tables, engine.states, packet, switch)
    # 3. Route computation, and the choice among candidates that may have changed. Between the units
    #    of a packet (wormhole) nothing is computed again: they follow the head.
    for k in range(begin, movable_end):
        queue = np.int64(active[u(k)].queue)
        is_new = queues[u(queue)].num_candidates == 0
        if is_new and repeat != at.ROUTE_ONCE:
            engine.first_tried[u(queue)] = now + 1
        if is_new or (
            repeat == at.ROUTE_EACH_CYCLE and engine.queue_extra[u(queue)].units_sent == 0
        ):
            port, packet = np.int64(active[u(k)].port), np.int64(active[u(k)].packet)
            route_packet(engine, hop, queue, port, packet, now)
        # RANK_EACH_CYCLE or RANK_ON_CHANGE: the packet takes the best candidate only
        if repeat >= at.RANK_EACH_CYCLE and queues[u(queue)].num_candidates > 1:
            rank_candidates(engine, k, queue, now)
        if prefetches:
            _prefetch_outputs(engine, queue, repeat >= at.RANK_EACH_CYCLE)
    return movable_end


@inline
def _prefetch_candidates(engine, queue):
    """Prefetch the candidates of the packet at a queue's front: every fourth, as four share a line.

    If the packet is not routed yet, hop may write as many as its program allows. The watch is
    needed if the packet stalls.
    """
    begin = queue * engine.setting[at.S_MAX_CANDIDATES]
    count = np.int64(engine.queues[u(queue)].num_candidates)
    for candidate in range(
        begin, begin + (count if count > 0 else engine.setting[at.S_MAX_CANDIDATES]), 4
    ):
        prefetch(engine.candidates, candidate)
    prefetch(engine.watches, queue)


@inline
def _prefetch_outputs(engine, queue, is_ranked):
    """Prefetch the rows that the allocation needs for the packet at a queue's front.

    These are rows of all its candidates; of one only if `rank_candidates` has chosen it already.
    """
    queues = engine.queues
    if queues[u(queue)].num_candidates == 1 or is_ranked:
        prefetch(engine.outputs, queues[u(queue)].out_port)
        if queues[u(queue)].first_queue >= 0:
            prefetch(engine.room, queues[u(queue)].first_queue)
            prefetch(queues, queues[u(queue)].first_queue)
        return
    begin = queue * engine.setting[at.S_MAX_CANDIDATES]
    for candidate in range(begin, begin + queues[u(queue)].num_candidates):
        prefetch(engine.outputs, engine.candidates[u(candidate)].out_port)
        prefetch(engine.room, engine.candidates[u(candidate)].first_queue)


@njit(
    [types.int64(ADDRESSES, HOP_POINTER, INJECT_POINTER, types.int64, types.int64)],
    cache=True,
    nogil=True,
    no_cfunc_wrapper=True,
    _nrt=False,
)
def run_cycles(addresses, hop, inject, begin, end):
    """Run the cycles `begin` to `end` - 1 and return the number of examined queues.

    `addresses` are those of the engine's arrays (`array_addresses`).
    """
    engine = engine_at(addresses)
    examined = 0
    for now in range(begin, end):
        _receive_credits(engine, now)
        if engine.setting[at.S_FIFO_UNITS] != 0:
            end_transmissions(engine, now)
        if engine.setting[at.S_WAITING_ROW] >= 0:
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
        if engine.setting[at.S_FIFO_UNITS] != 0:
            begin_transmissions(engine, now)
    return examined
