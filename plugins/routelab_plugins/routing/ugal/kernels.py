"""Choice between the minimal path and the path via a random switch."""

import numpy as np
from numba import njit

from routelab.kernels.hops import (
    DESTINATION,
    ESCAPE,
    PHASE,
    SOURCE,
    WAYPOINT,
    another,
    appended,
    channel_flits,
    class_flits,
    inject_kernel,
    offers,
    pick,
    waiting_flits,
)

QUEUES = ("output", "channel", "class", "waiting")
_OUTPUT, _CHANNEL, _CLASS, _WAITING = range(4)

# Arrays behind those of the base.
HEAD = 0
"""Switches with terminals, threshold, which of `QUEUES`."""
ENDS = 1
"""Switches with terminals."""
PLACE = 2
"""Number of each switch among those with terminals."""
DISTANCE = 3
"""Hops by (source, destination) among switches with terminals."""


@njit(cache=True)
def _queue(tables, packets, packet, queues, hop, target, random, out):
    """Return the shortest queue of first hops to a switch, in flits; of escapes if necessary."""
    kind = tables[appended(tables, HEAD) + 2]
    source, phase = packets[packet, SOURCE], packets[packet, PHASE]
    count = offers(hop, tables, packets, packet, queues, source, target, random, out)
    shortest, escape = np.int64(-1), True
    for k in range(count):
        channel, last = out[k, 0], out[k, 2] >= ESCAPE
        if last and not escape:
            continue
        flits = np.int64(0)
        if kind == _CLASS:
            flits = class_flits(tables, queues, channel, phase, out[k, 1])
        if kind in (_OUTPUT, _CHANNEL):
            flits += channel_flits(tables, queues, channel)
        if kind in (_OUTPUT, _WAITING):
            flits += waiting_flits(tables, queues, channel)
        if shortest < 0 or flits < shortest or (escape and not last):
            shortest, escape = flits, last
    return shortest


@inject_kernel
def inject(tables, reals, packets, packet, queues, hop, random, out):
    """Set the waypoint to a random switch if its queue times its hops is smaller."""
    head = appended(tables, HEAD)
    count, threshold = np.int64(tables[head]), np.int64(tables[head + 1])
    source, target = packets[packet, SOURCE], packets[packet, DESTINATION]
    via = tables[appended(tables, ENDS) + pick(random, count)]
    if via in (source, target):
        return 0
    place, distance = appended(tables, PLACE), appended(tables, DISTANCE)
    here, there = np.int64(tables[place + source]), tables[place + target]
    between = np.int64(tables[place + via])
    direct = np.int64(tables[distance + here * count + there])
    around = np.int64(tables[distance + here * count + between])
    around += tables[distance + between * count + there]
    random = another(random)
    straight = _queue(tables, packets, packet, queues, hop, target, random, out)
    random = another(random)
    detour = _queue(tables, packets, packet, queues, hop, via, random, out)
    if straight * direct > detour * around + threshold:
        packets[packet, WAYPOINT] = via
    return 0
