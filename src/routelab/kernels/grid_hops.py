"""Ways on whole tori and meshes from coordinates alone, for hop-by-hop routing functions.

The tables are those of `routelab.toolkit.families.grid_hops.grid_tables`; no array grows with the
square of the number of switches. A *step* count is signed: +3 is three hops in the positive
direction of a dimension.
"""

import numpy as np
from numba import njit

from routelab.kernels.hops import another, pick, table

# Arrays of the tables, by number; a plugin's own arrays follow from OWN on.
HEAD = 0
"""Dimensions, classes of a ring, `TIES_…`, number of orders."""
SIZES = 1
"""Switches along each dimension."""
RINGS = 2
"""1 where a dimension's lines are closed to rings."""
COORDINATES = 3
"""Of each switch, by (switch, dimension)."""
OUT = 4
"""Channel by (switch, positive directions, then negative ones); −1 at the end of a line."""
PARITY = 5
"""Of the sum of a switch's coordinates."""
ORDERS = 6
"""Orders of the dimensions, by (order, place)."""
SWITCHES = 7
"""Switch at each place, row-major over the coordinates."""
OWN = 8

TIES_POSITIVE, TIES_BALANCED, TIES_RANDOM = 0, 1, 2


@njit(cache=True)
def dimensions(tables):
    """Number of dimensions."""
    return np.int64(tables[table(tables, HEAD)])


@njit(cache=True)
def ring_classes(tables):
    """Classes of virtual channels that keep rings free of cycles: 2 with a dateline, else 1."""
    return np.int64(tables[table(tables, HEAD) + 1])


@njit(cache=True)
def order_count(tables):
    """Number of orders of the dimensions in the tables."""
    return np.int64(tables[table(tables, HEAD) + 3])


@njit(cache=True)
def ring_size(tables, dimension):
    """Switches on the rings of a dimension; 0 if it has lines."""
    if tables[table(tables, RINGS) + dimension] == 0:
        return np.int64(0)
    return np.int64(tables[table(tables, SIZES) + dimension])


@njit(cache=True)
def coordinate(tables, switch, dimension):
    """Of a switch."""
    return np.int64(tables[table(tables, COORDINATES) + switch * dimensions(tables) + dimension])


@njit(cache=True)
def shortest_steps(tables, dimension, here, there):
    """Steps from one switch to the coordinate of another; half a ring counts as positive."""
    steps = coordinate(tables, there, dimension) - coordinate(tables, here, dimension)
    size = ring_size(tables, dimension)
    if size:
        if 2 * steps > size:
            steps -= size
        elif 2 * steps <= -size:
            steps += size
    return steps


@njit(cache=True)
def steps_with_sign(tables, dimension, here, there, sign):
    """Steps to the coordinate of another switch in the direction of `sign`; on lines as they are.

    Less than the size of the ring; 0 if the coordinates are equal.
    """
    steps = shortest_steps(tables, dimension, here, there)
    if steps * sign < 0:
        steps += sign * ring_size(tables, dimension)
    return steps


@njit(cache=True)
def is_half_ring(tables, dimension, steps):
    """Whether as many steps in the other direction lead to the same switch."""
    return steps != 0 and 2 * abs(steps) == ring_size(tables, dimension)


@njit(cache=True)
def tie_sign(tables, source, target, here, random, dimension):
    """Direction in which half a ring is crossed: +1 or −1.

    Balanced ties look at the parity of the coordinates of source, target and this switch together,
    as selections do (`routelab.toolkit.ties`); random ones at a bit of their own for each
    dimension.
    """
    ties = tables[table(tables, HEAD) + 2]
    if ties == TIES_BALANCED:
        parity = table(tables, PARITY)
        odd = (tables[parity + source] + tables[parity + target] + tables[parity + here]) & 1
        return np.int64(1 - 2 * odd)
    if ties == TIES_RANDOM:
        # pick takes the upper half of the random bits
        bit = np.int64((random >> np.uint64(dimension)) & np.uint64(1))
        return np.int64(1 - 2 * bit)
    return np.int64(1)


@njit(cache=True)
def minimal_steps(tables, dimension, source, target, here, random):
    """The shortest steps from here towards the target, ties decided by `tie_sign`."""
    steps = shortest_steps(tables, dimension, here, target)
    if is_half_ring(tables, dimension, steps):
        steps *= tie_sign(tables, source, target, here, random, dimension)
    return steps


@njit(cache=True)
def channel_towards(tables, here, dimension, steps):
    """The channel that takes the first of those steps; `steps` is not 0."""
    count = dimensions(tables)
    slot = dimension if steps > 0 else dimension + count
    return np.int64(tables[table(tables, OUT) + here * (2 * count) + slot])


