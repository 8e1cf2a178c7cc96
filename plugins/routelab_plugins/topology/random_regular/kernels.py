"""The switch chain on regular graphs."""

import numpy as np

from routelab.kernels.jit import helper, jit


@jit
def switch_links(neighbours, words):
    """Make a step of the switch chain for each random word.

    A step draws two directed links a → b and c → d, and replaces a-b and c-d by a-d and c-b unless
    that would join a switch to itself or to a neighbour.

    Parameters
    ----------
    neighbours : int32 array, shape (n, degree)
        Neighbours of each switch, in any order; the graph is simple. Updated.
    words : uint64 array
        Random words; the upper half of one draws a → b, the lower half c → d.
    """
    num_switches, degree = neighbours.shape
    if degree == 0:
        return
    # Directed link i is entry i of `neighbours`, row after row. Half a word, a number w below 2^32,
    # draws entry w · entries / 2^32, rounded down.
    entries = np.uint64(num_switches * degree)
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    for word in words:
        first = np.int64(((word >> half) * entries) >> half)
        second = np.int64(((word & low) * entries) >> half)
        a, column_b = first // degree, first % degree
        c, column_d = second // degree, second % degree
        b, d = neighbours[a, column_b], neighbours[c, column_d]
        if a == d or c == b or _linked(neighbours, a, d) or _linked(neighbours, c, b):
            continue
        # a-b and c-d become a-d and c-b: in the rows of a and c, then in those of b and d
        neighbours[a, column_b], neighbours[c, column_d] = d, b
        _replace(neighbours, b, a, c)
        _replace(neighbours, d, c, a)


@helper()
def _linked(neighbours, switch, neighbour):
    """Return whether two switches have a link."""
    linked = False
    for column in range(neighbours.shape[1]):
        # without an early end the compiler compares several at once
        linked |= neighbours[switch, column] == neighbour
    return linked


@helper()
def _replace(neighbours, switch, old, new):
    """Replace a neighbour of a switch by another one."""
    for column in range(neighbours.shape[1]):
        if neighbours[switch, column] == old:
            neighbours[switch, column] = new
            return
