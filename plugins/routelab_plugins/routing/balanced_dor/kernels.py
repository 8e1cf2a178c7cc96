"""Routes of balanced dimension-order routing on whole grids."""

import numpy as np

from routelab.kernels.jit import helper, jit

NATURAL, ROTATED, LONGEST = 0, 1, 2
"""Rules for the order of dimensions of a pair: 0, 1, 2, ...; the same order rotated, so that pairs
begin with different dimensions; the dimension with most hops first."""


@helper()
def _write_order(steps, offset_sum, rule, order):
    """Write the dimensions of one pair to `order`, in the order in which its route crosses them.

    Parameters
    ----------
    steps : int32 array, shape (n,)
        Hops of the pair in each dimension, negative for the negative direction; for LONGEST.
    offset_sum : int
        Coordinates of the target minus those of the source, each modulo the dimension's size, added
        up. ROTATED begins with dimension `offset_sum` mod n, so that all n rotations are used.
    rule : int
        One of the constants above.
    order : int32 array, shape (n,)
        Overwritten with the result.

    Examples
    --------
    For steps (1, −3, 2) and offset_sum 5, the orders are 0 1 2 (NATURAL), 2 0 1 (ROTATED, as 5 mod
    3 is 2) and 1 2 0 (LONGEST).
    """
    n = len(order)
    for k in range(n):
        order[k] = (offset_sum + k) % n if rule == ROTATED else k
    if rule == LONGEST:
        # insertion sort keeps the natural order of equal distances
        for k in range(1, n):
            dimension, position = order[k], k
            while position > 0 and abs(steps[order[position - 1]]) < abs(steps[dimension]):
                order[position] = order[position - 1]
                position -= 1
            order[position] = dimension


@jit
def steps_and_orders(coordinates, dims, wrap, endpoints, rule):
    """Compute the route of every pair of endpoints: its hops in each dimension, and their order.

    Where both ways round a ring are equally long, one is chosen, so each pair has one route. Pair
    ``i * P + j`` goes from endpoint i to endpoint j.

    Parameters
    ----------
    coordinates : int32 array, shape (S, n)
    dims : int64 array, shape (n,)
    wrap : bool array, shape (n,)
        Dimensions that are rings.
    endpoints : int32 array, shape (P,)
    rule : int
        One of the constants above; decides the orders.

    Returns
    -------
    steps : int32 array, shape (P * P, n)
        Hops in each dimension, negative for the negative direction.
    orders : int32 array, shape (P * P, n)
        Dimensions in the order in which they are crossed.
    """
    count, n = len(endpoints), len(dims)
    steps = np.zeros((count * count, n), np.int32)
    orders = np.empty((count * count, n), np.int32)
    for i in range(count):
        for j in range(count):
            pair_steps = steps[i * count + j]
            offset_sum = distance = 0
            for d in range(n):
                offset = coordinates[endpoints[j], d] - coordinates[endpoints[i], d]
                # `ROTATED` adds up the offsets modulo the sizes, each 0 to dims[d] - 1
                offset_sum += offset % dims[d]
                # the shorter way round the ring
                if wrap[d] and 2 * abs(offset) > dims[d]:
                    offset -= dims[d] if offset > 0 else -dims[d]
                pair_steps[d] = offset
                distance += abs(offset)
            for d in range(n):
                if wrap[d] and 2 * abs(pair_steps[d]) == dims[d]:
                    # Both ways round the ring are equally long. The parity of the source's
                    # coordinate decides, so that half of the sources of a ring go each way. The
                    # distance in the other dimensions counts, too, so that a source does not go the
                    # same way to all targets that are half a ring away.
                    other_distance = distance - abs(pair_steps[d])
                    is_odd = (coordinates[endpoints[i], d] + other_distance) % 2 == 1
                    pair_steps[d] = -abs(pair_steps[d]) if is_odd else abs(pair_steps[d])
            _write_order(pair_steps, offset_sum, rule, orders[i * count + j])
    return steps, orders


@jit
def channels_of_routes(steps, orders, endpoints, out_channel, channel_target):
    """Return the channels of all routes, pair after pair.

    Parameters
    ----------
    steps, orders : int32 array, shape (P * P, n)
        From `steps_and_orders`.
    endpoints : int32 array, shape (P,)
    out_channel : int32 array, shape (S, 2n)
        Channel of each switch in the n positive, then the n negative directions.
    channel_target : int32 array, shape (C,)

    Returns
    -------
    hops : int32 array
        Channel of each hop.
    """
    n = steps.shape[1]
    hops = np.empty(np.abs(steps).sum(), np.int32)
    hop = 0
    for pair in range(len(steps)):
        switch = endpoints[pair // len(endpoints)]
        for d in orders[pair]:
            direction = d if steps[pair, d] > 0 else d + n
            for _ in range(abs(steps[pair, d])):
                hops[hop] = out_channel[switch, direction]
                switch = channel_target[hops[hop]]
                hop += 1
    return hops
