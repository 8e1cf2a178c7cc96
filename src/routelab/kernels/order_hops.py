"""Hop functions of dimension-order routing, for several algorithms.

A hop function writes candidates for a packet's next hop to `out`. The tables are those of
`routelab.kernels.grid_hops`; orders of the dimensions are numbered as there.
"""

from routelab.kernels.grid_hops import (
    OWN,
    directed_order_step,
    order_count,
    order_step,
    ring_classes,
    switch_in_quadrant,
    weighted_directions,
)
from routelab.kernels.hops import (
    DESTINATION,
    SOURCE,
    STATE,
    TARGET,
    another,
    hop_kernel,
    inject_kernel,
    inverted,
    pick,
    table,
)

# State of packets of randomized quadrants: directions (bit d: dimension d backwards), the switch
# between both halves of the route, orders of both halves as ``second * num_orders + first``, and
# the half that the packet is in, 0 or 1.
_BACKWARDS, _BETWEEN, _ORDERS, _HALF = STATE, STATE + 1, STATE + 2, STATE + 3


@hop_kernel
def order_hop(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Offer the next hop of a shortest route in the packet's order of dimensions.

    STATE is 1 + the number of the order, which is drawn at the first switch. Each order has
    `ring_classes` separate classes of virtual channels.
    """
    if packets[packet, STATE] == 0:
        packets[packet, STATE] = 1 + pick(random, order_count(tables))
    order = packets[packet, STATE] - 1  # 0 is the state of a packet without an order
    source, target = packets[packet, SOURCE], packets[packet, TARGET]
    # The same word decides ties: `order_step` reads its lower bits, and `pick` used the upper half.
    next_channel, ring_vc = order_step(tables, order, source, target, switch, random)
    # one candidate: channel, class of virtual channels, penalty
    out[0, 0] = next_channel
    out[0, 1] = order * ring_classes(tables) + ring_vc
    out[0, 2] = 0
    return 1  # the number of candidates


@inject_kernel
def quadrant_inject(tables, reals, packets, packet, queues, hop, random, out):
    """Draw directions by distance, a switch in their quadrant, and an order for both halves.

    The plugin's array, OWN, holds 1 if distances below a quarter of a ring always take the short
    direction, else 0.
    """
    source, target = packets[packet, SOURCE], packets[packet, DESTINATION]
    is_local = tables[table(tables, OWN)] != 0
    backwards = weighted_directions(tables, source, target, random, is_local)
    # The directions have used this word and those after it, at most one for each dimension. The
    # switch begins a second sequence, and the orders take the inverse of its first word.
    random = another(inverted(random))
    packets[packet, _BACKWARDS] = backwards
    packets[packet, _BETWEEN] = switch_in_quadrant(tables, source, target, backwards, random)
    num_orders = order_count(tables)
    packets[packet, _ORDERS] = pick(inverted(random), num_orders * num_orders)
    return 0  # the result of an inject function has no meaning


@hop_kernel
def quadrant_hop(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Offer the next hop in dimension order to the switch between both halves, then to the target.

    Each dimension is crossed in the direction that was drawn at injection. Each half of the route,
    and each order in it, has `ring_classes` separate classes of virtual channels.
    """
    between = packets[packet, _BETWEEN]
    if switch == between:
        packets[packet, _HALF] = 1
    half = packets[packet, _HALF]
    num_orders = order_count(tables)
    order = (
        packets[packet, _ORDERS] // num_orders if half else packets[packet, _ORDERS] % num_orders
    )
    target = packets[packet, TARGET] if half else between
    next_channel, ring_vc = directed_order_step(
        tables, order, packets[packet, _BACKWARDS], target, switch
    )
    # one candidate: channel, class of virtual channels, penalty
    out[0, 0] = next_channel
    out[0, 1] = (half * num_orders + order) * ring_classes(tables) + ring_vc
    out[0, 2] = 0
    return 1  # the number of candidates
