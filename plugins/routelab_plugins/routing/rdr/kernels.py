"""Random Distance Routing, switch by switch."""

from routelab.kernels.grid_hops import (
    OWN,
    channel_towards,
    dimensions,
    is_half_ring,
    offer,
    order_step,
    shortest_steps,
)
from routelab.kernels.hops import ESCAPE, SOURCE, TARGET, another, hop_kernel, pick, table


@hop_kernel
def hop(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Offer one of the neighbours closer to the target, drawn uniformly, and the escape.

    The candidates are written to `out`, and their number is returned. The plugin's own array holds
    the number of the adaptive class, and the next number, where the range of classes ends.
    """
    target = packets[packet, TARGET]
    # 1. Count the closer neighbours: one for each unaligned dimension, two at half a ring.
    closer = 0
    for dimension in range(dimensions(tables)):
        steps = shortest_steps(tables, dimension, switch, target)
        closer += steps != 0
        closer += is_half_ring(tables, dimension, steps)
    # 2. Draw the number of one, and count down to it. Way 0 is the shortest way in a dimension; at
    #    half a ring way 1, with the opposite sign, is as short.
    chosen = pick(random, closer)
    adaptive, adaptive_end = tables[table(tables, OWN)], tables[table(tables, OWN) + 1]
    count = 0
    for dimension in range(dimensions(tables)):
        steps = shortest_steps(tables, dimension, switch, target)
        for way in range((steps != 0) + is_half_ring(tables, dimension, steps)):
            if chosen == 0:
                sign = 1 - 2 * way
                onward = channel_towards(tables, switch, dimension, steps * sign)
                count = offer(out, count, onward, adaptive, adaptive_end, 0)  # 0: no penalty
            chosen -= 1
    # 3. The escape: the next hop in dimension order; 0 is the number of the only order.
    onward, escape_class = order_step(
        tables, 0, packets[packet, SOURCE], target, switch, another(random)
    )
    return offer(out, count, onward, escape_class, escape_class + 1, ESCAPE)
