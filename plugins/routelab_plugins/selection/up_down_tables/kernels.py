"""Next hops down to a destination, or up towards a switch with a way down."""

import numpy as np

from routelab.kernels.jit import helper, jit


@helper()
def _step_towards(incoming, source, wanted, weight, distance, step, queue, tail):
    """Extend shortest ways backwards from the switches in `queue`; return how many it then has.

    Each new switch takes the wanted channel with the least weight among those that lead one hop
    closer.
    """
    start, entering = incoming
    head = 0
    while head < tail:
        t = queue[head]
        head += 1
        for i in range(start[t], start[t + 1]):
            c = entering[i]
            if not wanted[c]:
                continue
            s = source[c]
            if distance[s] < 0:
                distance[s] = distance[t] + 1
                step[s] = c
                queue[tail] = s
                tail += 1
            elif distance[s] == distance[t] + 1 and step[s] >= 0 and weight[c] < weight[step[s]]:
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
        below = _step_towards(incoming, source, down, weight, distance, step, queue, 1)
        # 2. Ways up to any switch with a way down; all of these are equally good.
        for i in range(below):
            s = queue[i]
            hops[s, j] = step[s]
            distance[s] = 0
            step[s] = -1
        reached = _step_towards(incoming, source, up, weight, distance, step, queue, below)
        for i in range(below, reached):
            hops[queue[i], j] = step[queue[i]]
        # 3. Loads for the destinations to come. The queue has each switch behind the one that it
        #    leads to, so from its end on all flow into a switch is known.
        flow[:] = terminals
        for i in range(reached - 1, 0, -1):
            c = hops[queue[i], j]
            weight[c] += flow[queue[i]] * terminals[root]
            flow[target[c]] += flow[queue[i]]
    return hops
