"""Output FIFOs of the packet engine, and the channels that take units from them."""

from __future__ import annotations

import numpy as np

from routelab.kernels import hops
from routelab.kernels.bits import draw, lowest, mark, u
from routelab.kernels.jit import inline
from routelab.simulation.packet.kernels import layout as at
from routelab.simulation.packet.kernels.buffers import push_unit
from routelab.simulation.packet.kernels.candidate_ranking import publish_departure
from routelab.simulation.packet.kernels.wakeup import wake_for_room

_NEXT_ROUND = 1 << 30
"""Added to the ranks of those before the start of a round: more than there are queues or ports."""


@inline
def rank_packet(engine, after_start, packet):
    """Return the rank of a packet under the routers' `priority`; the least rank goes first.

    `after_start` is its distance from the start of the round in round-robin order, in queues, ports
    or virtual channels: negative before the start.
    """
    priority = engine.setting[at.S_PRIORITY]
    if priority == at.AGE:
        return np.int64(engine.packets[u(packet)].generated_at)
    if priority == at.ROUND_ROBIN:
        # upwards from the start of the round, then those before it: with start 2 of 4, 2 3 0 1
        return after_start if after_start >= 0 else after_start + _NEXT_ROUND
    return hops.pick_word(draw(engine.random, 0, 0), np.uint64(1 << 30))


@inline
def _request_channel(engine, queue, port, now):
    """Offer the front of a FIFO, which has a credit, to the channel."""
    vc = np.uint64(queue - engine.inputs[u(port)].first_queue)
    engine.links[u(port)].ready_vcs |= np.uint64(1) << vc
    # a channel that sends is examined when it has sent
    if engine.outputs[u(port)].free_at <= now:
        mark(engine.departures, now & engine.setting[at.S_WHEEL_MASK], port)


@inline
def push_fifo(engine, queue, port, packet, now):
    """Add a unit of a packet to the output FIFO of a virtual channel.

    A FIFO has the number of the queue behind its channel (`queue`). The packet of the front unit is
    in the row of the FIFO, those of the units behind it are in a ring of `fifo_slots`.
    """
    fifos, size = engine.fifos, engine.setting[at.S_FIFO_UNITS]
    engine.space[u(queue)].credits -= 1
    count = fifos[u(queue)].count
    fifos[u(queue)].count = count + 1
    if count == 0:
        fifos[u(queue)].packet = packet
        if fifos[u(queue)].credits > 0:
            _request_channel(engine, queue, port, now)
        return
    slot = fifos[u(queue)].front + count
    if slot >= size:
        slot -= size
    engine.fifo_slots[u(queue * size + slot)] = packet


@inline
def take_fifo_credit(engine, queue, now):
    """Count a credit that arrives for the FIFO of a virtual channel, and wake its channel."""
    fifos = engine.fifos
    fifos[u(queue)].credits += 1
    # with more credits, or without a unit, nothing changes for the channel
    if fifos[u(queue)].credits == 1 and fifos[u(queue)].count > 0:
        _request_channel(engine, queue, np.int64(engine.queues[u(queue)].port), now)


@inline
def end_transmissions(engine, now):
    """Free the room of units that have left their FIFOs, and wake the queues that wait for it.

    The channels that may have sent a unit are the bits of this cycle in `departures`. They stay set
    for `begin_transmissions`, which runs later in the cycle.
    """
    links, outputs, departures = engine.links, engine.outputs, engine.departures
    row = now & engine.setting[at.S_WHEEL_MASK]
    for word in range(departures.shape[1]):
        bits = departures[row, word]
        while bits != np.uint64(0):
            port = (word << 6) + lowest(bits)
            bits &= bits - np.uint64(1)
            queue = np.int64(links[u(port)].sending_queue)
            if queue >= 0 and outputs[u(port)].free_at <= now:
                links[u(port)].sending_queue = -1
                engine.space[u(queue)].credits += 1
                wake_for_room(engine, queue, engine.senders[u(queue)].switch, row)


@inline
def begin_transmissions(engine, now):
    """Let every idle channel that is scheduled take a unit from one of its FIFOs, by priority."""
    links, departures = engine.links, engine.departures
    row = now & engine.setting[at.S_WHEEL_MASK]
    for word in range(departures.shape[1]):
        bits = departures[row, word]
        departures[row, word] = np.uint64(0)
        while bits != np.uint64(0):
            port = (word << 6) + lowest(bits)
            bits &= bits - np.uint64(1)
            if links[u(port)].ready_vcs != np.uint64(0):
                _transmit(engine, port, now)


@inline
def _transmit(engine, port, now):
    """Send a unit from one of the FIFOs of a channel."""
    fifos, links, outputs, setting = engine.fifos, engine.links, engine.outputs, engine.setting
    size = setting[at.S_FIFO_UNITS]
    first_queue = np.int64(engine.inputs[u(port)].first_queue)
    ready_vcs = links[u(port)].ready_vcs
    # 1. The virtual channel whose packet has priority, among those with a unit and a credit.
    chosen_vc, least_rank = np.int64(-1), np.int64(0)
    packet = np.int64(-1)
    while ready_vcs != np.uint64(0):
        vc = lowest(ready_vcs)
        ready_vcs &= ready_vcs - np.uint64(1)
        queue = first_queue + vc
        front_packet = np.int64(fifos[u(queue)].packet)
        rank = rank_packet(engine, vc - links[u(port)].round_start, front_packet)
        if chosen_vc < 0 or rank < least_rank:
            chosen_vc, least_rank, packet = vc, rank, front_packet
    # 2. Its unit leaves the FIFO, and takes a credit. The room in the FIFO is free only when the
    #    whole unit has left: `end_transmissions` frees it.
    queue = first_queue + chosen_vc
    count = fifos[u(queue)].count - 1
    fifos[u(queue)].count = count
    if count != 0:
        front = fifos[u(queue)].front + 1
        if front >= size:
            front -= size
        fifos[u(queue)].front = front
        fifos[u(queue)].packet = engine.fifo_slots[u(queue * size + front)]
    fifos[u(queue)].credits -= 1
    if count == 0 or fifos[u(queue)].credits == 0:
        links[u(port)].ready_vcs &= ~(np.uint64(1) << np.uint64(chosen_vc))
    # 3. The channel sends it, and is examined again when it has sent it.
    links[u(port)].round_start = chosen_vc + 1
    links[u(port)].sending_queue = queue
    outputs[u(port)].free_at = now + outputs[u(port)].unit_cycles
    mark(engine.departures, outputs[u(port)].free_at & setting[at.S_WHEEL_MASK], port)
    engine.units_received[u(queue)] += 1
    push_unit(engine, queue, packet, now + outputs[u(port)].delay)
    if setting[at.S_WAITING_ROW] >= 0:
        publish_departure(engine, port)
