"""Polarized routes: no hop lessens the distance to the source less the distance to the target."""

import numpy as np

from routelab.kernels.families.polarized_hops import growth, offer_polarized
from routelab.kernels.hops import hop_kernel
from routelab.kernels.jit import jit


@hop_kernel
def hop(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Offer all channels whose hop is allowed, on the class behind that of the last hop."""
    return offer_polarized(tables, packets, packet, switch, vc + 1, out)


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
