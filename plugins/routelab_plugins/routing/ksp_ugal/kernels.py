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
"""Numbers, at the offsets below: how many switches have terminals; which of `QUEUES` is compared;
threshold; 1 if a packet compares all paths of its pair."""
ENDPOINTS, QUEUE, THRESHOLD, COMPARES_ALL = range(4)
ENDPOINT_NUMBER = 1
"""Number of each switch among those with terminals."""
FIRST_PATH = 2
"""First path of each pair (source · endpoints + target); its paths are from short to long."""
FIRST_HOP = 3
"""First hop of each path."""
CHANNELS = 4
"""Channel of each hop."""


@inline
def _cost(tables, queues, path):
    """Return the cost of a path, and the number of its hops.

    The cost is the length of the queue of the path's first channel, in flits, times the hops.
    """
    first_hop = table(tables, FIRST_HOP) + path
    first, end = np.int64(tables[first_hop]), np.int64(tables[first_hop + 1])
    channel = tables[table(tables, CHANNELS) + first]
    # the first hop is in phase 0 and takes class 0
    flits = queue_flits(tables, queues, tables[table(tables, HEAD) + QUEUE], channel, 0, 0)
    return flits * (end - first), end - first


@inject_kernel
def inject(tables, reals, packets, packet, queues, hop, random, out):
    """Choose a path of the pair, and write the number of its first hop to STATE.

    The cost of a path is the queue of its first channel times its hops. With ``compare=all``, the
    packet takes the path of least cost. With ``compare=two``, it draws one of all paths and one of
    the shortest, and takes the shortest if its cost exceeds that of the other by at most the
    threshold.

    Costs depend on queues, so `either` compares them: the deadlock checker tries both outcomes.
    """
    head, numbers = table(tables, HEAD), table(tables, ENDPOINT_NUMBER)
    source, target = packets[packet, SOURCE], packets[packet, DESTINATION]
    pair = np.int64(tables[numbers + source]) * tables[head + ENDPOINTS] + tables[numbers + target]
    # the paths of the pair, from short to long
    first_path = np.int64(tables[table(tables, FIRST_PATH) + pair])
    path_end = np.int64(tables[table(tables, FIRST_PATH) + pair + 1])
    num_paths = path_end - first_path
    chosen = first_path + pick(random, num_paths)
    cost, hops = _cost(tables, queues, chosen)
    if tables[head + COMPARES_ALL] != 0:
        # The cheapest path; of equal ones the shorter. The search goes round all paths, from the
        # one drawn above on, so that other ties are broken at random.
        drawn = chosen
        for shift in range(1, num_paths):
            path = first_path + (drawn - first_path + shift) % num_paths
            path_cost, path_hops = _cost(tables, queues, path)
            if either(random, path_cost < cost or (path_cost == cost and path_hops < hops)):
                chosen, cost, hops = path, path_cost, path_hops
    else:
        # The shortest paths of the pair come first: find where they end, and draw one. `chosen` is
        # the path drawn of all.
        shortest_end = first_path + 1
        _, fewest_hops = _cost(tables, queues, first_path)
        while shortest_end < path_end and _cost(tables, queues, shortest_end)[1] == fewest_hops:
            shortest_end += 1
        minimal = first_path + pick(another(random), shortest_end - first_path)
        minimal_cost, _ = _cost(tables, queues, minimal)
        if either(random, minimal_cost <= cost + tables[head + THRESHOLD]):
            chosen = minimal
    packets[packet, STATE] = tables[table(tables, FIRST_HOP) + chosen]
    return 0  # the number has no meaning


@hop_kernel
def hop(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Offer the next channel of the path as the only candidate; hop n takes class n, from 0.

    The candidate is row 0 of `out`: channel, class of virtual channels, penalty. STATE is the
    number of the path's first hop.
    """
    hop_number = packets[packet, HOPS]
    out[0, 0] = tables[table(tables, CHANNELS) + packets[packet, STATE] + hop_number]
    out[0, 1] = hop_number
    out[0, 2] = 0
    return 1
