"""Route computation: call hop, and turn the candidates that it writes into those of a queue.

hop names candidates by channel, class of virtual channels and penalty (`hop_out`). The engine keeps
them by output port, first queue and `vc_request` (`candidates`).
"""

from __future__ import annotations

import numpy as np

from routelab.kernels import hops
from routelab.kernels.bits import draw, u
from routelab.kernels.jit import inline
from routelab.kernels.table_hops import follow_path
from routelab.simulation.packet.kernels import layout as at
from routelab.simulation.packet.kernels.arrays import row_of
from routelab.simulation.packet.kernels.candidate_ranking import keep_best, publish_decision


@inline
def route_packet(engine, hop, queue, port, packet, now):
    """Compute the candidates of the packet at the front of a queue.

    Updates the queue, its `candidates` if there are several, and the phase and the waypoint of the
    packet. Without a valid candidate the packet is reported as FAILED_PACKET.
    """
    queues, inputs, packets, setting = (
        engine.queues,
        engine.inputs,
        engine.packets,
        engine.setting,
    )
    switch = np.int64(inputs[u(port)].switch)
    channel = inputs[u(port)].channel
    vcs, classes = setting[at.S_VCS], engine.classes
    # 1. A packet at its waypoint begins phase 1, and a packet at its destination is ejected. The
    #    waypoint may be the destination: then both.
    if switch == packets[u(packet)].target:
        if packets[u(packet)].waypoint >= 0 and packets[u(packet)].phase == 0:
            packets[u(packet)].phase = 1
            packets[u(packet)].target = packets[u(packet)].destination
            if setting[at.S_KEEPS_STATE] == 0:
                for k in range(hops.STATES):
                    engine.states[packet, hops.STATE + k] = 0
        if switch == packets[u(packet)].target:
            queues[u(queue)].num_candidates = 1
            terminal = packets[u(packet)].target_terminal
            queues[u(queue)].out_port = setting[at.S_FIRST_EJECTION] + terminal
            queues[u(queue)].first_queue = at.EJECTION
            queues[u(queue)].vc_request = 0
            return
    # 2. hop. It sees the classes of one phase, numbered from 0; those of phase 1 follow them.
    first_class = packets[u(packet)].phase * setting[at.S_PHASE_CLASSES]
    arrival_vc = queue - port * vcs
    arrival_class = np.int64(engine.class_of[u(arrival_vc)])
    waypoint = packets[u(packet)].waypoint
    random = hops.RandomWord(draw(engine.random, 0, 0), np.uint64(0))  # 0: no script
    if setting[at.S_TABLE_ROUTED] != 0:
        count = follow_path(engine.tables, engine.states, packet, switch, random, engine.hop_out)
    else:
        # An injection has no channel. A packet in phase 1 that came over a class of phase 0 has
        # reached its waypoint here. In both cases a route begins, and hop gets −1 as channel and
        # class.
        begins = (channel < 0) | (arrival_class < first_class)
        count = hop(
            engine.tables,
            row_of(engine.states, packet),
            np.int64(0),  # the packet's row in this array of one row
            engine.visible_queues,
            switch,
            np.int64(-1) if begins else np.int64(channel),
            np.int64(-1) if begins else arrival_class - first_class,
            random,
            engine.hop_out,
        )
    # Routes of a table need no check, but a pair may have none: then the count is 0.
    if (setting[at.S_CHECK_CANDIDATES] != 0 or count == 0) and not (
        _are_candidates_valid(engine, switch, count, first_class)
        and (packets[u(packet)].waypoint == waypoint or _aim_at_waypoint(engine, packet, switch))
    ):
        engine.totals[at.FAILED_PACKET] = -1 - packet
        packets[u(packet)].waypoint = waypoint
        count = 0  # the packet waits; `Simulation.blocked` reports it
    # 3. The choice of the best, unless `rank_candidates` makes it (RANK_EACH_CYCLE and above). Only
    #    the best candidate and, after S_ESCAPE_WAIT cycles, the escapes remain.
    ranking = setting[at.S_RANKING]
    ranked_later = setting[at.S_REPEAT] >= at.RANK_EACH_CYCLE
    if ranking != at.ROOM_NOW and count > 1 and not ranked_later:
        count = keep_best(engine, count, first_class)
        wait = setting[at.S_ESCAPE_WAIT]
        if (
            wait > 0
            and engine.hop_out[0, at.HOP_PENALTY] < hops.ESCAPE
            # cycles since the packet was first examined; `first_tried` is 1 + that cycle
            and now + 1 - engine.first_tried[u(queue)] < wait
        ):
            count = 1
    if setting[at.S_WAITING_ROW] >= 0:
        # Several candidates of the ranking "room": switch allocation has yet to choose.
        decided = count == 1 or (count > 1 and ranking != at.ROOM_NOW)
        first_channel = engine.hop_out[0, at.HOP_CHANNEL]
        publish_decision(engine, queue, np.int64(first_channel) if decided else np.int64(-1))
    # 4. Candidates of the queue.
    queues[u(queue)].num_candidates = count
    for k in range(count):
        out_port = np.int64(engine.port_of_channel[u(engine.hop_out[u(k), u(at.HOP_CHANNEL)])])
        vc_class = engine.hop_out[u(k), u(at.HOP_CLASS)] + first_class
        first_queue = out_port * vcs + classes[u(vc_class), u(at.FIRST_VC)]
        num_vcs = np.int64(classes[u(vc_class), u(at.VC_COUNT)])
        # room for one unit, in any virtual channel of the class
        vc_request = (num_vcs << at.VCS_SHIFT) | 1
        if classes[u(vc_class), u(at.UNDER_BUBBLE)] != 0 and inputs[u(out_port)].ring_next >= 0:
            if channel >= 0 and inputs[u(port)].ring_next == out_port and arrival_class == vc_class:
                # Along its ring a packet stays in its virtual channel, and needs room for itself.
                first_queue = out_port * vcs + arrival_vc
                vc_request = (1 << at.VCS_SHIFT) | 1
            else:
                # A packet that enters a ring leaves a bubble: it needs room for two packets.
                vc_request = (num_vcs << at.VCS_SHIFT) | 2
        if engine.hop_out[u(k), u(at.HOP_PENALTY)] >= hops.ESCAPE:
            vc_request |= at.ESCAPE_BIT
        if count == 1:
            queues[u(queue)].out_port = out_port
            queues[u(queue)].first_queue = first_queue
            queues[u(queue)].vc_request = vc_request
        else:
            candidate = queue * setting[at.S_MAX_CANDIDATES] + k
            engine.candidates[u(candidate)].out_port = out_port
            engine.candidates[u(candidate)].first_queue = first_queue
            engine.candidates[u(candidate)].vc_request = vc_request
            engine.candidates[u(candidate)].penalty = engine.hop_out[u(k), u(at.HOP_PENALTY)]
            # Of several candidates that remain after the choice, the first is the best and all
            # others are escapes: the best one goes first if it has room, however long its queue is.
            if k == 0 and ranking != at.ROOM_NOW and not ranked_later:
                engine.candidates[u(candidate)].penalty = at.PREFERRED_PENALTY
    if count > 1:
        engine.watches[u(queue)].low_penalty_bits = 0  # until the packet stalls


