"""Terminals of the packet engine: generation, destinations and injection of messages."""

from __future__ import annotations

import numpy as np
from numba import njit

from routelab.kernels import hops as of
from routelab.kernels.bits import draw, lowest, mark, u
from routelab.kernels.jit import inline
from routelab.kernels.table_hops import prefetch_pair
from routelab.simulation.packet.kernels import layout as at
from routelab.simulation.packet.kernels.arrays import engine_at, row_of
from routelab.simulation.packet.kernels.buffers import push_unit

_FAR = np.int64(1 << 30)


@inline
def next_gap(engine, terminal, stream):
    """Draw the cycles to the next message of a terminal, geometrically."""
    word = draw(engine.source_random, terminal, stream)
    # in (0, 1]: its logarithm is finite
    share = (np.float64(word >> np.uint64(11)) + 1.0) * (1.0 / 9007199254740992.0)
    gap = 1.0 + np.floor(np.log(share) * engine.gap[terminal])
    return _FAR if gap > np.float64(_FAR) else np.int64(gap)


@njit(cache=True, nogil=True, no_cfunc_wrapper=True, _nrt=False)
def first_messages(places, sends):
    """Draw the cycle of every terminal's first message; not before cycle 0.

    Parameters
    ----------
    places : int64 array
        Those of the engine's arrays (`places_of`).
    sends : bool array, shape (T,)
    """
    engine = engine_at(places)
    for terminal in range(len(sends)):
        engine.terminals[u(terminal)].due = -1
        engine.known[terminal, 0] = -1
        if sends[terminal]:
            engine.terminals[u(terminal)].due = next_gap(engine, terminal, 0) - 1
            engine.known[terminal, 0] = next_gap(engine, terminal, 1) - 1


@inline
def inject_units(engine, hop, inject, now):
    """Let the terminals of this cycle inject."""
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
    """Send one unit of a terminal, if it has one and room; schedule the next turn."""
    terminals, outputs, room = engine.terminals, engine.outputs, engine.room
    mask = engine.setting[at.S_SOURCE_MASK]
    port = terminals[u(terminal)].port
    # 1. The channel to the switch sends one unit at a time.
    if outputs[u(port)].free_at > now:
        mark(engine.sources, outputs[u(port)].free_at & mask, terminal)
        return
    # 2. A terminal between two packets begins the next one, of the next message if this one has no
    #    more. A message that is due beyond the wheel is looked for again at the wheel's end.
    if terminals[u(terminal)].units == 0:
        if terminals[u(terminal)].left == 0:
            due = np.int64(terminals[u(terminal)].due)
            if due < 0:
                return
            if due > now:
                mark(engine.sources, min(due, now + mask) & mask, terminal)
                return
            _begin_message(engine, terminal, due)
        queue = _find_injection_queue(engine, port)
        if queue < 0:
            terminals[u(terminal)].waits = 1
            return
        _begin_packet(engine, hop, inject, terminal, queue, now)
    # 3. All units of a packet enter the same queue. Without room, a credit wakes the terminal.
    queue = terminals[u(terminal)].queue
    if room[u(queue)].credits == 0:
        terminals[u(terminal)].waits = 1
        return
    _enter_network(engine, terminal, port, queue, now)
    mark(engine.sources, outputs[u(port)].free_at & mask, terminal)


@inline
def _find_injection_queue(engine, port):
    """Return the free virtual channel of an injection with most room; −1 for none."""
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
    """Add a unit to a queue of the injection."""
    terminals, outputs = engine.terminals, engine.outputs
    engine.room[u(queue)].credits -= 1
    push_unit(engine, queue, terminals[u(terminal)].packet, now + outputs[u(port)].delay)
    outputs[u(port)].free_at = now + outputs[u(port)].busy
    terminals[u(terminal)].units -= 1
    engine.by_terminal[terminal, at.INJECTED] += engine.setting[at.S_UNIT_FLITS]