@njit(cache=True)
def ring_class(tables, here, dimension, steps):
    """Class of the virtual channel of the first of those steps, free of cycles on every ring.

    With a dateline: 0 as long as the rest of the way in this ring still crosses the channel
    between its last and its first switch (that channel included), 1 behind it and for ways that
    never cross it. So the first class is never used behind the dateline and the second never on
    it: neither closes a ring, and no packet goes back from the second to the first. It looks at
    nothing but the place and the rest of the way. 0 without a dateline.
    """
    last = ring_classes(tables) - 1
    size = ring_size(tables, dimension)
    if last == 0 or size == 0:
        return last
    there = coordinate(tables, here, dimension) + steps
    return np.int64(0) if there < 0 or there >= size else last


@njit(cache=True)
def order_step(tables, order, source, target, here, random):
    """The next hop of dimension-order routing on a shortest way.

    Parameters
    ----------
    order : int
        Which of the orders of the tables.

    Returns
    -------
    channel, vc : int
        `vc` is the class of `ring_class`.
    """
    count = dimensions(tables)
    base = table(tables, ORDERS) + order * count
    from_ = table(tables, COORDINATES) + here * count
    to = table(tables, COORDINATES) + target * count
    for place in range(count):
        dimension = np.int64(tables[base + place])
        # most calls find some coordinates alike, and this is all that they cost
        if tables[from_ + dimension] == tables[to + dimension]:
            continue
        steps = minimal_steps(tables, dimension, source, target, here, random)
        channel = channel_towards(tables, here, dimension, steps)
        return channel, ring_class(tables, here, dimension, steps)
    return np.int64(-1), np.int64(0)


@njit(cache=True)
def directed_order_step(tables, order, backwards, target, here):
    """The next hop of dimension-order routing with a direction fixed for every dimension.

    Parameters
    ----------
    order : int
    backwards : int
        Bit d is set if dimension d is crossed in the negative direction.

    Returns
    -------
    channel, vc : int
        `vc` is the class of `ring_class`.
    """
    count = dimensions(tables)
    base = table(tables, ORDERS) + order * count
    for place in range(count):
        dimension = np.int64(tables[base + place])
        sign = 1 - 2 * ((backwards >> dimension) & 1)
        steps = steps_with_sign(tables, dimension, here, target, sign)
        if steps != 0:
            channel = channel_towards(tables, here, dimension, steps)
            return channel, ring_class(tables, here, dimension, steps)
    return np.int64(-1), np.int64(0)


@njit(cache=True)
def switch_in_quadrant(tables, source, target, backwards, random):
    """One of the switches between two, all alike.

    Parameters
    ----------
    backwards : int
        Bit d is set if the quadrant lies in the negative direction of dimension d.

    Returns
    -------
    switch : int
        Both ends are in the quadrant, too.
    """
    place = np.int64(0)
    for dimension in range(dimensions(tables)):
        sign = 1 - 2 * ((backwards >> dimension) & 1)
        steps = steps_with_sign(tables, dimension, source, target, sign)
        random = another(random)
        sign = 1 if steps > 0 else -1
        there = coordinate(tables, source, dimension) + sign * pick(random, abs(steps) + 1)
        size = np.int64(tables[table(tables, SIZES) + dimension])
        place = place * size + (there + size) % size
    return np.int64(tables[table(tables, SWITCHES) + place])


@njit(cache=True)
def minimal_directions(tables, source, target, random):
    """Bits of the dimensions in which the shortest way is backwards; half a ring is at random."""
    backwards = np.int64(0)
    for dimension in range(dimensions(tables)):
        steps = shortest_steps(tables, dimension, source, target)
        if is_half_ring(tables, dimension, steps):
            random = another(random)
            steps *= 1 - 2 * pick(random, 2)
        if steps < 0:
            backwards |= 1 << dimension
    return backwards


@njit(cache=True)
def weighted_directions(tables, source, target, random, local):
    """Bits of the dimensions that are crossed backwards, directions weighted by their distances.

    On a ring of k switches a distance of D <= k / 2 is gone the short way with probability
    (k - D) / k and the long way with D / k. On a line there is one way.

    Parameters
    ----------
    local : bool
        Distances below k / 4 always go the short way.
    """
    backwards = np.int64(0)
    for dimension in range(dimensions(tables)):
        steps = shortest_steps(tables, dimension, source, target)
        size = ring_size(tables, dimension)
        distance = abs(steps)
        if size and distance and not (local and 4 * distance < size):
            if pick(random, size) < distance:
                steps = -steps
            random = another(random)
        if steps < 0:
            backwards |= 1 << dimension
    return backwards


@njit(cache=True)
def offer(out, count, channel, first, end, penalty):
    """Add virtual channels `first` up to `end` of a channel to the candidates, and count them."""
    for vc in range(first, end):
        out[count, 0] = channel
        out[count, 1] = vc
        out[count, 2] = penalty
        count += 1
    return count
