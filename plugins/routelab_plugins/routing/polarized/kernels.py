"""Polarized routes: no hop lessens the distance to the source less the distance to the target."""

import numpy as np
from numba import njit

from routelab.kernels.graph_hops import OWN, channel_at, distances_to, leaving
from routelab.kernels.hops import SOURCE, TARGET, hop_kernel, table, unit_flits
from routelab.kernels.jit import jit

LEVELS = 3
"""Penalties by the growth of the weight, 0 to 2; then whether they are relative."""


@njit(_nrt=False, forceinline=True)
def growth(near_source, change_source, change_target):
    """Return by how much a hop increases the weight; −1 if it is not allowed (Table 1).

    Parameters
    ----------
    near_source : bool
        Whether the switch before the hop is nearer to the source than to the target.
    change_source, change_target : int
        Growth of both distances, −1, 0 or 1.
    """
    more = change_source - change_target
    if more != 0 or change_source == 0:
        return more if more > 0 else -1
    return 0 if (change_source > 0) == near_source else -1


@hop_kernel
def hop(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Offer all channels whose hop is allowed, with the penalty of its growth, in units."""
    source = distances_to(tables, packets[packet, SOURCE])
    target = distances_to(tables, packets[packet, TARGET])
    away, left = tables[source + switch], tables[target + switch]
    # with an equal weight: away from both near the source, towards both elsewhere (`growth`)
    drift = np.int64(1) if away < left else np.int64(-1)
    own, unit = table(tables, OWN), unit_flits(tables)
    relative = tables[own + LEVELS] != 0
    level0, level1 = np.int64(tables[own]), np.int64(tables[own + 1])
    level2 = np.int64(tables[own + 2])
    if unit > 1:
        level0 = (level0 + unit // 2) // unit
        level1 = (level1 + unit // 2) // unit
        level2 = (level2 + unit // 2) // unit
    first, end = leaving(tables, switch)
    count, greatest = np.int64(0), np.int64(0)
    for place in range(first, end):
        onward, next_switch = channel_at(tables, place)
        change = np.int64(tables[source + next_switch]) - away
        more = change - (np.int64(tables[target + next_switch]) - left)
        penalty = level0 if more <= 0 else (level1 if more == 1 else level2)
        out[count, 0] = onward
        out[count, 1] = vc + 1
        out[count, 2] = more if relative else penalty
        # a branch would be mispredicted, which takes longer than the rest of the loop
        count += np.int64((more > 0) | ((more == 0) & (change == drift)))
        greatest = max(greatest, more)
    for k in range(count if relative else 0):
        more = out[k, 2] + 2 - greatest
        out[k, 2] = level0 if more <= 0 else (level1 if more == 1 else level2)
    return count


@jit
def longest_routes(starts, targets, distance, ends, diameter, longest):
    """Compute the longest route of each pair of switches, over all that adaptivity allows.

    Parameters
    ----------
    starts : int32 array, shape (S + 1,)
        First leaving channel of each switch.
    targets : int32 array, shape (C,)
        Switch that each channel enters, by the switch that it leaves.
    distance : int32 array, shape (S, S)
        Symmetric.
    ends : int32 array, shape (E,)
        Switches with terminals.
    diameter : int
        Largest entry of `distance`.
    longest : int32 array, shape (E, E)
        Overwritten: hops of the longest route, by (source, target).

    Returns
    -------
    dead : int
        Number of reachable states (source, target, switch) without an allowed hop.
    example : int64 array, shape (3,)
        Source, target and switch of one of them; −1 if there is none.
    """
    size = len(starts) - 1
    keys = (2 * diameter + 1) * (diameter + 1)
    place = np.empty(size, np.int64)
    order = np.empty(size, np.int64)
    count = np.empty(keys + 1, np.int64)
    hops = np.empty(size, np.int64)
    example = np.full(3, -1)
    dead = 0
    for a in range(len(ends)):
        from_source = distance[ends[a]]
        for b in range(len(ends)):
            s, t = ends[a], ends[b]
            longest[a, b] = 0
            if s == t:
                continue
            to_target = distance[t]
            # a route never lessens the weight; with equal weights it goes away from both or
            # comes nearer to both: so switches are in the order of every route
            count[:] = 0
            for c in range(size):
                weight = from_source[c] - to_target[c]
                inner = from_source[c] if weight < 0 else diameter - from_source[c]
                place[c] = (weight + diameter) * (diameter + 1) + inner
                count[place[c] + 1] += 1
            for key in range(keys):
                count[key + 1] += count[key]
            for c in range(size):
                order[count[place[c]]] = c
                count[place[c]] += 1
            hops[:] = -1
            hops[s] = 0
            for c in order:
                if hops[c] < 0 or c == t:
                    continue
                near = from_source[c] < to_target[c]
                ways = 0
                for k in range(starts[c], starts[c + 1]):
                    n = targets[k]
                    if (
                        growth(near, from_source[n] - from_source[c], to_target[n] - to_target[c])
                        >= 0
                    ):
                        ways += 1
                        hops[n] = max(hops[n], hops[c] + 1)
                if ways == 0:
                    dead += 1
                    example[0], example[1], example[2] = s, t, c
            longest[a, b] = hops[t]
    return dead, example
