"""Shortest paths of any network, switch by switch."""

import numpy as np

from routelab.kernels.bits import u
from routelab.kernels.graph_hops import CHANNELS, TARGETS, distances_to, leaving
from routelab.kernels.hops import TARGET, hop_kernel, table


@hop_kernel
def hop(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Offer all channels that come nearer, on the class after that of the last hop.

    Writes (channel, class, penalty) of each to a row of `out`, and returns their number. At
    injection `vc` is −1, so that the first hop takes class 0.
    """
    distances = np.uint64(distances_to(tables, packets[packet, TARGET]))
    distance = tables[distances + u(switch)]
    first, end = leaving(tables, switch)
    # Read once: for all that the compiler knows, writing to `out` may change them.
    channels, targets = u(table(tables, CHANNELS)), u(table(tables, TARGETS))
    count = np.uint64(0)
    for entry in range(first, end):
        next_switch = u(tables[targets + u(entry)])
        out[count, u(0)] = tables[channels + u(entry)]
        out[count, u(1)] = vc + 1
        out[count, u(2)] = 0  # no penalty: the engine adds the occupancy
        # The channel counts only if it comes nearer; otherwise the next one overwrites it. A branch
        # would be mispredicted, which takes longer than the rest of the loop.
        count += u(tables[distances + next_switch] == distance - 1)
    return np.int64(count)
