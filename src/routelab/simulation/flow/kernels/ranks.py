"""Ranks of the flow engine: each works through the tape independently, ahead of the events.

A rank has its own clock: it continues until it needs a message that has not arrived. Its messages
begin to flow at the time of its clock, so this does not change the results.
"""

from __future__ import annotations

import numpy as np

from routelab.kernels.bits import u
from routelab.kernels.jit import helper, inline
from routelab.simulation.flow.kernels import layout as at
from routelab.simulation.flow.kernels.events import push_event
from routelab.simulation.flow.kernels.messages import (
    find_message,
    release_message,
    schedule_message,
)

_COMPUTE, _SEND, _ISEND, _RECV, _IRECV = range(5)  # as routelab.api.blocks


@helper(_nrt=False)
def draw_path(flow, pair, place, number):
    """Return a message's path; several are drawn by share, from seed and place only."""
    first, end = flow.pair_start[u(pair)], flow.pair_start[u(pair) + u(1)]
    if end - first == 1:
        return first
    key = (np.uint64(place) << np.uint64(32)) + np.uint64(number)
    word = at.mix(at.mix(key) ^ np.uint64(flow.ints[at.S_SEED]))
    point = np.float64(word >> np.uint64(11)) * 2.0**-53
    for bundle in range(first, end - 1):
        if flow.bundles[u(bundle)].upto > point:
            return bundle
    return end - 1


@helper(_nrt=False)
def _send(flow, rank, operation, number):
    """Begin to send; return the message if the rank must wait for it, else −1."""
    one, me = flow.operations[u(operation)], flow.ranks[u(rank)]
    place = me.place
    bundle = draw_path(flow, one.pair, place, number)
    part = flow.part[u(place)]
    flow.sent_bytes[u(bundle), u(part)] += one.amount
    flow.sent[u(bundle), u(part)] += 1
    me.clock += flow.reals[at.OVERHEAD]
    message = find_message(flow, me.slot + one.slot)
    it = flow.messages[u(message)]
    it.source, it.target = rank, one.peer
    it.bytes, it.bundle = one.amount, bundle
    it.state |= at.SENT
    if one.amount <= flow.reals[at.EAGER]:
        it.state |= at.SENDER_GONE
        schedule_message(flow, message, me.clock, 1.0)
        return -1
    if it.state & at.READY:
        schedule_message(flow, message, max(me.clock, it.time), 1.0 + flow.ints[at.S_HANDSHAKE])
    else:
        it.time = me.clock
    return message


@helper(_nrt=False)
def _receive(flow, rank, operation):
    """Post a receive; return its message."""
    one, me = flow.operations[u(operation)], flow.ranks[u(rank)]
    message = find_message(flow, me.slot + one.slot)
    it = flow.messages[u(message)]
    it.state |= at.READY
    if it.state & at.SENT == 0:
        it.source, it.target = one.peer, rank
        it.time = me.clock
    elif it.bytes > flow.reals[at.EAGER]:
        schedule_message(flow, message, max(me.clock, it.time), 1.0 + flow.ints[at.S_HANDSHAKE])
    return message


@inline
def _await(flow, rank, request):
    """Wait for a request, or release it if it is complete."""
    if request < 0:
        return
    message, receives = request >> 1, request & 1
    it, me = flow.messages[u(message)], flow.ranks[u(rank)]
    if it.state & at.DONE:
        if receives:
            me.clock += flow.reals[at.OVERHEAD]
            release_message(flow, message, at.RECEIVER_GONE)
        else:
            release_message(flow, message, at.SENDER_GONE)
        return
    it.state |= at.RECEIVER_WAITS if receives else at.SENDER_WAITS
    me.awaited += 1


@helper(_nrt=False)
def _wait(flow, rank, which):
    """Wait for one open request, or for all (−1)."""
    me, first = flow.ranks[u(rank)], flow.request_start[u(rank)]
    if which >= 0:
        request = flow.requests[u(first + which)]
        me.open -= 1
        for k in range(which, me.open):
            flow.requests[u(first + k)] = flow.requests[u(first + k + 1)]
        _await(flow, rank, request)
        return
    for k in range(me.open):
        _await(flow, rank, flow.requests[u(first + k)])
    me.open = 0


@helper(_nrt=False)
def _next_block(flow, rank):
    """Continue at the next place on the tape; return False without room for its messages."""
    me, ints, tape = flow.ranks[u(rank)], flow.ints, flow.tape
    place = me.place + 1
    if place < len(tape):
        live = flow.tape_slot[u(place) + u(1)] - flow.tape_slot[u(ints[at.OLDEST])]
        if live > len(flow.ring):
            return False
    if place > 0:
        flow.left[u(place) - u(1)] += 1
        while ints[at.OLDEST] < len(tape) and flow.left[u(ints[at.OLDEST])] == ints[at.S_RANKS]:
            ints[at.OLDEST] += 1
    me.place = place
    while me.mark < len(flow.marks) and flow.marks[u(me.mark)] == place:
        flow.marked[u(me.mark), u(rank)] = me.clock
        me.mark += 1
    if place == len(tape):
        ints[at.ENDED] += 1
        return True
    block = tape[u(place)]
    me.operation = flow.block_start[u(block), u(rank)]
    me.end = flow.block_start[u(block), u(rank) + 1]
    me.slot = flow.tape_slot[u(place)]
    return True


@helper(_nrt=False)
def run_rank(flow, rank):
    """Let a rank continue; return False without room for the blocks that it reaches."""
    me, places = flow.ranks[u(rank)], len(flow.tape)
    for _ in range(at.BURST):
        while me.operation == me.end:
            if not _next_block(flow, rank):
                return False
            if me.place == places:
                return True
        operation = me.operation
        me.operation = operation + 1
        one = flow.operations[u(operation)]
        kind = one.kind
        if kind == _COMPUTE:
            me.clock += one.amount
            continue
        if kind <= _ISEND:
            number = operation - flow.block_start[u(flow.tape[u(me.place)]), 0]
            message = _send(flow, rank, operation, number)
            request = 2 * message if message >= 0 else -1
        elif kind <= _IRECV:
            request = 2 * _receive(flow, rank, operation) + 1
        else:
            _wait(flow, rank, one.peer)
            if me.awaited > 0:
                return True
            continue
        if kind in (_ISEND, _IRECV):
            flow.requests[u(flow.request_start[u(rank)] + me.open)] = request
            me.open += 1
        else:
            _await(flow, rank, request)
            if me.awaited > 0:
                return True
    push_event(flow, me.clock, -1 - rank)
    return True
