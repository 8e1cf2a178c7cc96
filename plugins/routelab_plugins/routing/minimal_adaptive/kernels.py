"""Minimal adaptive routing, switch by switch."""

from routelab.kernels.grid_hops import (
    OWN,
    channel_towards,
    dimensions,
    is_half_ring,
    offer,
    order_step,
    shortest_steps,
)
from routelab.kernels.hops import ESCAPE, SOURCE, TARGET, hop_kernel, table


@hop_kernel
def hop(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Offer all channels that come nearer, on the adaptive class, and the escape.

    The candidates are written to `out`, and their number is returned. The plugin's own array holds
    the number of the adaptive class, and the next number, where the range of classes ends.
    """
    target = packets[packet, TARGET]
    adaptive, adaptive_end = tables[table(tables, OWN)], tables[table(tables, OWN) + 1]
    count = 0
    for dimension in range(dimensions(tables)):
        steps = shortest_steps(tables, dimension, switch, target)
        if steps != 0:
            onward = channel_towards(tables, switch, dimension, steps)
            count = offer(out, count, onward, adaptive, adaptive_end, 0)  # 0: no penalty
            # both ways round the ring come nearer
            if is_half_ring(tables, dimension, steps):
                onward = channel_towards(tables, switch, dimension, -steps)
                count = offer(out, count, onward, adaptive, adaptive_end, 0)
    # the escape: the next hop in dimension order; 0 is the number of the only order
    onward, escape_class = order_step(tables, 0, packets[packet, SOURCE], target, switch, random)
    return offer(out, count, onward, escape_class, escape_class + 1, ESCAPE)
