"""Hierarchical minimal routes of Dragonflies: local, global, local."""

import numpy as np

from routelab.kernels.bits import u
from routelab.kernels.graph_hops import CHANNELS, OWN, TARGETS, leaving
from routelab.kernels.hops import TARGET, hop_kernel, pick, table

GROUPS, DRAWN = 0, 1
"""Numbers of the algorithm: groups; whether the link is drawn."""
GROUP, GATE = OWN + 1, OWN + 2
"""Arrays: group of each switch; whether a switch has a link to a group, by (switch, group)."""


@hop_kernel
def hop(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Offer the switch's own links to the target's group, or hops to switches that have one.

    Local hops before the global one take class 0, local hops to the target class 1. Global hops
    take either.
    """
    numbers, group = table(tables, OWN), table(tables, GROUP)
    groups, drawn = np.int64(tables[numbers + GROUPS]), tables[numbers + DRAWN] != 0
    target = packets[packet, TARGET]
    group_here, group_there = tables[group + switch], tables[group + target]
    gate = table(tables, GATE) + group_there
    leaves = group_here != group_there and tables[gate + switch * groups] != 0
    first, end = leaving(tables, switch)
    # read once: for all the compiler knows, `out` may overwrite them
    channels, targets = u(table(tables, CHANNELS)), u(table(tables, TARGETS))
    count = np.int64(0)
    for place in range(first, end):
        next_switch = np.int64(tables[targets + u(place)])
        if group_here == group_there:
            is_minimal = next_switch == target
        elif leaves:
            is_minimal = tables[u(group + next_switch)] == group_there
        else:
            is_local = tables[u(group + next_switch)] == group_here
            is_minimal = is_local & (tables[u(gate + next_switch * groups)] != 0)
        out[u(count), u(0)] = tables[channels + u(place)]
        out[u(count), u(1)] = 1 if group_here == group_there else 0
        out[u(count), u(2)] = 0
        # a branch would be mispredicted, which takes longer than the rest of the loop
        count += np.int64(is_minimal)
    if drawn and group_here != group_there:
        out[0, 0] = out[pick(random, count), 0]
        count = 1
    if leaves:
        for k in range(count):
            out[count + k, 0], out[count + k, 1], out[count + k, 2] = out[k, 0], 1, 0
        count *= 2
    return count
