"""Adaptive routing up a fat tree, switch by switch."""

from routelab.kernels.hops import TARGET, hop_kernel, table

PORTS, LEVEL_SHAPES, LEVEL, FIRST_LEAF, CHANNELS = range(5)
"""Arrays: ports of a switch; a row for each level, with the columns below; level of each switch,
and number of the first leaf below it; channel by (switch, port), −1 if it is missing."""
LEAVES, CHILD_LEAVES, PARALLEL, DOWN_PORTS, ALL_PORTS, COLUMNS = range(6)
"""Columns of a level: leaves below a switch, leaves below each of its children, parallel links to
each child, ports to children, all ports. Ports to children come first. COLUMNS counts these."""


@hop_kernel
def hop(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Offer all channels upwards or, once the target is below, those to the child above it.

    A candidate is a row of `out`: channel, class of virtual channels, penalty. The only class is 0,
    and no candidate has a penalty, because the engine adds the occupancy. Returns their number.
    """
    target = packets[packet, TARGET]
    first_leaf = table(tables, FIRST_LEAF)
    # Number of the target among the leaves below the switch. The target is a leaf, so its own
    # FIRST_LEAF is its number.
    leaf = tables[first_leaf + target] - tables[first_leaf + switch]
    shape = table(tables, LEVEL_SHAPES) + COLUMNS * tables[table(tables, LEVEL) + switch]
    is_below = 0 <= leaf < tables[shape + LEAVES]
    if is_below:
        links = tables[shape + PARALLEL]
        child = leaf // tables[shape + CHILD_LEAVES]
        first = child * links
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
