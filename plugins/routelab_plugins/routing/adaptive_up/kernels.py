"""Adaptive routing up a fat tree, switch by switch."""

from routelab.kernels.hops import TARGET, hop_kernel, table

PORTS, SHAPES, LEVEL, FIRST_LEAF, CHANNELS = range(5)
"""Arrays: ports of a switch; by level the columns below; level and first leaf of each switch;
channel by (switch, port), −1 if it is missing."""
LEAVES, CHILD_LEAVES, PARALLEL, DOWN_PORTS, ALL_PORTS, COLUMNS = range(6)
"""Leaves below a switch and below its children; links to a child; ports to children; all ports."""


@hop_kernel
def hop(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Offer all channels upwards, or those to the child above the target."""
    target = packets[packet, TARGET]
    firsts = table(tables, FIRST_LEAF)
    # a leaf is the only leaf below itself
    leaf = tables[firsts + target] - tables[firsts + switch]
    shape = table(tables, SHAPES) + COLUMNS * tables[table(tables, LEVEL) + switch]
    if 0 <= leaf < tables[shape + LEAVES]:
        links = tables[shape + PARALLEL]
        first = leaf // tables[shape + CHILD_LEAVES] * links
        end = first + links
    else:
        first, end = tables[shape + DOWN_PORTS], tables[shape + ALL_PORTS]
    row = table(tables, CHANNELS) + switch * tables[table(tables, PORTS)]
    count = 0
    for port in range(first, end):
        onward = tables[row + port]
        if onward >= 0:
            out[count, 0] = onward
            out[count, 1] = 0
            out[count, 2] = 0
            count += 1
    return count
