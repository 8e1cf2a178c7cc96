"""Switch allocation, separable and input first.

input arbitration     every input port proposes one of its queues
output arbitration    every output accepts one of the proposals
switch traversal      the accepted units move

A queue whose proposal is rejected is scheduled again: its bit is set in the timing wheel
`engine.scheduled` at row ``cycle & wheel_mask``. A queue without a feasible candidate stalls
(`wakeup`). ``u(i)`` makes an index unsigned, which is faster (`kernels.bits`).
"""

from __future__ import annotations

import numpy as np

from routelab.kernels import hops
from routelab.kernels.bits import draw, is_marked, mark, mark_if, prefetch, u
from routelab.kernels.jit import inline
from routelab.simulation.packet.kernels import layout as at
from routelab.simulation.packet.kernels.buffers import pop_unit, push_unit
from routelab.simulation.packet.kernels.candidate_ranking import publish_traversal
from routelab.simulation.packet.kernels.candidates import NO_ROOM, find_next_queue, tie_word
from routelab.simulation.packet.kernels.output_queues import push_fifo, rank_packet
from routelab.simulation.packet.kernels.statistics import count_ejection
from routelab.simulation.packet.kernels.wakeup import stall, wake_for_room


@inline
def _select_candidate(engine, queue, now):
    """Choose the best of several candidates that is feasible now, and return its next queue.

    That is the queue downstream, which the packet enters by this candidate.

    Updates `out_port` and `vc_request` of the queue. Returns `NO_ROOM` if none is feasible. (Never
    `EJECTION`: a packet that is ejected has one candidate.)
    """
    queues, room, candidates = engine.queues, engine.room, engine.candidates
    wormhole = engine.setting[at.S_UNITS_PER_PACKET] > 1
    by_occupancy = engine.setting[at.S_BY_OCCUPANCY] != 0
    fixed = engine.setting[at.S_FIXED_CANDIDATES] != 0
    next_queue = NO_ROOM
    # `ties` counts the candidates of least cost but the first of them, so it is 0 for a single one.
    least_cost, ties = np.int64(0), np.uint64(0)
    begin = queue * engine.setting[at.S_MAX_CANDIDATES]
    for k in range(begin, begin + queues[u(queue)].num_candidates):
        out_port = np.int64(candidates[u(k)].out_port)
        first_queue = np.int64(candidates[u(k)].first_queue)
        vc_request = np.int64(candidates[u(k)].vc_request)
        queue_behind = find_next_queue(engine, out_port, first_queue, vc_request, now, wormhole)
        if queue_behind < 0:  # `BUSY_LINK` or `NO_ROOM`
            continue
        cost = np.int64(candidates[u(k)].penalty)
        if by_occupancy:
            # the part of the capacity that is in use
            cost += room[u(queue_behind)].capacity - room[u(queue_behind)].credits
        if next_queue >= 0 and cost == least_cost:
            ties += np.uint64(1)
            # This is the n-th of equal candidates, n = ties + 1. It replaces those before it with
            # probability 1/n, if 0 is picked of 0 … n−1: so each is equally likely to remain.
            # Queues with fixed candidates are not examined in every cycle: their random word must
            # not depend on how many other draws there were.
            if fixed:
                random_word = tie_word(engine, queue, now, np.int64(ties))
            else:
                random_word = draw(engine.random, 0, 0)
            if hops.pick_word(random_word, ties + np.uint64(1)) != 0:
                continue
        elif next_queue >= 0 and cost > least_cost:
            continue
        else:
            ties = np.uint64(0)
        least_cost = cost
        next_queue = queue_behind
        queues[u(queue)].out_port = out_port
        queues[u(queue)].vc_request = vc_request
    return next_queue


