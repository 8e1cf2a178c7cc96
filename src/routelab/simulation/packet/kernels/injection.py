"""Terminals of the packet engine: generation, destinations and injection of messages.

    generated          the message is in the source queue of its terminal
    begun              its packets are injected, one after the other
    injected           a packet has begun to enter a queue of the switch

`due` is the cycle in which the next message of a terminal is generated. With `injection_queue`
(S_QUEUE_LIMIT packets) it is generated only when the source queue has room for all of it.

`engine.sources` is the timing wheel of the terminals: row ``cycle & S_SOURCE_MASK`` has a bit for
each terminal that is examined in that cycle. A terminal that waits for room is in no row; the
credit that it waits for (`waits_for_credit`) schedules it again.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from routelab.kernels import hops
from routelab.kernels.bits import draw, lowest, mark, u
from routelab.kernels.jit import inline
from routelab.kernels.table_hops import prefetch_pair
from routelab.simulation.packet.kernels import layout as at
from routelab.simulation.packet.kernels.arrays import engine_at, row_of
from routelab.simulation.packet.kernels.buffers import push_unit

_LONGEST_GAP = np.int64(1 << 30)
"""Longest gap between two messages: a cycle of a run plus this gap fits into 32 bits."""

_INJECTING, _COUNTING = range(2)
"""Columns of `source_random`: two streams with the same words, for those who send and who count."""


@inline
def next_gap(engine, terminal, stream):
    """Draw the cycles from one message of a terminal to the next, at least 1.

    The terminal generates a message in each cycle with the same probability p, so the number is
    geometric: 1 + floor(log(share) / log(1 − p)). `gap_scale` is 1 / log(1 − p).
    """
    word = draw(engine.source_random, terminal, stream)
    # 53 bits as a number in (0, 1]: its logarithm is finite
    share = (np.float64(word >> np.uint64(11)) + 1.0) * (1.0 / 9007199254740992.0)
    gap = 1.0 + np.floor(np.log(share) * engine.gap_scale[terminal])
    return _LONGEST_GAP if gap > np.float64(_LONGEST_GAP) else np.int64(gap)


@njit(cache=True, nogil=True, no_cfunc_wrapper=True, _nrt=False)
def first_messages(addresses, sends):
    """Draw the cycle of every terminal's first message; not before cycle 0.

    Both streams begin with the same draws: the one of injection, and the one of `count_generated`.

    Parameters
    ----------
    addresses : int64 array
        Those of the engine's arrays (`array_addresses`).
    sends : bool array, shape (T,)
    """
    engine = engine_at(addresses)
    for terminal in range(len(sends)):
        engine.terminals[u(terminal)].due = -1
        engine.counted[terminal, at.NEXT_GENERATION] = -1
        if sends[terminal]:
            # A gap is at least 1, but the first message may be generated in cycle 0.
            engine.terminals[u(terminal)].due = next_gap(engine, terminal, _INJECTING) - 1
            engine.counted[terminal, at.NEXT_GENERATION] = next_gap(engine, terminal, _COUNTING) - 1


@inline
def inject_units(engine, hop, inject, now):
    """Let every terminal that is scheduled in this cycle inject one unit."""
    sources = engine.sources
    row = now & engine.setting[at.S_SOURCE_MASK]
    for word in range(sources.shape[1]):
        bits = sources[row, word]
        if bits == np.uint64(0):
            continue
        sources[row, word] = np.uint64(0)
        while bits != np.uint64(0):
            terminal = (word << 6) + lowest(bits)
            bits &= bits - np.uint64(1)
            _inject_unit(engine, hop, inject, terminal, now)


@inline
def _inject_unit(engine, hop, inject, terminal, now):
    """Send one unit of a terminal if it has one and there is room; schedule its next try."""
    terminals, outputs, room = engine.terminals, engine.outputs, engine.room
    source_mask = engine.setting[at.S_SOURCE_MASK]
    port = terminals[u(terminal)].port
    # 1. The channel to the switch sends one unit at a time.
    if outputs[u(port)].free_at > now:
        mark(engine.sources, outputs[u(port)].free_at & source_mask, terminal)
        return
    # 2. A terminal between two packets begins the next one, of the next message if this one has no
    #    more. The timing wheel reaches `source_mask` cycles ahead; if the message is due later, the
    #    terminal is examined in the last of these cycles, as often as necessary. For example, now
    #    is cycle 3, the mask is 7, and the message is due in cycle 25: cycles 10, 17, 24 and 25.
    if terminals[u(terminal)].units_left == 0:
        if terminals[u(terminal)].packets_left == 0:
            due = np.int64(terminals[u(terminal)].due)
            if due < 0:
                return
            if due > now:
                mark(engine.sources, min(due, now + source_mask) & source_mask, terminal)
                return
            _begin_message(engine, terminal, due)
        queue = _find_injection_queue(engine, port)
        if queue < 0:
            terminals[u(terminal)].waits_for_credit = 1
            return
        _begin_packet(engine, hop, inject, terminal, queue, now)
    # 3. All units of a packet enter the same queue. Without room, a credit wakes the terminal.
    queue = terminals[u(terminal)].queue
    if room[u(queue)].credits == 0:
        terminals[u(terminal)].waits_for_credit = 1
        return
    _enter_network(engine, terminal, port, queue, now)
    mark(engine.sources, outputs[u(port)].free_at & source_mask, terminal)


@inline
def _find_injection_queue(engine, port):
    """Return the queue of an injection with the most room; −1 if all are full."""
    room, vcs = engine.room, engine.setting[at.S_VCS]
    most_credits, emptiest = np.int64(0), np.int64(-1)
    for queue in range(port * vcs, (port + 1) * vcs):
        num_credits = np.int64(room[u(queue)].credits)
        is_better = num_credits > most_credits
        most_credits = num_credits if is_better else most_credits
        emptiest = queue if is_better else emptiest
    return emptiest


@inline
def _enter_network(engine, terminal, port, queue, now):
    """Send a unit of a terminal over its injection channel into a queue of the switch."""
    terminals, outputs = engine.terminals, engine.outputs
    engine.room[u(queue)].credits -= 1
    push_unit(engine, queue, terminals[u(terminal)].packet, now + outputs[u(port)].delay)
    outputs[u(port)].free_at = now + outputs[u(port)].unit_cycles
    terminals[u(terminal)].units_left -= 1
    engine.by_terminal[terminal, at.INJECTED] += engine.setting[at.S_UNIT_FLITS]


@inline
def _begin_message(engine, terminal, due):
    """Begin the message that was generated in cycle `due`, and draw the cycle of the next one."""
    terminals, setting, totals = engine.terminals, engine.setting, engine.totals
    message_packets = setting[at.S_MESSAGE_PACKETS]
    terminals[u(terminal)].packets_left = message_packets
    terminals[u(terminal)].sequence = 0
    terminals[u(terminal)].generated_at = due
    number = terminals[u(terminal)].num_messages
    terminals[u(terminal)].num_messages = number + 1
    # In a closed loop, `members` lists the targets of all messages, and `part_start` says where the
    # list of a terminal begins. All of them are due from cycle 0 on; after the last one, none is.
    if setting[at.S_CLOSED_LOOP] != 0:
        begin = engine.part_start[terminal]
        terminals[u(terminal)].target = engine.members[begin + number]
        if begin + number + 1 >= engine.part_start[terminal + 1]:
            terminals[u(terminal)].due = -1
    else:
        terminals[u(terminal)].target = _draw_destination(engine, terminal)
        next_due = due + next_gap(engine, terminal, _INJECTING)
        if setting[at.S_QUEUE_LIMIT] > 0:
            next_due = _wait_for_room(engine, terminal, number + 1, next_due)
        terminals[u(terminal)].due = next_due
    # A message of one packet needs no row, because it arrives with the packet.
    if message_packets > 1:
        if totals[at.NUM_FREE_MESSAGES] > 0:
            totals[at.NUM_FREE_MESSAGES] -= 1
            message = np.int64(engine.free_messages[totals[at.NUM_FREE_MESSAGES]])
        else:
            message = totals[at.NEXT_NEW_MESSAGE]
            totals[at.NEXT_NEW_MESSAGE] += 1
        engine.messages[u(message)].generated_at = due
        engine.messages[u(message)].arrived = 0
        engine.messages[u(message)].expected = 0
        terminals[u(terminal)].message = message


@inline
def _wait_for_room(engine, terminal, number, due):
    """Return the cycle, not before `due`, in which the source queue has room for message `number`.

    Messages are numbered from 0. With 8 packets per message and a queue of 16, message 2 has room
    when 3 · 8 − 16 = 8 packets have been injected. If that is yet to come, returns `due` for the
    time being, and sets `room_after` of the terminal to 8: when the 8th packet is injected,
    `_count_injection` makes the message due not before that cycle.
    """
    limit, message_packets = engine.setting[at.S_QUEUE_LIMIT], engine.setting[at.S_MESSAGE_PACKETS]
    needed = (number + 1) * message_packets - limit
    if needed <= 0:
        return due
    # The needed packets were injected already. `entry_cycles`, a ring of the last `limit`
    # injections, has the cycle of the last of them.
    if needed <= engine.terminals[u(terminal)].packets_sent:
        return max(due, np.int64(engine.entry_cycles[terminal, (needed - 1) % limit]))
    # The missing packets are injected before this message begins: they are of earlier messages.
    engine.terminals[u(terminal)].room_after = needed
    return due


@inline
def _count_injection(engine, terminal, now):
    """Count a packet that is injected; if the next message waits for its room, set when it is due.

    (`_wait_for_room` has set `room_after` then.) With limited source queues, `entry_cycles` keeps
    the cycles of the last `limit` injections: in them, `_wait_for_room` and `_count_limited` find
    since when a message has had room.
    """
    terminals, limit = engine.terminals, engine.setting[at.S_QUEUE_LIMIT]
    sent = terminals[u(terminal)].packets_sent
    terminals[u(terminal)].packets_sent = sent + 1
    if limit > 0:
        engine.entry_cycles[terminal, sent % limit] = now
        if sent + 1 == terminals[u(terminal)].room_after:
            terminals[u(terminal)].room_after = 0
            terminals[u(terminal)].due = max(terminals[u(terminal)].due, now)


@inline
def _draw_destination(engine, terminal):
    """Draw the terminal that a message goes to.

    The demand of a terminal has parts. Each is a share of its messages, to a set of terminals.
    """
    # 1. A part by its share: the first whose cumulative share is above a number in [0, 1), by
    #    bisection.
    part_start, part_cumulative = engine.part_start, engine.part_cumulative
    part, last_part = part_start[terminal], part_start[terminal + 1] - 1
    if part < last_part:
        word = draw(engine.random, 0, 0)
        # 53 bits as a number in [0, 1)
        share = np.float64(word >> np.uint64(11)) * (1.0 / 9007199254740992.0)
        while part < last_part:
            middle = (part + last_part) >> 1
            if share < part_cumulative[middle]:
                last_part = middle
            else:
                part = middle + 1
    # 2. A member of its set, all equally likely; unless S_TO_SELF, the terminal itself is drawn
    #    again.
    terminal_set = engine.part_set[part]
    begin = engine.set_start[terminal_set]
    size = engine.set_start[terminal_set + 1] - begin
    if size == 1:
        return np.int64(engine.members[begin])
    while True:
        word = draw(engine.random, 0, 0)
        target = np.int64(engine.members[begin + hops.pick_word(word, size)])
        if target != terminal or engine.setting[at.S_TO_SELF] != 0:
            return target


@inline
def _begin_packet(engine, hop, inject, terminal, queue, now):
    """Create the next packet of the current message, to enter `queue`, and call inject for it."""
    terminals, packets, totals = engine.terminals, engine.packets, engine.totals
    # 1. A row: one that is free again, or the next that was never used.
    if totals[at.NUM_FREE_PACKETS] > 0:
        totals[at.NUM_FREE_PACKETS] -= 1
        packet = np.int64(engine.free_packets[totals[at.NUM_FREE_PACKETS]])
    else:
        packet = totals[at.NEXT_NEW_PACKET]
        totals[at.NEXT_NEW_PACKET] += 1
    totals[at.IN_NETWORK] += 1
    # 2. The packet as routing functions see it, and what the engine counts. Its source, destination
    #    and target are switches.
    target_terminal = terminals[u(terminal)].target
    switch = np.int64(terminals[u(terminal)].switch)
    destination = terminals[u(target_terminal)].switch
    packets[u(packet)].source = switch
    packets[u(packet)].destination = destination
    packets[u(packet)].waypoint = -1
    packets[u(packet)].phase = 0
    packets[u(packet)].hops = 0
    for k in range(hops.STATES):
        engine.states[packet, hops.STATE + k] = 0
    packets[u(packet)].source_terminal = terminal
    packets[u(packet)].target_terminal = target_terminal
    packets[u(packet)].generated_at = terminals[u(terminal)].generated_at
    packets[u(packet)].injected_at = now
    packets[u(packet)].message = terminals[u(terminal)].message
    packets[u(packet)].sequence = terminals[u(terminal)].sequence
    terminals[u(terminal)].sequence += 1
    terminals[u(terminal)].packets_left -= 1
    terminals[u(terminal)].packet = packet
    terminals[u(terminal)].units_left = engine.setting[at.S_UNITS_PER_PACKET]
    terminals[u(terminal)].queue = queue
    _count_injection(engine, terminal, now)
    packets[u(packet)].target = destination
    # 3. The choices of the algorithm, such as a waypoint. A packet to this switch needs none.
    #    With a route table, the first hop reads the table's entry of this pair. If the data exceed
    #    the near caches (S_PREFETCH), this entry is fetched from memory now.
    if engine.setting[at.S_PREFETCH] != 0 and engine.setting[at.S_TABLE_ROUTED] != 0:
        prefetch_pair(engine.tables, engine.states, packet, switch)
    if switch != destination:
        # inject writes the packet's row of `states`, which is the memory of `packets`, and may set
        # the waypoint. It gets an array of this row alone, so the packet is row 0 for it.
        inject(
            engine.tables,
            engine.reals,
            row_of(engine.states, packet),
            np.int64(0),
            engine.visible_queues,
            hop,
            # 0 instead of a script, by which the deadlock checker states the result of draws
            hops.RandomWord(draw(engine.random, 0, 0), np.uint64(0)),
            engine.hop_out,
        )
        # `num_stalled` has an entry for each switch.
        if packets[u(packet)].waypoint >= len(engine.num_stalled):
            # No such switch: the packet goes to its destination, and `Simulation.blocked` reports
            # the algorithm. -1 - packet, which is negative also for packet 0, stands for a packet
            # without a valid candidate.
            engine.totals[at.FAILED_PACKET] = -1 - packet
            packets[u(packet)].waypoint = -1
        if packets[u(packet)].waypoint >= 0:
            packets[u(packet)].target = packets[u(packet)].waypoint


@njit(cache=True, nogil=True, no_cfunc_wrapper=True, _nrt=False)
def count_generated(addresses, now):
    """Count the flits generated before cycle `now`, and return how many packets wait at sources.

    A terminal draws the gap to its next message only when it begins a message, which may be long
    after the message was generated. So this function cannot wait for those draws: it draws the same
    gaps from a second stream with the same words. (With limited source queues, gaps are not all:
    see `_count_limited`.) Updates column GENERATED of `by_terminal`.

    Parameters
    ----------
    addresses : int64 array
        Those of the engine's arrays (`array_addresses`).
    now : int
    """
    engine = engine_at(addresses)
    setting, terminals = engine.setting, engine.terminals
    message_packets = setting[at.S_MESSAGE_PACKETS]
    flits = message_packets * setting[at.S_UNITS_PER_PACKET] * setting[at.S_UNIT_FLITS]
    waiting = np.int64(0)
    for terminal in range(len(terminals)):
        if setting[at.S_CLOSED_LOOP] != 0:
            generated = engine.part_start[terminal + 1] - engine.part_start[terminal]
        elif setting[at.S_QUEUE_LIMIT] > 0:
            generated = _count_limited(engine, terminal, now)
        else:
            generated = np.int64(engine.counted[terminal, at.NUM_GENERATED])
            due = np.int64(engine.counted[terminal, at.NEXT_GENERATION])
            while 0 <= due < now:
                generated += 1
                due += next_gap(engine, terminal, _COUNTING)
            engine.counted[terminal, at.NEXT_GENERATION] = due
            engine.counted[terminal, at.NUM_GENERATED] = generated
        engine.by_terminal[terminal, at.GENERATED] = generated * flits
        waiting += generated * message_packets - terminals[u(terminal)].packets_sent
    return waiting


@inline
def _count_limited(engine, terminal, now):
    """Return how many messages a terminal with a limited source queue has generated before `now`.

    These are the messages that it has begun, and those after them that were due and had room in the
    queue. When a message has room depends on the network, so the second stream cannot run ahead for
    good: each call sets it back to the first one, at the last message begun, and draws again.
    """
    terminals, message_packets = engine.terminals, engine.setting[at.S_MESSAGE_PACKETS]
    limit = engine.setting[at.S_QUEUE_LIMIT]
    generated = np.int64(terminals[u(terminal)].num_messages)
    due = np.int64(terminals[u(terminal)].due)
    sent = terminals[u(terminal)].packets_sent
    engine.source_random[terminal, _COUNTING] = engine.source_random[terminal, _INJECTING]
    # Message number `generated`, from 0, has room when so many packets were injected that it and
    # those before it exceed them by at most `limit` packets (`_wait_for_room`).
    while 0 <= due < now and (generated + 1) * message_packets - limit <= sent:
        generated += 1
        needed = (generated + 1) * message_packets - limit
        due += next_gap(engine, terminal, _COUNTING)
        if 0 < needed <= sent:
            due = max(due, np.int64(engine.entry_cycles[terminal, (needed - 1) % limit]))
    return generated
