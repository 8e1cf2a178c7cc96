"""Hop-by-hop programs for tests that decide by what they see: one hop function, told what to weigh.

Every hop is on a class of its own, so nothing can wait in a circle. No draw is made, and no two
candidates cost the same: an engine and its twin have to decide alike.
"""

from __future__ import annotations

import numpy as np
from hop_cases import distances, nearer

from routelab.api import HopProgram, Topology, pack_tables
from routelab.kernels.hops import (
    DESTINATION,
    ESCAPE,
    HOPS,
    PHASE,
    SOURCE,
    SOURCE_TERMINAL,
    STATE,
    TARGET,
    TARGET_TERMINAL,
    WAYPOINT,
    channel_flits,
    channel_packets,
    class_flits,
    class_packets,
    either,
    hop_kernel,
    inject_kernel,
    offers,
    table,
    waiting_flits,
    waiting_packets,
)

(
    NOTHING,
    CLASS_FLITS,
    CLASS_PACKETS,
    CHANNEL_FLITS,
    CHANNEL_PACKETS,
    WAITING_FLITS,
    WAITING_PACKETS,
    TERMINALS,
    COUNTER,
) = range(9)
"""What a candidate's penalty is made of, besides its place among the candidates."""

_FEW = 64  # more than candidates


@hop_kernel
def weighed(tables, packets, packet, queues, switch, channel, vc, random, out):
    """All channels that come nearer on the class of the hop, by what `weigh` says.

    With `turns`, a packet whose first channel is taken goes by way of another switch; one hop
    later it may change its mind.
    """
    head = table(tables, 0)
    size, weigh = tables[head], tables[head + 1]
    escapes, turns, places = tables[head + 2], tables[head + 3], tables[head + 4]
    start, over = table(tables, 1), table(tables, 2)
    here = switch * size
    phase = packets[packet, PHASE]
    if turns and phase == 0:
        via = (3 * packets[packet, SOURCE] + 5 * packets[packet, DESTINATION] + 1) % size
        first = tables[over + tables[start + here + packets[packet, TARGET]]]
        taken = either(random, channel_flits(tables, queues, first) > 0)
        hops, waypoint = packets[packet, HOPS], packets[packet, WAYPOINT]
        if taken and hops == 0 and waypoint < 0 and via != switch:
            packets[packet, WAYPOINT] = via
        elif taken and hops == 1 and waypoint >= 0:
            packets[packet, WAYPOINT] = -1
            # at its destination it would have to leave, where it has to go on
            if packets[packet, DESTINATION] == switch:
                packets[packet, WAYPOINT] = waypoint
    begin = start + here + packets[packet, TARGET]
    packets[packet, STATE] += 1
    count = 0
    for k in range(tables[begin], tables[begin + 1]):
        onward = tables[over + k]
        cost = 0
        if weigh == CLASS_FLITS:
            cost = class_flits(tables, queues, onward, phase, vc + 1)
        elif weigh == CLASS_PACKETS:
            cost = class_packets(tables, queues, onward, phase, vc + 1)
        elif weigh == CHANNEL_FLITS:
            cost = channel_flits(tables, queues, onward)
        elif weigh == CHANNEL_PACKETS:
            cost = channel_packets(tables, queues, onward)
        elif weigh == WAITING_FLITS:
            cost = waiting_flits(tables, queues, onward)
        elif weigh == WAITING_PACKETS:
            cost = waiting_packets(tables, queues, onward)
        elif weigh == TERMINALS:
            cost = (packets[packet, SOURCE_TERMINAL] + packets[packet, TARGET_TERMINAL] + k) % 2
        elif weigh == COUNTER:
            cost = (packets[packet, STATE] + k) % 2
        out[count, 0] = onward
        out[count, 1] = vc + 1
        out[count, 2] = _FEW * cost + count if places else cost
        if escapes and (onward + packets[packet, HOPS]) % 2 == 0:
            out[count, 2] += ESCAPE
        count += 1
    return count


@inject_kernel
def by_the_freer_way(tables, reals, packets, packet, queues, hop, random, out):
    """By way of another switch if the first channel to there is freer than the shortest way's."""
    size = tables[table(tables, 0)]
    source, target = packets[packet, SOURCE], packets[packet, DESTINATION]
    via = (3 * source + 5 * target + 1) % size
    if via == source:
        return 0
    offers(hop, tables, packets, packet, queues, source, target, random, out)
    first = out[0, 0]
    straight = channel_flits(tables, queues, first) + waiting_flits(tables, queues, first)
    offers(hop, tables, packets, packet, queues, source, via, random, out)
    first = out[0, 0]
    detour = channel_flits(tables, queues, first) + waiting_flits(tables, queues, first)
    if either(random, detour < straight):
        packets[packet, WAYPOINT] = via
    return 0


def decision_program(
    topology: Topology,
    weigh: int = NOTHING,
    *,
    escapes=False,
    turns=False,
    detours=False,
    places=True,
    **more,
) -> HopProgram:
    """A program of `weighed`; `detours` chooses waypoints at injection, `turns` on the way.

    Without `places` candidates may cost the same.
    """
    ways = nearer(topology)
    size = topology.num_switches
    rows = [ways(s, t) if s != t else [] for s in range(size) for t in range(size)]
    far = max(max(row) for row in distances(topology))
    return HopProgram(
        hop=weighed,
        inject=by_the_freer_way if detours else None,
        tables=pack_tables(
            topology,
            [size, weigh, int(escapes), int(turns), int(places)],
            np.cumsum([0, *map(len, rows)]),
            [channel for row in rows for channel in row],
        ),
        phases=2 if turns or detours else 1,
        vc_classes=far + 1 if turns else far,
        candidates=max(map(len, rows)),
        max_hops=3 * far,
        **more,
    )
