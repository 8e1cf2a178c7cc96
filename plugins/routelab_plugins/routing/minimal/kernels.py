"""Shortest paths of any network, switch by switch."""

from routelab.kernels.graph_hops import channel_at, distances_to, leaving
from routelab.kernels.hops import TARGET, hop_kernel


@hop_kernel
def hop(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Offer all channels that come nearer, on the class behind that of the last hop."""
    to = distances_to(tables, packets[packet, TARGET])
    distance = tables[to + switch]
    first, end = leaving(tables, switch)
    count = 0
    for place in range(first, end):
        onward, next_switch = channel_at(tables, place)
        if tables[to + next_switch] == distance - 1:
            out[count, 0] = onward
            out[count, 1] = vc + 1
            out[count, 2] = 0
            count += 1
    return count
