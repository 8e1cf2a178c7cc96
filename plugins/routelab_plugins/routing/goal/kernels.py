"""GOAL: directions at injection, adaptive within them."""

from routelab.kernels.grid_hops import (
    OWN,
    channel_towards,
    dimensions,
    directed_order_step,
    offer,
    steps_with_sign,
    weighted_directions,
)
from routelab.kernels.hops import (
    DESTINATION,
    ESCAPE,
    SOURCE,
    STATE,
    TARGET,
    hop_kernel,
    inject_kernel,
    table,
)


@inject_kernel
def inject(tables, reals, packets, packet, queues, hop, random, out):
    """Draw a direction for every dimension by its distances; STATE has the backward ones' bits."""
    source, target = packets[packet, SOURCE], packets[packet, DESTINATION]
    packets[packet, STATE] = weighted_directions(tables, source, target, random, False)
    return 0


@hop_kernel
def hop(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Offer all channels in the drawn directions that are still needed, and the escape.

    The plugin's own array holds the adaptive class and the one behind it.
    """
    target, backwards = packets[packet, TARGET], packets[packet, STATE]
    first, end = tables[table(tables, OWN)], tables[table(tables, OWN) + 1]
    count = 0
    for dimension in range(dimensions(tables)):
        sign = 1 - 2 * ((backwards >> dimension) & 1)
        steps = steps_with_sign(tables, dimension, switch, target, sign)
        if steps != 0:
            onward = channel_towards(tables, switch, dimension, steps)
            count = offer(out, count, onward, first, end, 0)
    onward, ring = directed_order_step(tables, 0, backwards, target, switch)
    return offer(out, count, onward, ring, ring + 1, ESCAPE)
