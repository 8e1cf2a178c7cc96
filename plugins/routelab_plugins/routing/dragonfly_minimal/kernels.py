"""Hierarchical minimal routes of Dragonflies: local, global, local."""

import numpy as np

from routelab.kernels.bits import u
from routelab.kernels.graph_hops import CHANNELS, OWN, TARGETS, leaving
from routelab.kernels.hops import TARGET, hop_kernel, pick, table

GROUPS, IS_DRAWN = 0, 1
"""Numbers of the algorithm: how many groups there are; 1 if packets draw one of several links."""
GROUP, HAS_LINK_TO = OWN + 1, OWN + 2
"""Arrays: group of each switch; 1 if a switch has a link to a group, by (switch, group)."""


@hop_kernel
def hop(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Offer the links of this switch to the target's group, or hops to switches that have one.

    Local hops before the global one take class 0, local hops to the target class 1. Global hops
    take either. A candidate is a row of `out`: channel, class of virtual channels, penalty.
    """
    numbers, group = table(tables, OWN), table(tables, GROUP)
    groups, is_drawn = np.int64(tables[numbers + GROUPS]), tables[numbers + IS_DRAWN] != 0
    target = packets[packet, TARGET]
    current_group, target_group = tables[group + switch], tables[group + target]
    has_link = table(tables, HAS_LINK_TO) + target_group
    is_global_hop = current_group != target_group and tables[has_link + switch * groups] != 0
    first, end = leaving(tables, switch)
    # Read once: for all the compiler knows, `out` may overwrite them. `u` makes an index unsigned,
    # so that Numba does not ask whether it is negative.
    channels, targets = u(table(tables, CHANNELS)), u(table(tables, TARGETS))
    count = np.int64(0)
    for entry in range(first, end):
        next_switch = np.int64(tables[targets + u(entry)])
        if current_group == target_group:
            is_minimal = next_switch == target
        elif is_global_hop:
            is_minimal = tables[u(group + next_switch)] == target_group
        else:
            is_local = tables[u(group + next_switch)] == current_group
            is_minimal = is_local & (tables[u(has_link + next_switch * groups)] != 0)
        out[u(count), u(0)] = tables[channels + u(entry)]
        out[u(count), u(1)] = 1 if current_group == target_group else 0
        out[u(count), u(2)] = 0
        # The next candidate overwrites this one if it is not minimal. A branch would be
        # mispredicted, which takes longer than the rest of the loop.
        count += np.int64(is_minimal)
    if is_drawn and current_group != target_group:
        # Only one of the candidates remains. All have the same class and penalty.
        out[0, 0] = out[pick(random, count), 0]
        count = 1
    # so far global hops are on class 0; offer the same channels on class 1
    if is_global_hop:
        for k in range(count):
            out[count + k, 0], out[count + k, 1], out[count + k, 2] = out[k, 0], 1, 0
        count *= 2
    return count
