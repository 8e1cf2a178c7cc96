"""Refinement of a cut of a network into halves."""

import numpy as np

from routelab.kernels.jit import jit

EITHER = 2
"""Class of the switches without terminals, which may always change sides."""


@jit
def refine_cut(start, neighbour, weight, slack, side):
    """Improve a cut until a pass finds nothing better.

    A pass moves switches to the other side one after the other, each at most once: always the one
    that removes most links from the cut, or adds fewest, from the heavier side (switches without
    weight from any side). Then it returns to the best cut on the way (Fiduccia and Mattheyses, *A
    Linear-Time Heuristic for Improving Network Partitions*, DAC 1982, doi
    10.1109/DAC.1982.1585498).

    Parameters
    ----------
    start, neighbour : int32 array, shape (S + 1,) and (2 L,)
        Neighbours of each switch; parallel links count separately.
    weight : int64 array, shape (S,)
    slack : int
        Largest difference between the weights of the sides.
    side : int8 array, shape (S,)
        0 or 1, within the slack; overwritten.

    Returns
    -------
    links : int
        Links of the cut.
    """
    size = len(weight)
    widest = 0
    for s in range(size):
        widest = max(widest, start[s + 1] - start[s])
    gain = np.empty(size, np.int64)
    # lists of the switches that may still move, by class and gain: side 0, side 1, either
    head = np.empty((3, 2 * widest + 1), np.int32)
    after = np.empty(size, np.int32)
    before = np.empty(size, np.int32)
    top = np.empty(3, np.int64)
    locked = np.empty(size, np.bool_)
    moved = np.empty(size, np.int32)
    while True:
        balance = np.int64(0)
        links = np.int64(0)
        head[:] = -1
        top[:] = -1
        locked[:] = False
        # 1. Links of the cut, and what each switch would gain by a move.
        for s in range(size):
            outside = 0
            for e in range(start[s], start[s + 1]):
                outside += side[neighbour[e]] != side[s]
            links += outside
            gain[s] = 2 * outside - (start[s + 1] - start[s])
            balance += weight[s] if side[s] == 0 else -weight[s]
            kind = side[s] if weight[s] else EITHER
            _insert(head, after, before, top, kind, gain[s] + widest, s)
        links //= 2
        initial = fewest = links
        count = num_kept = 0
        # 2. Move all switches, each the best at its time, and remember after which move the cut was
        #    best. Moves that make it worse are made, too: they may lead out of a local minimum.
        while True:
            chosen = -1
            for kind in range(3):
                # a move from the lighter side would make the balance worse
                if (kind == 0 and balance < 0) or (kind == 1 and balance > 0):
                    continue
                while top[kind] >= 0 and head[kind, top[kind]] < 0:
                    top[kind] -= 1
                if top[kind] >= 0:
                    s = head[kind, top[kind]]
                    if chosen < 0 or gain[s] >= gain[chosen]:
                        chosen = s
            if chosen < 0:
                break
            s = chosen
            _remove(head, after, before, side[s] if weight[s] else EITHER, gain[s] + widest, s)
            locked[s] = True
            links -= gain[s]
            balance += -2 * weight[s] if side[s] == 0 else 2 * weight[s]
            side[s] = 1 - side[s]
            moved[count] = s
            count += 1
            for e in range(start[s], start[s + 1]):
                t = neighbour[e]
                if locked[t]:
                    continue
                kind = side[t] if weight[t] else EITHER
                _remove(head, after, before, kind, gain[t] + widest, t)
                gain[t] += -2 if side[t] == side[s] else 2
                _insert(head, after, before, top, kind, gain[t] + widest, t)
            if links < fewest and abs(balance) <= slack:
                fewest, num_kept = links, count
        # 3. Take back what was moved after that.
        for k in range(num_kept, count):
            side[moved[k]] = 1 - side[moved[k]]
        if fewest == initial:
            return fewest


@jit
def _insert(head, after, before, top, kind, place, s):
    """Put a switch at the head of a list."""
    old_head = head[kind, place]
    after[s], before[s] = old_head, -1
    if old_head >= 0:
        before[old_head] = s
    head[kind, place] = s
    top[kind] = max(top[kind], place)


@jit
def _remove(head, after, before, kind, place, s):
    """Take a switch out of its list."""
    if before[s] >= 0:
        after[before[s]] = after[s]
    else:
        head[kind, place] = after[s]
    if after[s] >= 0:
        before[after[s]] = before[s]
