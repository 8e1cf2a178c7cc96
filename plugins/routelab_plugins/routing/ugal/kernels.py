"""Choice between the minimal path and the path via a random switch.

The *base* is the routing beneath: its hop function offers the hops towards a switch, which is the
destination or the random switch.
"""

import numpy as np

from routelab.kernels.hops import (
    DESTINATION,
    HOPS,
    PHASE,
    SOURCE,
    STATE,
    STATES,
    TARGET,
    WAYPOINT,
    another,
    appended,
    either,
    inject_kernel,
    offers,
    pick,
    unscripted,
)
from routelab.kernels.jit import helper
from routelab.kernels.queue_lengths import shortest_queue

# Arrays of the tables behind those of the base; `appended` finds them by these numbers.
HEAD = 0
"""Numbers, at the offsets below: how many switches have terminals; threshold; which of `QUEUES` is
compared; 1 if all queues of a route count (UGAL-G); most hops of a half of a route."""
ENDPOINTS, THRESHOLD, QUEUE, IS_GLOBAL, MOST_HOPS = range(5)
ENDS = 1
"""Switches with terminals."""
ENDPOINT_NUMBER = 2
"""Number of each switch among those with terminals."""
DISTANCE = 3
"""Hops by (source, destination) among switches with terminals."""
CHANNEL_TARGET = 4
"""Switch that each channel enters."""


@helper(_nrt=False)
def _first_hop_queue(tables, packets, packet, queues, hop, target, random, out):
    """Return the length of the queue of the first hop from the source to `target`, in flits.

    Of several hops that the base offers, it is the one with the shortest queue. Escapes count only
    if the base offers nothing else.
    """
    kind, source = tables[appended(tables, HEAD) + QUEUE], packets[packet, SOURCE]
    count = offers(hop, tables, packets, packet, queues, source, target, random, out)
    _, flits = shortest_queue(tables, packets, packet, queues, kind, count, random, out)
    return flits


@helper(_nrt=False)
def _sum_queues_to(tables, packets, packet, queues, hop, switch, target, random, out):
    """Return the sum of the queues on the route that the base would take now, in flits.

    The route leads from `switch` to `target`, at every switch over the hop with the shortest queue.
    If it ends before the target, the sum is that of the hops so far. TARGET and HOPS of the packet
    change, and what the base writes to STATE; `_sum_queues` restores them.
    """
    head, channel_target = appended(tables, HEAD), appended(tables, CHANNEL_TARGET)
    channel, vc, total = np.int64(-1), np.int64(-1), np.int64(0)
    packets[packet, TARGET] = target
    for _ in range(tables[head + MOST_HOPS]):
        if switch == target:
            break
        random = another(random)
        count = hop(tables, packets, packet, queues, switch, channel, vc, random, out)
        row, flits = shortest_queue(
            tables, packets, packet, queues, tables[head + QUEUE], count, another(random), out
        )
        if row < 0:
            break  # the base offers no hop
        total += flits
        channel, vc = np.int64(out[row, 0]), np.int64(out[row, 1])
        switch = np.int64(tables[channel_target + channel])
        packets[packet, HOPS] += 1
    return total


@helper(_nrt=False)
def _sum_queues(tables, packets, packet, queues, hop, via, random, out):
    """Return the sum of the queues on the route from source to destination, in flits.

    The route leads through the switch `via`, or is minimal if `via` is −1. The packet's columns are
    as at injection when this returns.
    """
    source, target = np.int64(packets[packet, SOURCE]), np.int64(packets[packet, DESTINATION])
    total = np.int64(0)
    if via >= 0:
        # behind the waypoint, the base sees the packet as the engine presents it: in phase 1, with
        # empty columns of STATE
        total = _sum_queues_to(tables, packets, packet, queues, hop, source, via, random, out)
        packets[packet, PHASE] = 1
        packets[packet, STATE : STATE + STATES] = 0
        source, random = np.int64(via), another(random)
    total += _sum_queues_to(tables, packets, packet, queues, hop, source, target, random, out)
    # the columns that have changed, as they were at injection
    packets[packet, STATE : STATE + STATES] = 0
    packets[packet, PHASE], packets[packet, HOPS] = 0, 0
    packets[packet, WAYPOINT], packets[packet, TARGET] = -1, target
    return total


@inject_kernel
def inject(tables, reals, packets, packet, queues, hop, random, out):
    """Set the packet's WAYPOINT to a random switch if the route through it has the smaller queues.

    UGAL-L compares the queue of the first hop times the hops of the route, UGAL-G the sum of all
    queues on the route.

    Returns
    -------
    int
        0; the engine ignores it.
    """
    head = appended(tables, HEAD)
    num_endpoints = np.int64(tables[head + ENDPOINTS])
    threshold = np.int64(tables[head + THRESHOLD])
    source, target = packets[packet, SOURCE], packets[packet, DESTINATION]
    # 1. The waypoint. At either end it would leave the route as it is.
    via = tables[appended(tables, ENDS) + pick(random, num_endpoints)]
    if via in (source, target):
        return 0
    # Random words for the base, which draws among its hops. These draws only choose which queues
    # are compared. The deadlock checker tries both results of the comparison (`either`), so it need
    # not try the draws, too (`unscripted`).
    base_random = unscripted(random)
    # 2. Global: sums of queues grow with the hops by themselves, so they are not multiplied.
    if tables[head + IS_GLOBAL] != 0:
        base_random = another(base_random)
        minimal_queues = _sum_queues(
            tables, packets, packet, queues, hop, np.int64(-1), base_random, out
        )
        base_random = another(base_random)
        via_queues = _sum_queues(
            tables, packets, packet, queues, hop, np.int64(via), base_random, out
        )
        if either(random, minimal_queues > via_queues + threshold):
            packets[packet, WAYPOINT] = via
        return 0
    # 3. Local: queue times hops. The table of distances has a row and a column for each switch with
    #    terminals, by its number among these.
    numbers, distance = appended(tables, ENDPOINT_NUMBER), appended(tables, DISTANCE)
    source_number, target_number = np.int64(tables[numbers + source]), tables[numbers + target]
    via_number = np.int64(tables[numbers + via])
    minimal_hops = np.int64(tables[distance + source_number * num_endpoints + target_number])
    hops_through_via = np.int64(tables[distance + source_number * num_endpoints + via_number])
    hops_through_via += tables[distance + via_number * num_endpoints + target_number]
    base_random = another(base_random)
    minimal_queue = _first_hop_queue(tables, packets, packet, queues, hop, target, base_random, out)
    base_random = another(base_random)
    via_queue = _first_hop_queue(tables, packets, packet, queues, hop, via, base_random, out)
    if either(random, minimal_queue * minimal_hops > via_queue * hops_through_via + threshold):
        packets[packet, WAYPOINT] = via
    return 0
