"""Calls of the algorithm, and candidates from its answers."""

from __future__ import annotations

import numpy as np

from routelab.kernels import hops as of
from routelab.kernels.bits import draw, u
from routelab.kernels.jit import inline
from routelab.kernels.table_hops import follow_path
from routelab.simulation.packet.kernels import layout as at
from routelab.simulation.packet.kernels.arrays import row_of
from routelab.simulation.packet.kernels.candidate_ranking import keep_best, publish_decision


@inline
def route_packet(engine, hop, queue, port, packet, now):
    """Compute the candidates of the packet at the front of a queue."""
    queues, inputs, packets, setting = (
        engine.queues,
        engine.inputs,
        engine.packets,
        engine.setting,
    )
    switch = np.int64(inputs[u(port)].switch)
    channel = inputs[u(port)].channel
    vcs, classes = setting[at.S_VCS], engine.classes
    if switch == packets[u(packet)].target:
        if packets[u(packet)].waypoint >= 0 and packets[u(packet)].phase == 0:
            packets[u(packet)].phase = 1
            packets[u(packet)].target = packets[u(packet)].destination
            if setting[at.S_KEEPS_STATE] == 0:
                for k in range(of.STATES):
                    engine.states[packet, of.STATE + k] = 0
        if switch == packets[u(packet)].target:
            queues[u(queue)].choices = 1
            queues[u(queue)].out = setting[at.S_EJECTIONS] + packets[u(packet)].drop
            queues[u(queue)].first = at.LEAVES
            queues[u(queue)].kind = 0
            return
    shift = packets[u(packet)].phase * setting[at.S_CLASSES]
    arrival_vc = queue - port * vcs
    arrival_class = np.int64(engine.class_of[u(arrival_vc)])
    waypoint = packets[u(packet)].waypoint
    random = of.RandomWord(draw(engine.random, 0, 0), np.uint64(0))
    if setting[at.S_FOLLOWS] != 0:
        count = follow_path(engine.tables, engine.states, packet, switch, random, engine.out)
    else:
        # a packet that came in phase 0 and is in phase 1 has reached its waypoint here
        begins = (channel < 0) | (arrival_class < shift)
        count = hop(
            engine.tables,
            row_of(engine.states, packet),
            np.int64(0),
            engine.public,
            switch,
            np.int64(-1) if begins else np.int64(channel),
            np.int64(-1) if begins else arrival_class - shift,
            random,
            engine.out,
        )
    if (setting[at.S_CHECKS] != 0 or count == 0) and not (
        _are_valid(engine, switch, count, shift)
        and (packets[u(packet)].waypoint == waypoint or _apply_waypoint(engine, packet, switch))
    ):
        engine.totals[at.LOST] = -1 - packet
        packets[u(packet)].waypoint = waypoint
        count = 0
    ranking = setting[at.S_RANKING]
    ranks = setting[at.S_AGAIN] >= at.RANK_AGAIN
    if ranking != at.ROOM_NOW and count > 1 and not ranks:
        count = keep_best(engine, count, shift)
        wait = setting[at.S_ESCAPE_WAIT]
        if wait > 0 and engine.out[0, 2] < of.ESCAPE and now + 1 - engine.tried[u(queue)] < wait:
            count = 1
    if setting[at.S_WAITING] >= 0:
        decided = count == 1 or (count > 1 and ranking != at.ROOM_NOW)
        publish_decision(engine, queue, np.int64(engine.out[0, 0]) if decided else np.int64(-1))
    queues[u(queue)].choices = count
    for k in range(count):
        out = np.int64(engine.port_of_channel[u(engine.out[u(k), u(0)])])
        vc_class = engine.out[u(k), u(1)] + shift
        first_queue = out * vcs + classes[u(vc_class), u(0)]
        num_vcs = np.int64(classes[u(vc_class), u(1)])
        kind = (num_vcs << at.NUM_VCS) | 1
        if classes[u(vc_class), u(2)] != 0 and inputs[u(out)].ring_next >= 0:
            if channel >= 0 and inputs[u(port)].ring_next == out and arrival_class == vc_class:
                # along its ring a packet stays in its virtual channel
                first_queue = out * vcs + arrival_vc
                kind = (1 << at.NUM_VCS) | 1
            else:
                kind = (num_vcs << at.NUM_VCS) | 2
        if engine.out[u(k), u(2)] >= of.ESCAPE:
            kind |= at.ESCAPES
        if count == 1:
            queues[u(queue)].out = out
            queues[u(queue)].first = first_queue
            queues[u(queue)].kind = kind
        else:
            place = queue * setting[at.S_MAX_CANDIDATES] + k
            engine.candidates[u(place)].out = out
            engine.candidates[u(place)].first = first_queue
            engine.candidates[u(place)].kind = kind
            engine.candidates[u(place)].penalty = engine.out[u(k), u(2)]
            if k == 0 and ranking != at.ROOM_NOW and not ranks:
                engine.candidates[u(place)].penalty = at.PREFERRED
    if count > 1:
        engine.watches[u(queue)].near = 0  # until the packet stalls


@inline
def _are_valid(engine, switch, count, shift):
    """Return whether an algorithm gave at least one candidate, and only existing ones."""
    if not 0 < count <= engine.setting[at.S_MAX_CANDIDATES]:
        return False
    for k in range(count):
        channel, vc_class = engine.out[u(k), u(0)], engine.out[u(k), u(1)] + shift
        if not 0 <= channel < len(engine.port_of_channel):
            return False
        if not 0 <= vc_class < len(engine.classes):
            return False
        if engine.inputs[u(engine.port_of_channel[u(channel)])].from_ != switch:
            return False
    return True


@inline
def _apply_waypoint(engine, packet, switch):
    """Apply the waypoint that hop has set, and return whether hop may set it here."""
    packets = engine.packets
    waypoint = packets[u(packet)].waypoint
    allowed = engine.setting[at.S_PHASES] == 2 and packets[u(packet)].phase == 0
    target = waypoint if waypoint >= 0 else packets[u(packet)].destination
    if not allowed or target == switch or not -1 <= waypoint < len(engine.num_stalled):
        return False
    packets[u(packet)].target = target
    return True
