"""Polarized routes: no hop lessens the distance to the source less the distance to the target."""

import numpy as np

from routelab.kernels.families.polarized_hops import growth, offer_polarized
from routelab.kernels.hops import hop_kernel
from routelab.kernels.jit import jit


@hop_kernel
def hop(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Offer all channels whose hop is allowed, on the class after that of the last hop."""
    return offer_polarized(tables, packets, packet, switch, vc + 1, out)


@jit
def longest_routes(starts, targets, distance, ends, diameter, longest):
    """Compute the longest route of each pair of switches, if a packet may take any allowed hop.

    The weight of a switch is its distance from the source less its distance to the target. `growth`
    says which hops are allowed: none lessens the weight.

    Parameters
    ----------
    starts : int32 array, shape (S + 1,)
        Channels ``starts[c]`` to ``starts[c + 1] - 1`` leave switch c.
    targets : int32 array, shape (C,)
        Switch that each channel enters; channels are sorted by the switch that they leave.
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
    num_dead_ends : int
        Number of reachable states (source, target, switch) without an allowed hop.
    example : int64 array, shape (3,)
        Source, target and switch of one of these states; −1 if there is none.
    """
    num_switches = len(starts) - 1
    # weights are −diameter … diameter, and distances 0 … diameter
    num_keys = (2 * diameter + 1) * (diameter + 1)
    key = np.empty(num_switches, np.int64)
    order = np.empty(num_switches, np.int64)
    next_position = np.empty(num_keys + 1, np.int64)
    hops = np.empty(num_switches, np.int64)
    example = np.full(3, -1)
    num_dead_ends = 0
    for a in range(len(ends)):
        from_source = distance[ends[a]]
        for b in range(len(ends)):
            source, target = ends[a], ends[b]
            longest[a, b] = 0
            if source == target:
                continue
            to_target = distance[target]
            # 1. Sort the switches so that every route visits them in this order: by weight, which
            #    no hop lessens. Hops that do not change the weight lead away from source and target
            #    where it is negative, and towards both elsewhere. So switches of equal weight are
            #    sorted by distance from the source, rising or falling. This is a counting sort.
            next_position[:] = 0
            for c in range(num_switches):
                weight = from_source[c] - to_target[c]
                inner_key = from_source[c] if weight < 0 else diameter - from_source[c]
                key[c] = (weight + diameter) * (diameter + 1) + inner_key
                next_position[key[c] + 1] += 1
            for k in range(num_keys):
                next_position[k + 1] += next_position[k]
            for c in range(num_switches):
                order[next_position[key[c]]] = c
                next_position[key[c]] += 1
            # 2. Most hops from the source to each switch, −1 if no route visits it. All hops into a
            #    switch come from switches before it.
            hops[:] = -1
            hops[source] = 0
            for c in order:
                if hops[c] < 0 or c == target:
                    continue
                near_source = from_source[c] < to_target[c]
                num_allowed = 0
                for k in range(starts[c], starts[c + 1]):
                    n = targets[k]
                    change_source = from_source[n] - from_source[c]
                    change_target = to_target[n] - to_target[c]
                    if growth(near_source, change_source, change_target) >= 0:
                        num_allowed += 1
                        hops[n] = max(hops[n], hops[c] + 1)
                if num_allowed == 0:
                    num_dead_ends += 1
                    example[0], example[1], example[2] = source, target, c
            longest[a, b] = hops[target]
    return num_dead_ends, example
