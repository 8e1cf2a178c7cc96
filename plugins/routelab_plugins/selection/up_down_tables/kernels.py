"""Next hops down to a destination, or up towards a switch with a way down."""

import numpy as np

from routelab.kernels.jit import helper, jit


@helper()
def _extend_routes(incoming, source, usable, weight, distance, step, queue, tail):
    """Extend shortest routes backwards from the switches ``queue[:tail]`` over usable channels.

    Each new switch is appended to `queue`. Its `step` becomes the channel with the least weight
    among those that lead one hop closer. Return the new length of `queue`.
    """
    start, entering = incoming
    head = 0
    while head < tail:
        reached = queue[head]
        head += 1
        for i in range(start[reached], start[reached + 1]):
            c = entering[i]
            if not usable[c]:
                continue
            s = source[c]
            if distance[s] < 0:
                distance[s] = distance[reached] + 1
                step[s] = c
                queue[tail] = s
                tail += 1
            elif (
                distance[s] == distance[reached] + 1
                and step[s] >= 0
                and weight[c] < weight[step[s]]
            ):
                step[s] = c
    return tail


@jit
def next_hops(incoming, source, target, channels, endpoints, terminals, order):
    """Return the next channel from each switch to each endpoint; int32, shape (S, P).

    Parameters
    ----------
    incoming : tuple of two int32 arrays, shape (S + 1,) and (C,)
        Channels that enter each switch (`routelab.api.Topology.incoming`).
    source, target : int32 array, shape (C,)
    channels : tuple of two bool arrays, shape (C,)
        Whether each channel goes up, and whether it goes down.
    endpoints : int32 array, shape (P,)
    terminals : int64 array, shape (S,)
        Terminals at each switch.
    order : int64 array, shape (P,)
        Endpoints in the order of routing; the loads of earlier ones decide between equals.
    """
    up, down = channels
    count = len(terminals)
    hops = np.full((count, len(endpoints)), -1, np.int32)
    weight = np.zeros(len(source), np.int64)
    distance = np.empty(count, np.int32)
    step = np.empty(count, np.int32)
    queue = np.empty(count, np.int32)
    flow = np.empty(count, np.int64)
    for j in order:
        root = endpoints[j]
        # 1. Ways down to the destination.
        distance[:] = -1
        step[:] = -1
        distance[root] = 0
        queue[0] = root
        num_down = _extend_routes(incoming, source, down, weight, distance, step, queue, 1)
        # 2. Ways up to any switch with a way down; all of these are equally good. Their `step` is
        #    removed, so that no channel up replaces it.
        for i in range(num_down):
            switch = queue[i]
            hops[switch, j] = step[switch]
            distance[switch] = 0
            step[switch] = -1
        reached = _extend_routes(incoming, source, up, weight, distance, step, queue, num_down)
        for i in range(num_down, reached):
            hops[queue[i], j] = step[queue[i]]
        # 3. Loads for the destinations to come. The queue has each switch behind the one that it
        #    leads to, so from its end on all flow into a switch is known.
        flow[:] = terminals
        for i in range(reached - 1, 0, -1):
            c = hops[queue[i], j]
            weight[c] += flow[queue[i]] * terminals[root]
            flow[target[c]] += flow[queue[i]]
    return hops
