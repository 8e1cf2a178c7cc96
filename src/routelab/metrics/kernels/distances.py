"""Distances between many switches, by breadth-first searches from 64 sources at a time."""

import numpy as np

from routelab.kernels.bits import lowest
from routelab.kernels.jit import jit

BATCH = 64
"""Sources of a search: the bits of a word."""


@jit
def sum_distances(start, neighbour, demand):
    """Sum the distances between the switches with terminals.

    Each switch has a word with a bit for each source that has reached it. So a link is followed
    once for all sources that arrive at the same time (Then et al., *The More the Merrier:
    Efficient Multi-Source Graph Traversal*, PVLDB 8(4), 2014).

    Parameters
    ----------
    start, neighbour : int32 array, shape (S + 1,) and (C,)
        Switches that a channel leads to from each switch.
    demand : int64 array, shape (S,)
        Terminals at each switch.

    Returns
    -------
    longest : int
        Largest distance between two switches with terminals.
    pairs, hops : int
        Ordered pairs of different switches with terminals that are joined, and the sum of their
        distances.
    weighted_pairs, weighted_hops : int
        The same two for the ordered pairs of terminals on these switches: two switches with 2 and 3
        terminals are 6 such pairs in each direction.
    """
    size = len(demand)
    sources = np.flatnonzero(demand)
    reached_by = np.zeros(size, np.uint64)
    visit = np.zeros(size, np.uint64)
    next_visit = np.zeros(size, np.uint64)
    frontier = np.empty(size, np.int32)
    reached = np.empty(size, np.int32)
    longest = pairs = hops = weighted_pairs = weighted_hops = np.int64(0)
    for batch in range(0, len(sources), BATCH):
        count = min(BATCH, len(sources) - batch)
        # 1. Each source of the batch has reached itself.
        reached_by[:] = 0
        for i in range(count):
            s = sources[batch + i]
            reached_by[s] = visit[s] = np.uint64(1) << np.uint64(i)
            frontier[i] = s
        distance = np.int64(0)
        while count:
            # 2. One hop further: sources that came to a switch in the last round go on from there.
            #    `next_visit` collects those of all its neighbours, so the new ones count only once.
            distance += 1
            num_reached = 0
            for k in range(count):
                s = frontier[k]
                bits = visit[s]
                visit[s] = 0
                for e in range(start[s], start[s + 1]):
                    t = neighbour[e]
                    new_bits = bits & ~reached_by[t]
                    if new_bits:
                        if not next_visit[t]:
                            reached[num_reached] = t
                            num_reached += 1
                        next_visit[t] |= new_bits
            # 3. Count the sources that came to a switch; these switches are the next frontier.
            for k in range(num_reached):
                t = reached[k]
                bits = next_visit[t]
                next_visit[t] = 0
                visit[t] = bits
                reached_by[t] |= bits
                frontier[k] = t
                if demand[t] == 0:
                    continue
                longest = max(longest, distance)
                while bits:
                    terminal_pairs = demand[sources[batch + lowest(bits)]] * demand[t]
                    bits &= bits - np.uint64(1)  # clears the lowest bit
                    pairs += 1
                    hops += distance
                    weighted_pairs += terminal_pairs
                    weighted_hops += terminal_pairs * distance
            count = num_reached
    return longest, pairs, hops, weighted_pairs, weighted_hops
