"""The switch chain on regular graphs."""

import numpy as np

from routelab.kernels.jit import helper, jit


@jit
def switch_links(neighbours, words):
    """Make a step of the switch chain for each random word, in place.

    A step draws two directed links a → b and c → d, and replaces a-b and c-d by a-d and c-b unless
    that would join a switch to itself or to a neighbour.

    Parameters
    ----------
    neighbours : int32 array, shape (n, degree)
        Neighbours of each switch, in any order; the graph is simple.
    words : uint64 array
        Random words; the upper half of one draws a → b, the lower half c → d.
    """
    count, degree = neighbours.shape
    if degree == 0:
        return
    ends = np.uint64(count * degree)
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    for word in words:
        first_end = np.int64(((word >> half) * ends) >> half)
        second_end = np.int64(((word & low) * ends) >> half)
        a, x = first_end // degree, first_end % degree
        c, y = second_end // degree, second_end % degree
        b, d = neighbours[a, x], neighbours[c, y]
        if a == d or c == b or _linked(neighbours, a, d) or _linked(neighbours, c, b):
            continue
        neighbours[a, x], neighbours[c, y] = d, b
        _replace(neighbours, b, a, c)
        _replace(neighbours, d, c, a)


@helper()
def _linked(neighbours, switch, neighbour):
    linked = False
    for place in range(neighbours.shape[1]):
        # without an early end the compiler compares several at once
        linked |= neighbours[switch, place] == neighbour
    return linked


@helper()
def _replace(neighbours, switch, old, new):
    for place in range(neighbours.shape[1]):
        if neighbours[switch, place] == old:
            neighbours[switch, place] = new
            return