@inline
def _are_candidates_valid(engine, switch, count, first_class):
    """Return whether hop wrote at least one candidate, and only existing ones."""
    if not 0 < count <= engine.setting[at.S_MAX_CANDIDATES]:
        return False
    for k in range(count):
        channel = engine.hop_out[u(k), u(at.HOP_CHANNEL)]
        vc_class = engine.hop_out[u(k), u(at.HOP_CLASS)] + first_class
        if not 0 <= channel < len(engine.port_of_channel):
            return False
        if not 0 <= vc_class < len(engine.classes):
            return False
        # a channel that does not leave this switch
        if engine.inputs[u(engine.port_of_channel[u(channel)])].upstream_switch != switch:
            return False
    return True


@inline
def _aim_at_waypoint(engine, packet, switch):
    """Set the target to the waypoint that hop has just set, or the destination if it removed it.

    Returns False if the contract forbids the change: programs of one phase have no waypoint, in
    phase 1 it is reached, and hop is called only for packets that are not at their target.
    """
    packets = engine.packets
    waypoint = packets[u(packet)].waypoint
    may_change = engine.setting[at.S_PHASES] == 2 and packets[u(packet)].phase == 0
    target = waypoint if waypoint >= 0 else packets[u(packet)].destination
    num_switches = len(engine.num_stalled)
    if not may_change or target == switch or not -1 <= waypoint < num_switches:
        return False
    packets[u(packet)].target = target
    return True