@inline
def _arbitrate_inputs(engine, begin, end, now, is_last):
    """Let every input port propose one of its queues, and return the number of proposals.

    The block of queues is `begin` to `end` of `active`. Updates `engine.proposals`: for each port,
    the queue of least rank that has a feasible candidate. In the last iteration of a cycle
    (`is_last`), queues without one stall: they are −1 in `active` then.
    """
    queues, inputs, active, proposals = (
        engine.queues,
        engine.inputs,
        engine.active,
        engine.proposals,
    )
    wormhole = engine.setting[at.S_UNITS_PER_PACKET] > 1
    is_ranked = engine.setting[at.S_REPEAT] >= at.RANK_EACH_CYCLE
    last_proposal, last_port = -1, -1
    for entry in range(begin, end):
        queue, port = np.int64(active[u(entry)].queue), np.int64(active[u(entry)].port)
        if queue < 0 or inputs[u(port)].free_at > now:
            continue
        # 1. The candidate: the only one, the one that `rank_candidates` has chosen, or the best of
        #    those that are feasible now.
        if queues[u(queue)].num_candidates == 1 or is_ranked:
            vc_request = np.int64(queues[u(queue)].vc_request)
            out_port = np.int64(queues[u(queue)].out_port)
            first_queue = np.int64(queues[u(queue)].first_queue)
            next_queue = find_next_queue(engine, out_port, first_queue, vc_request, now, wormhole)
        else:
            next_queue = np.int64(_select_candidate(engine, queue, now))
            if next_queue >= 0 and engine.setting[at.S_PREFETCH] != 0:
                prefetch(queues, next_queue)
        # `BUSY_LINK` and `NO_ROOM` are below `EJECTION`.
        if next_queue < at.EJECTION:
            if is_last:
                stall(engine, entry, queue, port, now)
                active[u(entry)].queue = -1
            continue
        # 2. The port proposes the queue of least rank. The queues of a port are consecutive in
        #    `active`: if it has a proposal already, this is the last one so far, and a queue of
        #    less rank overwrites it.
        rank = rank_packet(
            engine, np.int64(queue - inputs[u(port)].round_start), np.int64(active[u(entry)].packet)
        )
        if port != last_port:
            last_port = port
            last_proposal += 1
        elif rank >= proposals[u(last_proposal)].rank:
            continue  # the earlier queue of the port stays its proposal
        proposals[u(last_proposal)].entry = entry
        proposals[u(last_proposal)].next_queue = next_queue
        proposals[u(last_proposal)].out_port = queues[u(queue)].out_port
        proposals[u(last_proposal)].rank = rank
    return last_proposal + 1


@inline
def _arbitrate_outputs(engine, num_proposals, now):
    """Let every output accept one proposal, and move its unit.

    Updates the state of the engine. The accepted proposals move to the first rows of
    `engine.proposals`, and their queues are −1 in `active` then.
    """
    inputs, outputs, active, proposals = (
        engine.inputs,
        engine.outputs,
        engine.active,
        engine.proposals,
    )
    by_age = engine.setting[at.S_PRIORITY] == at.AGE
    # 1. The best proposal for each output. The rank of a packet by age is the same at input and
    #    output; other ranks are drawn or counted anew, among the input ports.
    for row in range(num_proposals):
        out_port = np.int64(proposals[u(row)].out_port)
        rank = np.int64(proposals[u(row)].rank)
        if not by_age:
            proposer = active[u(proposals[u(row)].entry)]
            ports_after_start = np.int64(proposer.port - outputs[u(out_port)].round_start)
            rank = rank_packet(engine, ports_after_start, np.int64(proposer.packet))
            proposals[u(row)].rank = rank
        # `best_proposal` is the row of the best proposal for this output so far. It is never reset,
        # so it may be of an earlier iteration. It is of this one if the row is before `row` and its
        # proposal is for this output. `|` and not `or`: the processor would mispredict branches.
        best_row = outputs[u(out_port)].best_proposal
        best_so_far = proposals[u(best_row)]
        is_better = (
            (best_row >= row) | (best_so_far.out_port != out_port) | (rank < best_so_far.rank)
        )
        outputs[u(out_port)].best_proposal = row if is_better else best_row
    # 2. The accepted proposals move to the front. A branch on whether one is accepted would be
    #    mispredicted, so each is copied to the next row, which the one after it may overwrite.
    num_accepted = 0
    for row in range(num_proposals):
        entry, next_queue = proposals[u(row)].entry, proposals[u(row)].next_queue
        out_port = np.int64(proposals[u(row)].out_port)
        proposals[u(num_accepted)].entry = entry
        proposals[u(num_accepted)].next_queue = next_queue
        proposals[u(num_accepted)].out_port = out_port
        num_accepted += np.int64(outputs[u(out_port)].best_proposal == row)
    # 3. Their units move.
    for row in range(num_accepted):
        out_port = np.int64(proposals[u(row)].out_port)
        entry = proposals[u(row)].entry
        queue, port = np.int64(active[u(entry)].queue), np.int64(active[u(entry)].port)
        outputs[u(out_port)].round_start = port + 1
        inputs[u(port)].round_start = queue + 1
        packet = np.int64(active[u(entry)].packet)
        next_queue = np.int64(proposals[u(row)].next_queue)
        _traverse_switch(engine, queue, port, packet, out_port, next_queue, now)
        active[u(entry)].queue = -1


@inline
def allocate(engine, begin, end, now):
    """Allocate the switches of a block of `active`: one iteration for each step of speed-up.

    All switches of the block are allocated together, because they are independent in a cycle.
    Updates the state of the engine; a rejected queue is in `engine.scheduled` for the cycle of its
    next try.
    """
    active, inputs = engine.active, engine.inputs
    speedup, wheel_mask = engine.setting[at.S_SPEEDUP], engine.setting[at.S_WHEEL_MASK]
    for iteration in range(speedup):
        num_proposals = _arbitrate_inputs(engine, begin, end, now, iteration == speedup - 1)
        _arbitrate_outputs(engine, num_proposals, now)
    for entry in range(begin, end):
        # Moved and stalled queues are −1 by now. `mark_if`, because the processor would mispredict
        # a branch on whether a queue was rejected.
        queue = np.int64(active[u(entry)].queue)
        retry_at = max(now + 1, np.int64(inputs[u(active[u(entry)].port)].free_at))
        mark_if(queue >= 0, engine.scheduled, retry_at & wheel_mask, queue)


