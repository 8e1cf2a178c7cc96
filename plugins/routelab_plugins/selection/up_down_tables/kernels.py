"""Next hops down to a destination, or up towards a switch with a way down."""

import numpy as np

from routelab.kernels.jit import helper, jit


@helper()
def _extend_routes(incoming, source, usable, weight, distance, next_channel, queue, tail):
    """Extend shortest routes backwards from the switches ``queue[:tail]`` over usable channels.

    This is a breadth-first search. Each new switch is appended to `queue`, and gets its `distance`
    in hops (−1 before). Its `next_channel` becomes the channel with the least weight among those
    that lead one hop closer. Returns the new length of `queue`.
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
                next_channel[s] = c
                queue[tail] = s
                tail += 1
            elif distance[s] == distance[reached] + 1 and weight[c] < weight[next_channel[s]]:
                next_channel[s] = c
    return tail


@jit
def next_hops(incoming, source, target, up_and_down, endpoints, terminals, order):
    """Return the next channel from each switch to each endpoint; int32, shape (S, P).

    −1 at the endpoint itself, and where neither a way down nor one up and then down leads to it.

    Parameters
    ----------
    incoming : tuple of two int32 arrays, shape (S + 1,) and (C,)
        Channels that enter each switch (`routelab.api.Topology.incoming`).
    source, target : int32 array, shape (C,)
    up_and_down : tuple of two bool arrays, shape (C,)
        Whether each channel goes up, and whether it goes down.
    endpoints : int32 array, shape (P,)
    terminals : int64 array, shape (S,)
        Terminals at each switch.
    order : int64 array, shape (P,)
        Endpoints in the order of routing; the loads of earlier ones decide between equals.
    """
    up, down = up_and_down
    num_switches = len(terminals)
    table = np.full((num_switches, len(endpoints)), -1, np.int32)
    weight = np.zeros(len(source), np.int64)
    distance = np.empty(num_switches, np.int32)
    next_channel = np.empty(num_switches, np.int32)
    queue = np.empty(num_switches, np.int32)
    flow = np.empty(num_switches, np.int64)
    for j in order:
        root = endpoints[j]
        # 1. Shortest ways down to the destination.
        distance[:] = -1
        next_channel[:] = -1
        distance[root] = 0
        queue[0] = root
        num_down = _extend_routes(incoming, source, down, weight, distance, next_channel, queue, 1)
        # 2. Shortest ways up to any switch with a way down; all of these switches are equally good,
        #    so their distance becomes 0. They keep their channel down in `table`.
        for i in range(num_down):
            switch = queue[i]
            table[switch, j] = next_channel[switch]
            distance[switch] = 0
        reached = _extend_routes(
            incoming, source, up, weight, distance, next_channel, queue, num_down
        )
        for i in range(num_down, reached):
            table[queue[i], j] = next_channel[queue[i]]
        # 3. Loads, for the destinations to come. The flow of a switch is the number of terminals
        #    whose routes begin there or pass it. The queue has each switch behind the one to which
        #    its next channel leads, so from its end on all flow into a switch is known.
        flow[:] = terminals
        for i in range(reached - 1, 0, -1):
            c = table[queue[i], j]
            weight[c] += flow[queue[i]] * terminals[root]
            flow[target[c]] += flow[queue[i]]
    return table
