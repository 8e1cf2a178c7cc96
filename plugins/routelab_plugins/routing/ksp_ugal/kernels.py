"""Choice among stored paths at injection, and the walk along the chosen one."""

import numpy as np

from routelab.kernels.hops import (
    DESTINATION,
    HOPS,
    SOURCE,
    STATE,
    another,
    either,
    hop_kernel,
    inject_kernel,
    pick,
    table,
)
from routelab.kernels.jit import inline
from routelab.kernels.queue_lengths import queue_flits

HEAD = 0
"""Switches with terminals, which of `QUEUES`, threshold, whether all paths are compared."""
ENDPOINT_NUMBER = 1
"""Number of each switch among those with terminals."""
PAIR = 2
"""First path of each pair; paths are from short to long."""
PATH = 3
"""First hop of each path."""
CHANNELS = 4
"""Channel of each hop."""


@inline
def _cost(tables, queues, path):
    """Return the queue of a path's first channel times its hops."""
    start = table(tables, PATH) + path
    first, end = np.int64(tables[start]), np.int64(tables[start + 1])
    channel = tables[table(tables, CHANNELS) + first]
    flits = queue_flits(tables, queues, tables[table(tables, HEAD) + 1], channel, 0, 0)
    return flits * (end - first), end - first


@inject_kernel
def inject(tables, reals, packets, packet, queues, hop, random, out):
    """Write the place of the first hop of the chosen path to STATE."""
    head, numbers = table(tables, HEAD), table(tables, ENDPOINT_NUMBER)
    source, target = packets[packet, SOURCE], packets[packet, DESTINATION]
    pair = np.int64(tables[numbers + source]) * tables[head] + tables[numbers + target]
    begin = np.int64(tables[table(tables, PAIR) + pair])
    end = np.int64(tables[table(tables, PAIR) + pair + 1])
    chosen = begin + pick(random, end - begin)
    cost, hops = _cost(tables, queues, chosen)
    if tables[head + 3] != 0:
        # from a random path on, so that ties are broken at random
        drawn = chosen
        for shift in range(1, end - begin):
            path = begin + (drawn - begin + shift) % (end - begin)
            path_cost, length = _cost(tables, queues, path)
            if either(random, path_cost < cost or (path_cost == cost and length < hops)):
                chosen, cost, hops = path, path_cost, length
    else:
        shortest = begin + 1
        least = _cost(tables, queues, begin)[1]
        while shortest < end and _cost(tables, queues, shortest)[1] == least:
            shortest += 1
        minimal = begin + pick(another(random), shortest - begin)
        if either(random, _cost(tables, queues, minimal)[0] <= cost + tables[head + 2]):
            chosen = minimal
    packets[packet, STATE] = tables[table(tables, PATH) + chosen]
    return 0


@hop_kernel
def hop(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Offer the next channel of the path, on the class of its number."""
    number = packets[packet, HOPS]
    out[0, 0] = tables[table(tables, CHANNELS) + packets[packet, STATE] + number]
    out[0, 1] = number
    out[0, 2] = 0
    return 1
