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
    begin, end = flow.pair_start[u(pair)], flow.pair_start[u(pair) + u(1)]
    if end - begin == 1:
        return begin
    key = (np.uint64(place) << np.uint64(32)) + np.uint64(number)
    word = at.mix(at.mix(key) ^ np.uint64(flow.ints[at.S_SEED]))
    point = np.float64(word >> np.uint64(11)) * 2.0**-53
    for bundle in range(begin, end - 1):
        if flow.bundles[u(bundle)].upto > point:
            return bundle
    return end - 1


@helper(_nrt=False)
def _send(flow, rank, operation, number):
    """Begin to send; return the message if the rank must wait for it, else −1."""
    operation_row, rank_row = flow.operations[u(operation)], flow.ranks[u(rank)]
    place = rank_row.place
    bundle = draw_path(flow, operation_row.pair, place, number)
    part = flow.part[u(place)]
    flow.sent_bytes[u(bundle), u(part)] += operation_row.amount
    flow.sent[u(bundle), u(part)] += 1
    rank_row.clock += flow.reals[at.OVERHEAD]
    message = find_message(flow, rank_row.slot + operation_row.slot)
    message_row = flow.messages[u(message)]
    message_row.source, message_row.target = rank, operation_row.peer
    message_row.bytes, message_row.bundle = operation_row.amount, bundle
    message_row.state |= at.SENT
    if operation_row.amount <= flow.reals[at.EAGER]:
        message_row.state |= at.SENDER_GONE
        schedule_message(flow, message, rank_row.clock, 1.0)
        return -1
    if message_row.state & at.READY:
        schedule_message(
            flow, message, max(rank_row.clock, message_row.time), 1.0 + flow.ints[at.S_HANDSHAKE]
        )
    else:
        message_row.time = rank_row.clock
    return message


@helper(_nrt=False)
def _receive(flow, rank, operation):
    """Post a receive; return its message."""
    operation_row, rank_row = flow.operations[u(operation)], flow.ranks[u(rank)]
    message = find_message(flow, rank_row.slot + operation_row.slot)
    message_row = flow.messages[u(message)]
    message_row.state |= at.READY
    if message_row.state & at.SENT == 0:
        message_row.source, message_row.target = operation_row.peer, rank
        message_row.time = rank_row.clock
    elif message_row.bytes > flow.reals[at.EAGER]:
        schedule_message(
            flow, message, max(rank_row.clock, message_row.time), 1.0 + flow.ints[at.S_HANDSHAKE]
        )
    return message


@inline
def _await(flow, rank, request):
    """Wait for a request, or release it if it is complete."""
    if request < 0:
        return
    message, receives = request >> 1, request & 1
    message_row, rank_row = flow.messages[u(message)], flow.ranks[u(rank)]
    if message_row.state & at.DONE:
        if receives:
            rank_row.clock += flow.reals[at.OVERHEAD]
            release_message(flow, message, at.RECEIVER_GONE)
        else:
            release_message(flow, message, at.SENDER_GONE)
        return
    message_row.state |= at.RECEIVER_WAITS if receives else at.SENDER_WAITS
    rank_row.awaited += 1


@helper(_nrt=False)
def _wait(flow, rank, position):
    """Wait for one open request, or for all (−1)."""
    rank_row, first_request = flow.ranks[u(rank)], flow.request_start[u(rank)]
    if position >= 0:
        request = flow.requests[u(first_request + position)]
        rank_row.open -= 1
        for k in range(position, rank_row.open):
            flow.requests[u(first_request + k)] = flow.requests[u(first_request + k + 1)]
        _await(flow, rank, request)
        return
    for k in range(rank_row.open):
        _await(flow, rank, flow.requests[u(first_request + k)])
    rank_row.open = 0


@helper(_nrt=False)
def _next_block(flow, rank):
    """Continue at the next place on the tape; return False without room for its messages."""
    rank_row, ints, tape = flow.ranks[u(rank)], flow.ints, flow.tape
    place = rank_row.place + 1
    if place < len(tape):
        live = flow.tape_slot[u(place) + u(1)] - flow.tape_slot[u(ints[at.OLDEST])]
        if live > len(flow.ring):
            return False
    if place > 0:
        flow.left[u(place) - u(1)] += 1
        while ints[at.OLDEST] < len(tape) and flow.left[u(ints[at.OLDEST])] == ints[at.S_RANKS]:
            ints[at.OLDEST] += 1
    rank_row.place = place
    while (
        rank_row.next_timestamp < len(flow.timestamp_places)
        and flow.timestamp_places[u(rank_row.next_timestamp)] == place
    ):
        flow.timestamps[u(rank_row.next_timestamp), u(rank)] = rank_row.clock
        rank_row.next_timestamp += 1
    if place == len(tape):
        ints[at.ENDED] += 1
        return True
    block = tape[u(place)]
    rank_row.operation = flow.block_start[u(block), u(rank)]
    rank_row.end = flow.block_start[u(block), u(rank) + 1]
    rank_row.slot = flow.tape_slot[u(place)]
    return True


@helper(_nrt=False)
def run_rank(flow, rank):
    """Let a rank continue; return False without room for the blocks that it reaches."""
    rank_row, places = flow.ranks[u(rank)], len(flow.tape)
    # An operation begins at most one message, and the caller has room for BURST of them.
    for _ in range(at.BURST):
        while rank_row.operation == rank_row.end:
            if not _next_block(flow, rank):
                return False
            if rank_row.place == places:
                return True
        operation = rank_row.operation
        rank_row.operation = operation + 1
        operation_row = flow.operations[u(operation)]
        kind = operation_row.kind
        if kind == _COMPUTE:
            rank_row.clock += operation_row.amount
            continue
        if kind <= _ISEND:
            number = operation - flow.block_start[u(flow.tape[u(rank_row.place)]), 0]
            message = _send(flow, rank, operation, number)
            request = 2 * message if message >= 0 else -1
        elif kind <= _IRECV:
            request = 2 * _receive(flow, rank, operation) + 1
        else:
            # `peer` of a WAIT is the number of the request, or −1 for all
            _wait(flow, rank, operation_row.peer)
            if rank_row.awaited > 0:
                return True
            continue
        # an operation that does not block leaves its request to a later WAIT
        if kind in (_ISEND, _IRECV):
            flow.requests[u(flow.request_start[u(rank)] + rank_row.open)] = request
            rank_row.open += 1
        else:
            _await(flow, rank, request)
            if rank_row.awaited > 0:
                return True
    # the rank could go on: it continues when the events have come to its clock
    push_event(flow, rank_row.clock, -1 - rank)
    return True
