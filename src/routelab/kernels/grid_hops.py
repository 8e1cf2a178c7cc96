"""Routes on whole tori and meshes from coordinates, for hop-by-hop routing functions.

The tables are those of `routelab.toolkit.families.grid_hops.grid_tables`; no array grows with the
square of the number of switches. ``table(tables, X)`` is the index in `tables` at which array X
begins. A *step* count is signed: +3 is three hops in the positive direction of a dimension.
"""

import numpy as np

from routelab.kernels.hops import another, pick, pick_bit, table
from routelab.kernels.jit import inline

# Arrays of the tables, by number; a plugin's own arrays follow from OWN on.
HEAD = 0
"""Four numbers: dimensions, classes of a ring (`ring_classes`), `TIES_…`, orders in ORDERS."""
SIZES = 1
"""Switches along each dimension."""
RINGS = 2
"""1 if a dimension's lines are rings."""
COORDINATES = 3
"""Coordinate by (switch, dimension)."""
OUT = 4
"""Channel by (switch, positive directions, then negative ones); −1 at the end of a line."""
PARITY = 5
"""Parity of the sum of a switch's coordinates."""
ORDERS = 6
"""Orders of the dimensions, by (order, position)."""
SWITCHES = 7
"""Switch at each grid point, row-major over the coordinates."""
OWN = 8

TIES_POSITIVE, TIES_BALANCED, TIES_RANDOM = 0, 1, 2
"""How `tie_sign` chooses between two directions that are half a ring each."""


@inline
def dimensions(tables):
    """Return the number of dimensions."""
    return np.int64(tables[table(tables, HEAD)])


@inline
def ring_classes(tables):
    """Return the number of classes that break ring deadlocks: 2 with a dateline, else 1."""
    return np.int64(tables[table(tables, HEAD) + 1])


@inline
def order_count(tables):
    """Return the number of orders of the dimensions in the tables."""
    return np.int64(tables[table(tables, HEAD) + 3])


@inline
def ring_size(tables, dimension):
    """Return the number of switches on the rings of a dimension; 0 if it has lines."""
    if tables[table(tables, RINGS) + dimension] == 0:
        return np.int64(0)
    return np.int64(tables[table(tables, SIZES) + dimension])


@inline
def coordinate(tables, switch, dimension):
    """Return a coordinate of a switch."""
    return np.int64(tables[table(tables, COORDINATES) + switch * dimensions(tables) + dimension])


@inline
def shortest_steps(tables, dimension, here, there):
    """Return the steps from one switch to the coordinate of another; half a ring is positive.

    On a ring of 8 switches: −3 from 1 to 6, and +4 from 6 to 2.
    """
    steps = coordinate(tables, there, dimension) - coordinate(tables, here, dimension)
    size = ring_size(tables, dimension)
    # Between −size / 2 and +size / 2, without the lower end: half a ring is positive.
    if size:
        if 2 * steps > size:
            steps -= size
        elif 2 * steps <= -size:
            steps += size
    return steps


@inline
def steps_with_sign(tables, dimension, here, there, sign):
    """Return the steps to the coordinate of another switch in the direction of `sign`.

    Fewer than the size of the ring; 0 if the coordinates are equal. On lines `sign` is ignored.
    """
    steps = shortest_steps(tables, dimension, here, there)
    # The other way round the ring. Lines have the ring size 0, so their steps stay as they are.
    if steps * sign < 0:
        steps += sign * ring_size(tables, dimension)
    return steps


@inline
def is_half_ring(tables, dimension, steps):
    """Return whether as many steps in the other direction lead to the same switch."""
    return steps != 0 and 2 * abs(steps) == ring_size(tables, dimension)


@inline
def tie_sign(tables, source, target, here, random, dimension):
    """Return the direction in which half a ring is crossed: +1 or −1.

    Balanced ties depend on the parity of the sum of all coordinates of the source, the target and
    the switch `here`, as in selections (`routelab.toolkit.ties`); random ones on a separate bit of
    the random word for each dimension.
    """
    ties = tables[table(tables, HEAD) + 2]
    if ties == TIES_BALANCED:
        parity = table(tables, PARITY)
        odd = (tables[parity + source] + tables[parity + target] + tables[parity + here]) & 1
        return np.int64(1 - 2 * odd)
    if ties == TIES_RANDOM:
        return np.int64(1 - 2 * pick_bit(random, dimension))
    return np.int64(1)


@inline
def minimal_steps(tables, dimension, source, target, here, random):
    """Return the shortest steps from here towards the target, with ties by `tie_sign`."""
    steps = shortest_steps(tables, dimension, here, target)
    if is_half_ring(tables, dimension, steps):
        steps *= tie_sign(tables, source, target, here, random, dimension)
    return steps


@inline
def channel_towards(tables, here, dimension, steps):
    """Return the channel of the first of some steps from a switch; `steps` is not 0."""
    count = dimensions(tables)
    # Each switch has its channels in positive directions first.
    direction = dimension if steps > 0 else dimension + count
    return np.int64(tables[table(tables, OUT) + here * (2 * count) + direction])


