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
    """Draw a direction for every dimension, weighted by distance.

    Bit d of STATE is 1 if the packet crosses dimension d in the negative direction.
    """
    source, target = packets[packet, SOURCE], packets[packet, DESTINATION]
    # GOAL, unlike RLBth, does not keep packets for near destinations on the short way
    is_local = False
    packets[packet, STATE] = weighted_directions(tables, source, target, random, is_local)
    return 0  # the number has no meaning


@hop_kernel
def hop(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Offer all channels in the drawn directions that are still needed, and the escape.

    `offer` adds a candidate for each class of a range, and returns the number of candidates so far.
    The plugin's own array holds the adaptive class and its successor, which ends the range. The
    penalty ESCAPE makes the escape the last resort.
    """
    target, backwards = packets[packet, TARGET], packets[packet, STATE]
    adaptive, adaptive_end = tables[table(tables, OWN)], tables[table(tables, OWN) + 1]
    count = 0
    for dimension in range(dimensions(tables)):
        sign = 1 - 2 * ((backwards >> dimension) & 1)
        steps = steps_with_sign(tables, dimension, switch, target, sign)
        if steps != 0:
            onward = channel_towards(tables, switch, dimension, steps)
            count = offer(out, count, onward, adaptive, adaptive_end, 0)
    # 0: the tables have one order of dimensions only
    onward, escape_class = directed_order_step(tables, 0, backwards, target, switch)
    return offer(out, count, onward, escape_class, escape_class + 1, ESCAPE)
