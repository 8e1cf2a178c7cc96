"""Angara's adaptive mode, switch by switch."""

from routelab.kernels.grid_hops import offer
from routelab.kernels.hops import ESCAPE, STATE, TARGET, hop_kernel, table

# Arrays of the tables, by number.
HEAD = 0
"""Numbers, at the offsets below: endpoints; classes of the deterministic routes, which come first;
all classes."""
ENDPOINTS, ESCAPE_CLASSES, ALL_CLASSES = range(3)
ENDPOINT = 1
"""Number of each switch among the endpoints."""
DISTANCE = 2
"""Hops by (switch, endpoint)."""
FIRST, CHANNEL = 3, 4
"""Channels that leave each switch."""
CHANNEL_TARGET = 5
"""Switch that each channel leads to."""
FIRST_HOP, HOP_CHANNEL, HOP_CLASS = 6, 7, 8
"""Deterministic routes: number of the first hop by (source, target), as endpoints; channel and
class of each hop. The hops of a route have consecutive numbers."""


@hop_kernel
def hop(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Offer channels that come nearer on adaptive virtual channels, and the deterministic route.

    A packet on the deterministic route stays on it. STATE is the number of the hop of that route
    that is offered: on the route the next one, elsewhere the first hop from this switch. `offer`
    adds a candidate for each class of a range, and returns the number of candidates so far. The
    penalty ESCAPE makes the deterministic route the last resort.
    """
    head = table(tables, HEAD)
    ends, escape_classes = tables[head + ENDPOINTS], tables[head + ESCAPE_CLASSES]
    all_classes = tables[head + ALL_CLASSES]
    target = tables[table(tables, ENDPOINT) + packets[packet, TARGET]]
    count = 0
    if 0 <= vc < escape_classes:
        # the packet came over a channel of its deterministic route (at injection `vc` is −1)
        hop_number = packets[packet, STATE] + 1
    else:
        endpoint = tables[table(tables, ENDPOINT) + switch]
        hop_number = tables[table(tables, FIRST_HOP) + endpoint * ends + target]
        distance = table(tables, DISTANCE) + target
        nearer = tables[distance + switch * ends] - 1
        first = table(tables, FIRST) + switch
        for k in range(tables[first], tables[first + 1]):
            onward = tables[table(tables, CHANNEL) + k]
            if tables[distance + tables[table(tables, CHANNEL_TARGET) + onward] * ends] == nearer:
                count = offer(out, count, onward, escape_classes, all_classes, 0)
    packets[packet, STATE] = hop_number
    onward = tables[table(tables, HOP_CHANNEL) + hop_number]
    escape = tables[table(tables, HOP_CLASS) + hop_number]
    return offer(out, count, onward, escape, escape + 1, ESCAPE)
