"""Routes of balanced dimension-order routing on whole grids."""

import numpy as np

from routelab.kernels.jit import helper, jit

NATURAL, ROTATED, LONGEST = 0, 1, 2
"""Rules for the order of dimensions of a pair."""


@helper()
def _order(steps, number, rule, order):
    """Write the dimensions of one pair in the order in which they are crossed."""
    n = len(order)
    for k in range(n):
        order[k] = (number + k) % n if rule == ROTATED else k
    if rule == LONGEST:
        # insertion sort keeps the natural order of equal distances
        for k in range(1, n):
            d, at = order[k], k
            while at > 0 and abs(steps[order[at - 1]]) < abs(steps[d]):
                order[at] = order[at - 1]
                at -= 1
            order[at] = d


@jit
def relative_positions(coordinates, dims, wrap, endpoints, rule):
    """Compute steps and order of dimensions of every pair.

    Parameters
    ----------
    coordinates : int32 array, shape (S, n)
    dims : int64 array, shape (n,)
    wrap : bool array, shape (n,)
        Dimensions that are rings.
    endpoints : int32 array, shape (P,)
    rule : int
        One of the constants above.

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
            step = steps[i * count + j]
            number = distance = 0
            for d in range(n):
                offset = coordinates[endpoints[j], d] - coordinates[endpoints[i], d]
                number += offset % dims[d]
                if wrap[d] and 2 * abs(offset) > dims[d]:
                    offset -= dims[d] if offset > 0 else -dims[d]
                step[d] = offset
                distance += abs(offset)
            for d in range(n):
                if wrap[d] and 2 * abs(step[d]) == dims[d]:
                    # offset of half a ring: half of the sources go each way, and
                    # others for offsets of odd and of even length in the other dimensions
                    elsewhere = distance - abs(step[d])
                    odd = (coordinates[endpoints[i], d] + elsewhere) % 2 == 1
                    step[d] = -abs(step[d]) if odd else abs(step[d])
            _order(step, number, rule, orders[i * count + j])
    return steps, orders


@jit
def walk(steps, orders, endpoints, out_channel, channel_target):
    """Return the channels of all routes, pair after pair.

    Parameters
    ----------
    steps, orders : int32 array, shape (P * P, n)
        From `relative_positions`.
    endpoints : int32 array, shape (P,)
    out_channel : int32 array, shape (S, 2n)
        As in `routelab.toolkit.DirectionLabels`.
    channel_target : int32 array, shape (C,)

    Returns
    -------
    hops : int32 array
    """
    n = steps.shape[1]
    hops = np.empty(np.abs(steps).sum(), np.int32)
    at = 0
    for p in range(len(steps)):
        switch = endpoints[p // len(endpoints)]
        for d in orders[p]:
            direction = d if steps[p, d] > 0 else d + n
            for _ in range(abs(steps[p, d])):
                hops[at] = out_channel[switch, direction]
                switch = channel_target[hops[at]]
                at += 1
    return hops
