"""Refinement of a cut of a network into halves."""

import numpy as np

from routelab.kernels.jit import jit

EITHER = 2
"""Group of the switches without terminals, which may always change sides."""


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
    num_switches = len(weight)
    max_degree = 0
    for switch in range(num_switches):
        max_degree = max(max_degree, start[switch + 1] - start[switch])
    gain = np.empty(num_switches, np.int64)
    # Linked lists of the switches that may still move, by group (side 0, side 1, `EITHER`) and by
    # gain + max_degree, which is never negative. In the lists of a group above the index `highest`
    # there is no switch. `after` and `before` link the switches of a list.
    head = np.empty((3, 2 * max_degree + 1), np.int32)
    after = np.empty(num_switches, np.int32)
    before = np.empty(num_switches, np.int32)
    highest = np.empty(3, np.int64)
    locked = np.empty(num_switches, np.bool_)
    moved = np.empty(num_switches, np.int32)
    while True:
        weight_difference = np.int64(0)
        links = np.int64(0)
        head[:] = -1
        highest[:] = -1
        locked[:] = False
        # 1. Links of the cut, and what each switch would gain by a move.
        for switch in range(num_switches):
            outside = 0
            for e in range(start[switch], start[switch + 1]):
                outside += side[neighbour[e]] != side[switch]
            links += outside
            # Links of the cut minus the others: a move exchanges both.
            gain[switch] = 2 * outside - (start[switch + 1] - start[switch])
            weight_difference += weight[switch] if side[switch] == 0 else -weight[switch]
            group = side[switch] if weight[switch] else EITHER
            _insert(head, after, before, highest, group, gain[switch] + max_degree, switch)
        links //= 2  # each was counted at both ends
        initial = fewest = links
        num_moved = num_kept = 0
        # 2. Move all switches, each the best at its time, and remember after which move the cut was
        #    best. Moves that make it worse are made, too: they may lead out of a local minimum.
        while True:
            chosen = -1
            for group in range(3):
                # A move from the lighter side would make the difference larger.
                if (group == 0 and weight_difference < 0) or (group == 1 and weight_difference > 0):
                    continue
                while highest[group] >= 0 and head[group, highest[group]] < 0:
                    highest[group] -= 1
                if highest[group] >= 0:
                    switch = head[group, highest[group]]
                    if chosen < 0 or gain[switch] >= gain[chosen]:
                        chosen = switch
            if chosen < 0:
                break
            switch = chosen
            _remove(
                head,
                after,
                before,
                side[switch] if weight[switch] else EITHER,
                gain[switch] + max_degree,
                switch,
            )
            locked[switch] = True
            links -= gain[switch]
            weight_difference += -2 * weight[switch] if side[switch] == 0 else 2 * weight[switch]
            side[switch] = 1 - side[switch]
            moved[num_moved] = switch
            num_moved += 1
            for e in range(start[switch], start[switch + 1]):
                other = neighbour[e]
                if locked[other]:
                    continue
                group = side[other] if weight[other] else EITHER
                _remove(head, after, before, group, gain[other] + max_degree, other)
                # The link between both has left the cut, so a move of the other end would put it
                # back; or it has entered the cut.
                gain[other] += -2 if side[other] == side[switch] else 2
                _insert(head, after, before, highest, group, gain[other] + max_degree, other)
            if links < fewest and abs(weight_difference) <= slack:
                fewest, num_kept = links, num_moved
        # 3. Take back what was moved after that.
        for k in range(num_kept, num_moved):
            side[moved[k]] = 1 - side[moved[k]]
        if fewest == initial:
            return fewest


@jit
def _insert(head, after, before, highest, group, gain_index, switch):
    """Put a switch at the head of the list of its group and gain; updates the arrays."""
    old_head = head[group, gain_index]
    after[switch], before[switch] = old_head, -1
    if old_head >= 0:
        before[old_head] = switch
    head[group, gain_index] = switch
    highest[group] = max(highest[group], gain_index)


@jit
def _remove(head, after, before, group, gain_index, switch):
    """Take a switch out of the list of its group and gain; updates the arrays."""
    if before[switch] >= 0:
        after[before[switch]] = after[switch]
    else:
        head[group, gain_index] = after[switch]
    if after[switch] >= 0:
        before[after[switch]] = before[switch]
