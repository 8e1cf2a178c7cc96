"""Random allocations of switches to a job, as schedulers make them.

Two models: a connected set that grows at random, like the irregular allocations on a busy machine,
and a sub-box, which schedulers of tori prefer. Both draw raw random numbers, which are the same in
every numpy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from math import prod

import numpy as np

from routelab.api.errors import InputError
from routelab.api.topology import BoolArray

Neighbours = Callable[[int], Iterable[int]]


def connected_set(neighbours: Neighbours, free: BoolArray, count: int, seed: int) -> BoolArray:
    """Grow a connected set of free switches from a random one.

    Every step adds one of the free switches next to the set, each with the same probability, until
    the set has `count` switches: Eden, *A Two-dimensional Growth Process*, Proc. Fourth Berkeley
    Symposium on Mathematical Statistics and Probability, vol. 4, 1961. With the same seed a larger
    set includes the smaller one if both fit into the connected part of the first switch.

    Parameters
    ----------
    neighbours : function of a switch
        Return the switches to which working links lead from it.
    free : bool array, shape (S,)
    count : int
        1 or more.
    seed : int

    Returns
    -------
    chosen : bool array, shape (S,)

    Raises
    ------
    InputError
        If no connected part has that many free switches.
    """
    # The second word of the seed makes the stream differ from that of random failures.
    generator = np.random.PCG64([seed, 1])
    candidates = np.flatnonzero(free)
    # Sorted by random keys, the free switches are in random order.
    starts = candidates[np.argsort(generator.random_raw(len(candidates)), kind="stable")]
    in_tried_component: BoolArray = np.zeros(len(free), dtype=np.bool_)
    largest = 0
    # If the component of a start is too small, it is too small for all of its switches.
    for start in starts.tolist():
        if in_tried_component[start]:
            continue
        switches = _grow_set(neighbours, free, start, count, generator)
        chosen: BoolArray = np.zeros(len(free), dtype=np.bool_)
        chosen[switches] = True
        if len(switches) == count:
            return chosen
        in_tried_component |= chosen
        largest = max(largest, len(switches))
    raise InputError(f"allocate: no connected part has {count} switches, the largest has {largest}")


def _grow_set(
    neighbours: Neighbours, free: BoolArray, start: int, count: int, generator: np.random.PCG64
) -> list[int]:
    """Grow a set to at most `count` switches; return them in the order of addition.

    The set stays smaller if its connected component has fewer free switches.
    """
    chosen, frontier, reached = [start], [], {start}
    while len(chosen) < count:
        # The frontier is the free switches next to the set. Only the last addition can extend it.
        for switch in neighbours(chosen[-1]):
            if free[switch] and switch not in reached:
                reached.add(switch)
                frontier.append(switch)
        if not frontier:
            break
        drawn = int(generator.random_raw()) % len(frontier)
        # Removing the last element takes constant time, and the frontier has no order.
        frontier[drawn], frontier[-1] = frontier[-1], frontier[drawn]
        chosen.append(frontier.pop())
    return chosen


def free_box(
    dims: Sequence[int], wrap: Sequence[bool], free: BoolArray, count: int, seed: int
) -> BoolArray:
    """Choose a sub-box of a grid at random, all of whose switches are free.

    Choose among the most compact boxes (least sum of their sizes) with `count` switches that fit
    somewhere; equal ones at random. A box may reach over the end of a ring.

    Parameters
    ----------
    dims, wrap
        Sizes of the grid, and which dimensions are rings.
    free : bool array, shape (S,)
        Free switches by original index.
    count : int
        1 or more.
    seed : int

    Returns
    -------
    chosen : bool array, shape (S,)

    Raises
    ------
    InputError
        If no box has that many switches, or none of them is free.
    """
    generator = np.random.PCG64([seed, 1])
    dims_text = "x".join(map(str, dims))
    boxes = [box for box in product(*(range(1, size + 1) for size in dims)) if prod(box) == count]
    if not boxes:
        raise InputError(
            f"allocate: no box of {dims_text} has {count} switches; choose a number with other "
            "factors, or shape=connected"
        )
    # Of boxes with equal products of their sizes, the one with the least sum is the most compact:
    # for 8 switches 2x2x2 (6), then 4x2x1 (7), then 8x1x1 (10). Equal sums come in random order.
    tie_order = dict(zip(boxes, generator.random_raw(len(boxes)).tolist(), strict=True))
    for box in sorted(boxes, key=lambda box: (sum(box), tie_order[box])):
        corners = np.flatnonzero(_mark_free_corners(dims, wrap, free, box))
        if not corners.size:
            continue
        corner = np.unravel_index(corners[int(generator.random_raw()) % corners.size], dims)
        # Modulo the size, because a box may reach over the end of a ring.
        coordinates = [
            (np.arange(length) + first) % size
            for length, first, size in zip(box, corner, dims, strict=True)
        ]
        chosen: BoolArray = np.zeros(tuple(dims), dtype=np.bool_)
        chosen[np.ix_(*coordinates)] = True
        return chosen.reshape(-1)
    raise InputError(f"allocate: no box of {count} switches is free in {dims_text}; allocate fewer")


def _mark_free_corners(
    dims: Sequence[int], wrap: Sequence[bool], free: BoolArray, box: Sequence[int]
) -> BoolArray:
    """Mark the lowest corners of boxes with free switches only; bool, shape of the grid.

    Line of 4 switches of which switch 0 has failed, box of length 2: corners 1 and 2.
    """
    # The box grows from a single switch, one dimension after the other: 1x1, 2x1, then 2x3. `fits`
    # marks the corners where the box fits so far. A longer box fits at a corner if this box fits
    # there and at the next corners along the axis, `length` in all. Rolling by -k brings the mark
    # of the corner k further along to each corner. In the example, with 1 as the mark:
    #
    #     fits                0 1 1 1
    #     rolled by -1        1 1 1 0
    #     both                0 1 1 0
    fits: BoolArray = free.reshape(tuple(dims)).copy()
    for axis, (size, ring, length) in enumerate(zip(dims, wrap, box, strict=True)):
        fits = np.logical_and.reduce([np.roll(fits, -k, axis) for k in range(length)])
        # Rolling wraps around, but a box may reach over the end of a ring only. On a line of 4, a
        # box of 2 has only the corners 0 to 2. A box as long as its ring has only corner 0: from
        # the others it would cover the same switches again.
        may_wrap = ring and length < size
        num_corners = size if may_wrap else size - length + 1
        np.moveaxis(fits, axis, 0)[num_corners:] = False
    return fits
