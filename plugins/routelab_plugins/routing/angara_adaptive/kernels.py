"""Angara's adaptive mode, switch by switch."""

from routelab.kernels.grid_hops import offer
from routelab.kernels.hops import ESCAPE, STATE, TARGET, hop_kernel, table

# Arrays of the tables, by number.
HEAD = 0
"""Endpoints; classes of the deterministic routes; virtual channels."""
ENDPOINT = 1
"""Number of each switch among the endpoints."""
DISTANCE = 2
"""Hops by (switch, endpoint)."""
FIRST, CHANNEL = 3, 4
"""Channels that leave each switch."""
END = 5
"""Switch that each channel leads to."""
ROUTE, HOP_CHANNEL, HOP_CLASS = 6, 7, 8
"""First hop of the deterministic route of each pair of endpoints; its hops."""


@hop_kernel
def hop(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Offer channels that come nearer on adaptive virtual channels, and the deterministic route.

    A packet on the deterministic route stays on it. STATE is the next hop of that route, from the
    last switch where the packet could enter it.
    """
    head = table(tables, HEAD)
    ends, classes, end = tables[head], tables[head + 1], tables[head + 2]
    target = tables[table(tables, ENDPOINT) + packets[packet, TARGET]]
    count = 0
    if 0 <= vc < classes:
        place = packets[packet, STATE] + 1
    else:
        endpoint = tables[table(tables, ENDPOINT) + switch]
        place = tables[table(tables, ROUTE) + endpoint * ends + target]
        distance = table(tables, DISTANCE) + target
        nearer = tables[distance + switch * ends] - 1
        first = table(tables, FIRST) + switch
        for k in range(tables[first], tables[first + 1]):
            onward = tables[table(tables, CHANNEL) + k]
            if tables[distance + tables[table(tables, END) + onward] * ends] == nearer:
                count = offer(out, count, onward, classes, end, 0)
    packets[packet, STATE] = place
    onward = tables[table(tables, HOP_CHANNEL) + place]
    escape = tables[table(tables, HOP_CLASS) + place]
    return offer(out, count, onward, escape, escape + 1, ESCAPE)