@inline
def _traverse_switch(engine, queue, in_port, packet, out_port, next_queue, now):
    """Send the unit at the front of a queue through the switch.

    A unit is a packet under virtual cut-through, and a flit under wormhole switching. It goes to
    `next_queue`, the input buffer behind the output channel, or to a terminal (`at.EJECTION`). With
    output FIFOs it waits in one of them for the channel.
    """
    queues, extra, packets = engine.queues, engine.queue_extra, engine.packets
    inputs, outputs, room = engine.inputs, engine.outputs, engine.room
    setting, totals = engine.setting, engine.totals
    wheel_mask, units_per_packet = setting[at.S_WHEEL_MASK], setting[at.S_UNITS_PER_PACKET]

    # 1. The channel: without FIFOs, it is busy from the moment when it has sent earlier units.
    to_fifo = setting[at.S_FIFO_UNITS] != 0 and next_queue != at.EJECTION
    departure = max(now, np.int64(outputs[u(out_port)].free_at))
    if not to_fifo:
        outputs[u(out_port)].free_at = departure + outputs[u(out_port)].unit_cycles

    # 2. The crossbar: input and output port are taken until the last flit has crossed.
    crossing = np.int64(outputs[u(out_port)].crossing_cycles)
    if setting[at.S_SPEEDUP] > 1:
        # The head may cross while the channel still fills the buffer, one flit per cycle. The last
        # flit crosses when it has come in: a unit of 8 flits whose head may leave since 3 cycles
        # (`age`) takes at least 5 more, at any speed-up.
        age = now - queues[u(queue)].ready
        crossing = max(
            crossing, setting[at.S_UNIT_FLITS] - age if setting[at.S_UNIT_FLITS] > 1 else 0
        )
    inputs[u(in_port)].free_at = now + crossing
    outputs[u(out_port)].crossing_until = now + crossing

    # 3. The buffer that the unit leaves, and the credit for the sender upstream.
    pop_unit(engine, queue, now + max(crossing, 1))
    credit_at = now + max(crossing, 1) - 1 + inputs[u(in_port)].credit_delay
    # The wheel has one bit per queue and cycle, so a second credit arrives a cycle later.
    while is_marked(engine.credits, credit_at & wheel_mask, queue):
        credit_at += 1
    mark(engine.credits, credit_at & wheel_mask, queue)

    # 4. The unit arrives at its terminal, or in the next buffer. Under virtual cut-through it is
    #    head and tail, and no units are counted.
    sent = np.int64(extra[u(queue)].units_sent) if units_per_packet > 1 else 0
    is_head, is_tail = sent == 0, sent + 1 == units_per_packet
    if next_queue == at.EJECTION:
        if is_tail:
            count_ejection(engine, packet, departure + setting[at.S_EJECT_DELAY])
    else:
        if is_head:
            packets[u(packet)].hops += 1
            if packets[u(packet)].hops > setting[at.S_MAX_HOPS] and totals[at.FAILED_PACKET] == 0:
                totals[at.FAILED_PACKET] = 1 + packet  # `Simulation.blocked` reports a livelock
            if queues[u(queue)].vc_request & at.ESCAPE_BIT != 0:
                totals[at.ESCAPE_HOPS] += 1
        room[u(next_queue)].credits -= 1
        if to_fifo:
            push_fifo(engine, next_queue, out_port, packet, now)
        else:
            engine.units_received[u(next_queue)] += 1
            push_unit(engine, next_queue, packet, departure + outputs[u(out_port)].delay)
    if setting[at.S_WAITING_ROW] >= 0:
        publish_traversal(engine, queue, out_port, next_queue, is_head, is_tail)

    # 5. The virtual channel: under wormhole switching a packet holds it from head to tail.
    if is_tail:
        queues[u(queue)].num_candidates = 0  # the next packet is not routed yet
        if units_per_packet > 1:
            extra[u(queue)].units_sent = 0
            if next_queue != at.EJECTION:
                extra[u(next_queue)].holder = -(now + 1)  # free from the next cycle on
                wake_for_room(engine, next_queue, inputs[u(in_port)].switch, (now + 1) & wheel_mask)
    else:
        extra[u(queue)].units_sent += 1
        if is_head:
            # body and tail follow the head: one candidate, with one virtual channel
            queues[u(queue)].num_candidates = 1
            queues[u(queue)].first_queue = next_queue
            queues[u(queue)].vc_request = (1 << at.VCS_SHIFT) | at.BODY_BIT | 1
            if next_queue != at.EJECTION:
                extra[u(next_queue)].holder = 1 + queue
