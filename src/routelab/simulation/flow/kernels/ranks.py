"""Ranks of the flow engine: each works through the tape independently, ahead of the events.

A rank has its own clock: it continues until it needs a message that has not arrived. Its messages
begin to flow at the time of its clock, so this does not change the results.

`at` is the module `layout`, which describes all arrays of `flow`. `u` makes an index unsigned, so
that Numba omits the check for negative ones.
"""

from __future__ import annotations

import numpy as np

from routelab.kernels.bits import u
from routelab.kernels.jit import helper, inline
from routelab.simulation.flow.kernels import layout as at
from routelab.simulation.flow.kernels.events import push_event
from routelab.simulation.flow.kernels.messages import (
    find_or_create_message,
    release_message,
    schedule_message,
)

_COMPUTE, _SEND, _ISEND, _RECV, _IRECV = range(5)  # as routelab.api.blocks


@helper(_nrt=False)
def draw_path(flow, pair, tape_index, number_in_block):
    """Return the bundle of a message: one of the pair's paths, drawn with its share.

    The draw is a hash of the seed, the index on the tape and the number of the send among the
    operations of its block (of all ranks), so that it does not depend on the order of events.
    """
    begin, end = flow.pair_start[u(pair)], flow.pair_start[u(pair) + u(1)]
    if end - begin == 1:
        return begin
    key = (np.uint64(tape_index) << np.uint64(32)) + np.uint64(number_in_block)
    word = at.split_mix_64(at.split_mix_64(key) ^ np.uint64(flow.ints[at.S_SEED]))
    # 53 bits of the hash are a number in [0, 1).
    point = np.float64(word >> np.uint64(11)) * 2.0**-53
    for bundle in range(begin, end - 1):
        if flow.bundles[u(bundle)].cumulative_share > point:
            return bundle
    # Not compared with the last sum, which may be below 1 by a rounding error.
    return end - 1


@helper(_nrt=False)
def _send(flow, rank, operation, number_in_block):
    """Post a send; return the message if it needs its receiver, −1 if it is eager.

    Parameters
    ----------
    operation : int
        Row in `operations`.
    number_in_block : int
        Number of the operation in its block, for the draw of the path.
    """
    operation_row, rank_row = flow.operations[u(operation)], flow.ranks[u(rank)]
    tape_index = rank_row.tape_index
    bundle = draw_path(flow, operation_row.pair, tape_index, number_in_block)
    phase = flow.phase[u(tape_index)]
    flow.sent_bytes[u(bundle), u(phase)] += operation_row.amount
    flow.sent_messages[u(bundle), u(phase)] += 1
    rank_row.clock += flow.reals[at.OVERHEAD]
    message = find_or_create_message(flow, rank_row.first_slot + operation_row.message_number)
    message_row = flow.messages[u(message)]
    message_row.source, message_row.target = rank, operation_row.peer
    message_row.bytes, message_row.bundle = operation_row.amount, bundle
    message_row.state |= at.SEND_POSTED
    # An eager message flows without its receiver, and its sender does not wait for it.
    if operation_row.amount <= flow.reals[at.EAGER_BYTES]:
        message_row.state |= at.SENDER_RELEASED
        schedule_message(flow, message, rank_row.clock, 1.0)
        return -1
    # A larger one flows when both ends are ready. The second of them schedules it: one latency
    # later, or two with a handshake.
    if message_row.state & at.RECEIVE_POSTED:
        schedule_message(
            flow,
            message,
            max(rank_row.clock, message_row.ready_time),
            1.0 + flow.ints[at.S_HANDSHAKE],
        )
    else:
        message_row.ready_time = rank_row.clock
    return message


@helper(_nrt=False)
def _receive(flow, rank, operation):
    """Post a receive; return its message.

    If its send was posted before, this schedules the message. An eager message, however, has been
    scheduled by its send.
    """
    operation_row, rank_row = flow.operations[u(operation)], flow.ranks[u(rank)]
    message = find_or_create_message(flow, rank_row.first_slot + operation_row.message_number)
    message_row = flow.messages[u(message)]
    message_row.state |= at.RECEIVE_POSTED
    if message_row.state & at.SEND_POSTED == 0:
        message_row.source, message_row.target = operation_row.peer, rank
        message_row.ready_time = rank_row.clock
    elif message_row.bytes > flow.reals[at.EAGER_BYTES]:
        schedule_message(
            flow,
            message,
            max(rank_row.clock, message_row.ready_time),
            1.0 + flow.ints[at.S_HANDSHAKE],
        )
    return message