@inline
def ring_class(tables, here, dimension, steps):
    """Return the class of virtual channels of the first step round a ring.

    With these classes no dependencies close a cycle on any ring.

    The dateline of a ring is the channel between its last and its first switch, in either
    direction. A route that crosses the dateline has class 0 up to and including that channel, and
    class 1 behind it. A route that never crosses it has class 1. So class 0 is never used behind
    the dateline, and class 1 never on it: neither closes a ring, and no packet returns from class 1
    to class 0. The class depends only on the switch and the rest of the route. Without a dateline
    it is 0.
    """
    last_class = ring_classes(tables) - 1
    size = ring_size(tables, dimension)
    # Without a dateline the only class is 0. A line has none to cross, so its class is the last.
    if last_class == 0 or size == 0:
        return last_class
    # The rest of the route crosses the dateline if it ends beyond the first or the last switch.
    end_coordinate = coordinate(tables, here, dimension) + steps
    return np.int64(0) if end_coordinate < 0 or end_coordinate >= size else last_class


@inline
def order_step(tables, order, source, target, here, random):
    """Return the next hop of dimension-order routing on a shortest route.

    Parameters
    ----------
    order : int
        Number of the order in the tables.
    source, random
        Only for half a ring, whose direction `tie_sign` chooses.

    Returns
    -------
    channel, vc : int
        `vc` is the class of `ring_class`. −1 and 0 at the target.
    """
    count = dimensions(tables)
    # where the order, and the coordinates of both switches, begin in the tables
    first_dimension = table(tables, ORDERS) + order * count
    here_coordinates = table(tables, COORDINATES) + here * count
    target_coordinates = table(tables, COORDINATES) + target * count
    for position in range(count):
        dimension = np.int64(tables[first_dimension + position])
        # Compared first, because in most calls some coordinates are equal, and to compute their
        # steps takes longer.
        if tables[here_coordinates + dimension] == tables[target_coordinates + dimension]:
            continue
        steps = minimal_steps(tables, dimension, source, target, here, random)
        channel = channel_towards(tables, here, dimension, steps)
        return channel, ring_class(tables, here, dimension, steps)
    return np.int64(-1), np.int64(0)


@inline
def directed_order_step(tables, order, backwards, target, here):
    """Return the next hop of dimension-order routing with a fixed direction in every dimension.

    Parameters
    ----------
    order : int
        Number of the order in the tables.
    backwards : int
        Bit d is set if dimension d is crossed in the negative direction.

    Returns
    -------
    channel, vc : int
        `vc` is the class of `ring_class`. −1 and 0 at the target.
    """
    count = dimensions(tables)
    first_dimension = table(tables, ORDERS) + order * count
    for position in range(count):
        dimension = np.int64(tables[first_dimension + position])
        sign = 1 - 2 * ((backwards >> dimension) & 1)
        steps = steps_with_sign(tables, dimension, here, target, sign)
        if steps != 0:
            channel = channel_towards(tables, here, dimension, steps)
            return channel, ring_class(tables, here, dimension, steps)
    return np.int64(-1), np.int64(0)


@inline
def switch_in_quadrant(tables, source, target, backwards, random):
    """Draw a switch of the quadrant between two switches, uniformly.

    The quadrant has the switches that routes in the given directions can pass, both ends included.
    From (0, 0) to (1, 2) of a mesh it has 6. A packet goes there first, then to its target.

    Parameters
    ----------
    backwards : int
        Bit d is set if the quadrant is in the negative direction of dimension d.
    """
    grid_point = np.int64(0)
    for dimension in range(dimensions(tables)):
        sign = 1 - 2 * ((backwards >> dimension) & 1)
        steps = steps_with_sign(tables, dimension, source, target, sign)
        random = another(random)
        # On a line, the steps may be against `sign`, which is ignored there.
        sign = 1 if steps > 0 else -1
        between = coordinate(tables, source, dimension) + sign * pick(random, abs(steps) + 1)
        size = np.int64(tables[table(tables, SIZES) + dimension])
        # Row-major index. `between` may lie outside of the ring, from 1 − size to 2 · size − 2.
        grid_point = grid_point * size + (between + size) % size
    return np.int64(tables[table(tables, SWITCHES) + grid_point])


@inline
def minimal_directions(tables, source, target, random):
    """Return the shortest direction in each dimension: bit d is set if it is negative.

    Half a ring is crossed in a random direction. The result is the quadrant of
    `switch_in_quadrant`.
    """
    backwards = np.int64(0)
    for dimension in range(dimensions(tables)):
        steps = shortest_steps(tables, dimension, source, target)
        if is_half_ring(tables, dimension, steps):
            random = another(random)
            steps *= 1 - 2 * pick(random, 2)
        if steps < 0:
            backwards |= 1 << dimension
    return backwards


@inline
def weighted_directions(tables, source, target, random, local):
    """Draw the direction in each dimension; bit d of the result is set if it is negative.

    On a ring of k switches a distance of D <= k / 2 takes the short direction with probability
    (k - D) / k and the long one with D / k. A line has one direction.

    Parameters
    ----------
    local : bool
        Distances below k / 4 always take the short direction.
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


@inline
def offer(out, count, channel, first, end, penalty):
    """Add virtual channels `first` to `end` − 1 of a channel to the `count` candidates in `out`.

    A row of `out` is a candidate: channel, class of virtual channels, penalty. Return their number.
    """
    for vc in range(first, end):
        out[count, 0] = channel
        out[count, 1] = vc
        out[count, 2] = penalty
        count += 1
    return count