@inline
def _begin_message(engine, terminal, due):
    """Begin the message that was generated at cycle `due`, and draw the cycle of the next one."""
    terminals, setting, totals = engine.terminals, engine.setting, engine.totals
    size = setting[at.S_MESSAGE_PACKETS]
    terminals[u(terminal)].left = size
    terminals[u(terminal)].sequence = 0
    terminals[u(terminal)].born = due
    number = terminals[u(terminal)].number
    terminals[u(terminal)].number = number + 1
    # In a closed loop, all messages of the list are due from the beginning; the last one ends it.
    if setting[at.S_CLOSED] != 0:
        begin = engine.part_start[terminal]
        terminals[u(terminal)].target = engine.members[begin + number]
        if begin + number + 1 >= engine.part_start[terminal + 1]:
            terminals[u(terminal)].due = -1
    else:
        terminals[u(terminal)].target = _destination(engine, terminal)
        next_due = due + next_gap(engine, terminal, 0)
        if setting[at.S_QUEUE_LIMIT] > 0:
            next_due = _next_room(engine, terminal, number + 1, next_due)
        terminals[u(terminal)].due = next_due
    # A message of one packet needs no row, because it arrives with the packet.
    if size > 1:
        if totals[at.FREE_MESSAGES] > 0:
            totals[at.FREE_MESSAGES] -= 1
            slot = np.int64(engine.free_messages[totals[at.FREE_MESSAGES]])
        else:
            slot = totals[at.FRESH_MESSAGE]
            totals[at.FRESH_MESSAGE] += 1
        engine.messages[u(slot)].born = due
        engine.messages[u(slot)].arrived = 0
        engine.messages[u(slot)].expected = 0
        terminals[u(terminal)].message = slot


@inline
def _next_room(engine, terminal, number, due):
    """Return when a due message can be generated into a source queue with a limit."""
    limit, size = engine.setting[at.S_QUEUE_LIMIT], engine.setting[at.S_MESSAGE_PACKETS]
    needed = (number + 1) * size - limit
    if needed <= 0:
        return due
    if needed <= engine.terminals[u(terminal)].sent:
        return max(due, np.int64(engine.left_at[terminal, (needed - 1) % limit]))
    # this is known when that packet enters, which is before the message begins
    engine.terminals[u(terminal)].owed = needed
    return due


@inline
def _count_entry(engine, terminal, now):
    """Count a packet that enters, and make room for a message that waits for it."""
    terminals, limit = engine.terminals, engine.setting[at.S_QUEUE_LIMIT]
    sent = terminals[u(terminal)].sent
    terminals[u(terminal)].sent = sent + 1
    if limit > 0:
        engine.left_at[terminal, sent % limit] = now
        if sent + 1 == terminals[u(terminal)].owed:
            terminals[u(terminal)].owed = 0
            terminals[u(terminal)].due = max(terminals[u(terminal)].due, now)


@inline
def _destination(engine, terminal):
    """Draw the terminal that a message goes to."""
    part_start, part_upto = engine.part_start, engine.part_upto
    part, last_part = part_start[terminal], part_start[terminal + 1] - 1
    if part < last_part:
        word = draw(engine.random, 0, 0)
        share = np.float64(word >> np.uint64(11)) * (1.0 / 9007199254740992.0)
        while part < last_part:
            middle = (part + last_part) >> 1
            if share < part_upto[middle]:
                last_part = middle
            else:
                part = middle + 1
    group = engine.part_set[part]
    begin = engine.set_start[group]
    size = engine.set_start[group + 1] - begin
    if size == 1:
        return np.int64(engine.members[begin])
    while True:
        word = draw(engine.random, 0, 0)
        target = np.int64(engine.members[begin + of.pick_word(word, size)])
        if target != terminal or engine.setting[at.S_TO_SELF] != 0:
            return target