@inline
def _await(flow, rank, request):
    """Let a rank wait for a request, or release its message if the request is complete.

    A request is twice the message, plus 1 for a receive; −1 is an eager send, which is complete.
    """
    if request < 0:
        return
    message, is_receive = request >> 1, request & 1
    message_row, rank_row = flow.messages[u(message)], flow.ranks[u(rank)]
    if message_row.state & at.ARRIVED:
        if is_receive:
            rank_row.clock += flow.reals[at.OVERHEAD]
            release_message(flow, message, at.RECEIVER_RELEASED)
        else:
            release_message(flow, message, at.SENDER_RELEASED)
        return
    message_row.state |= at.RECEIVER_WAITS if is_receive else at.SENDER_WAITS
    rank_row.num_awaited += 1


@helper(_nrt=False)
def _wait(flow, rank, position):
    """Let a rank wait for the open request at a position in its list, or for all (−1)."""
    rank_row, first_request = flow.ranks[u(rank)], flow.request_start[u(rank)]
    if position >= 0:
        request = flow.requests[u(first_request + position)]
        rank_row.num_open -= 1
        # close the gap in the list
        for k in range(position, rank_row.num_open):
            flow.requests[u(first_request + k)] = flow.requests[u(first_request + k + 1)]
        _await(flow, rank, request)
        return
    for k in range(rank_row.num_open):
        _await(flow, rank, flow.requests[u(first_request + k)])
    rank_row.num_open = 0


@helper(_nrt=False)
def _enter_next_block(flow, rank):
    """Move a rank to the next block on the tape.

    Return False, without a change, if `ring` has no room for the messages of this block.
    """
    rank_row, ints, tape = flow.ranks[u(rank)], flow.ints, flow.tape
    tape_index = rank_row.tape_index + 1
    # 1. Messages of all blocks from the first unfinished one to this one may exist simultaneously.
    #    In a shorter ring, two of their slots could share an entry.
    if tape_index < len(tape):
        num_slots = (
            flow.first_slot[u(tape_index) + u(1)] - flow.first_slot[u(ints[at.FIRST_UNFINISHED])]
        )
        if num_slots > len(flow.ring):
            return False
    # 2. Leave the block before, which is finished when all ranks have left it.
    if tape_index > 0:
        flow.num_ranks_past[u(tape_index) - u(1)] += 1
        while (
            ints[at.FIRST_UNFINISHED] < len(tape)
            and flow.num_ranks_past[u(ints[at.FIRST_UNFINISHED])] == ints[at.S_RANKS]
        ):
            ints[at.FIRST_UNFINISHED] += 1
    # 3. Enter the next block, or end the program.
    rank_row.tape_index = tape_index
    while (
        rank_row.next_timestamp < len(flow.timestamp_indices)
        and flow.timestamp_indices[u(rank_row.next_timestamp)] == tape_index
    ):
        flow.timestamps[u(rank_row.next_timestamp), u(rank)] = rank_row.clock
        rank_row.next_timestamp += 1
    if tape_index == len(tape):
        ints[at.NUM_ENDED] += 1
        return True
    block = tape[u(tape_index)]
    rank_row.next_operation = flow.block_start[u(block), u(rank)]
    rank_row.end_operation = flow.block_start[u(block), u(rank) + 1]
    rank_row.first_slot = flow.first_slot[u(tape_index)]
    return True


@helper(_nrt=False)
def run_rank(flow, rank):
    """Run a rank until it waits, ends, or has done `BURST` operations.

    Return False if the rank reaches a block for whose messages `ring` has no room.
    """
    rank_row, tape_length = flow.ranks[u(rank)], len(flow.tape)
    # An operation takes at most one row of `messages`, and the caller has checked that BURST rows
    # are free.
    for _ in range(at.BURST):
        while rank_row.next_operation == rank_row.end_operation:
            if not _enter_next_block(flow, rank):
                return False
            if rank_row.tape_index == tape_length:
                return True
        operation = rank_row.next_operation
        rank_row.next_operation = operation + 1
        operation_row = flow.operations[u(operation)]
        kind = operation_row.kind
        if kind == _COMPUTE:
            rank_row.clock += operation_row.amount
            continue
        if kind <= _ISEND:  # a send: kinds are in the order of the constants
            block = flow.tape[u(rank_row.tape_index)]
            number_in_block = operation - flow.block_start[u(block), 0]
            message = _send(flow, rank, operation, number_in_block)
            request = 2 * message if message >= 0 else -1
        elif kind <= _IRECV:  # a receive
            request = 2 * _receive(flow, rank, operation) + 1
        else:
            _wait(flow, rank, operation_row.peer)
            if rank_row.num_awaited > 0:
                return True
            continue
        # An operation that does not block leaves its request to a later WAIT.
        if kind in (_ISEND, _IRECV):
            flow.requests[u(flow.request_start[u(rank)] + rank_row.num_open)] = request
            rank_row.num_open += 1
        else:
            _await(flow, rank, request)
            if rank_row.num_awaited > 0:
                return True
    # The rank could go on, but first needs free rows again. It continues as an event at its clock.
    push_event(flow, rank_row.clock, -1 - rank)
    return True