@inline
def _begin_packet(engine, hop, inject, terminal, queue, now):
    """Create the next packet of the current message."""
    terminals, packets, totals = engine.terminals, engine.packets, engine.totals
    if totals[at.FREE_PACKETS] > 0:
        totals[at.FREE_PACKETS] -= 1
        packet = np.int64(engine.free_packets[totals[at.FREE_PACKETS]])
    else:
        packet = totals[at.FRESH_PACKET]
        totals[at.FRESH_PACKET] += 1
    totals[at.IN_NETWORK] += 1
    target = terminals[u(terminal)].target
    switch = np.int64(terminals[u(terminal)].switch)
    destination = terminals[u(target)].switch
    packets[u(packet)].source = switch
    packets[u(packet)].destination = destination
    packets[u(packet)].waypoint = -1
    packets[u(packet)].phase = 0
    packets[u(packet)].hops = 0
    for k in range(of.STATES):
        engine.states[packet, of.STATE + k] = 0
    packets[u(packet)].terminal = terminal
    packets[u(packet)].drop = target
    packets[u(packet)].born = terminals[u(terminal)].born
    packets[u(packet)].entered = now
    packets[u(packet)].message = terminals[u(terminal)].message
    packets[u(packet)].sequence = terminals[u(terminal)].sequence
    terminals[u(terminal)].sequence += 1
    terminals[u(terminal)].left -= 1
    terminals[u(terminal)].packet = packet
    terminals[u(terminal)].units = engine.setting[at.S_UNITS]
    terminals[u(terminal)].queue = queue
    _count_entry(engine, terminal, now)
    packets[u(packet)].target = destination
    if engine.setting[at.S_FAR] != 0 and engine.setting[at.S_FOLLOWS] != 0:
        prefetch_pair(engine.tables, engine.states, packet, switch)
    if switch != destination:
        inject(
            engine.tables,
            engine.reals,
            row_of(engine.states, packet),
            np.int64(0),
            engine.public,
            hop,
            of.RandomWord(draw(engine.random, 0, 0), np.uint64(0)),
            engine.out,
        )
        if packets[u(packet)].waypoint >= len(engine.num_stalled):
            # no such switch: report the algorithm, and send the packet to its target
            engine.totals[at.LOST] = -1 - packet
            packets[u(packet)].waypoint = -1
        if packets[u(packet)].waypoint >= 0:
            packets[u(packet)].target = packets[u(packet)].waypoint


@njit(cache=True, nogil=True, no_cfunc_wrapper=True, _nrt=False)
def count_generated(places, now):
    """Count the flits generated before cycle `now`, and return the packets still at sources.

    What a terminal generates does not depend on the network unless its queue is limited. So a
    second reader of the same stream of draws runs ahead of the one that sends.

    Parameters
    ----------
    places : int64 array
        Those of the engine's arrays (`places_of`).
    now : int
    """
    engine = engine_at(places)
    setting, terminals = engine.setting, engine.terminals
    size = setting[at.S_MESSAGE_PACKETS]
    flits = size * setting[at.S_UNITS] * setting[at.S_UNIT_FLITS]
    waiting = np.int64(0)
    for terminal in range(len(terminals)):
        if setting[at.S_CLOSED] != 0:
            generated = engine.part_start[terminal + 1] - engine.part_start[terminal]
        elif setting[at.S_QUEUE_LIMIT] > 0:
            generated = _count_limited(engine, terminal, now)
        else:
            generated = np.int64(engine.known[terminal, 1])
            due = np.int64(engine.known[terminal, 0])
            while 0 <= due < now:
                generated += 1
                due += next_gap(engine, terminal, 1)
            engine.known[terminal, 0] = due
            engine.known[terminal, 1] = generated
        engine.by_terminal[terminal, at.GENERATED] = generated * flits
        waiting += generated * size - terminals[u(terminal)].sent
    return waiting


@inline
def _count_limited(engine, terminal, now):
    """Count messages of a terminal whose source queue has a limit."""
    terminals, size = engine.terminals, engine.setting[at.S_MESSAGE_PACKETS]
    limit = engine.setting[at.S_QUEUE_LIMIT]
    number = np.int64(terminals[u(terminal)].number)
    due = np.int64(terminals[u(terminal)].due)
    sent = terminals[u(terminal)].sent
    engine.source_random[terminal, 1] = engine.source_random[terminal, 0]
    while 0 <= due < now and (number + 1) * size - limit <= sent:
        number += 1
        needed = (number + 1) * size - limit
        due += next_gap(engine, terminal, 1)
        if 0 < needed <= sent:
            due = max(due, np.int64(engine.left_at[terminal, (needed - 1) % limit]))
    return number
