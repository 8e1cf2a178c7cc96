"""Choices between the minimal route and one by way of a random switch, at several switches."""

from functools import cache

import numpy as np
from numba import njit

from routelab.kernels.hops import (
    DESTINATION,
    HOP,
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
from routelab.kernels.jit import helper, inline
from routelab.kernels.queue_lengths import shortest_queue

# Arrays behind those of the base.
HEAD = 0
"""Switches with terminals, switches, threshold, which of `QUEUES`, hops with further choices."""
ENDS = 1
"""Switches with terminals."""
ENDPOINT_NUMBER = 2
"""Number of each switch among those with terminals."""
DISTANCE = 3
"""Hops by (target, source), of targets with terminals."""
GROUP = 4
"""Group of each switch."""


@helper(_nrt=False)
def _waypoint(tables, packets, packet, switch, random):
    """Draw a switch with terminals; return −1 if a route by way of it makes no sense."""
    count = tables[appended(tables, HEAD)]
    via = np.int64(tables[appended(tables, ENDS) + pick(random, count)])
    is_near = via == switch or via == packets[packet, SOURCE]
    return np.int64(-1) if is_near or via == packets[packet, DESTINATION] else via


@inline
def _hops(tables, source, target):
    size, numbers = np.int64(tables[appended(tables, HEAD) + 1]), appended(tables, ENDPOINT_NUMBER)
    return np.int64(tables[appended(tables, DISTANCE) + tables[numbers + target] * size + source])


@helper(_nrt=False)
def _queue(tables, packets, packet, queues, count, random, out):
    """Return the shortest queue of the candidates, in flits."""
    kind = tables[appended(tables, HEAD) + 3]
    return shortest_queue(tables, packets, packet, queues, kind, count, random, out)[1]


@helper(_nrt=False)
def _pays(tables, packets, packet, switch, via, straight, detour):
    """Return whether the queue towards `via` times all hops is smaller than the minimal one's."""
    target = packets[packet, DESTINATION]
    around = _hops(tables, switch, via) + _hops(tables, via, target)
    threshold = np.int64(tables[appended(tables, HEAD) + 2])
    return straight * _hops(tables, switch, target) > detour * around + threshold


@helper(_nrt=False)
def _undecided(tables, packets, packet, switch):
    """Return whether the packet is on a minimal route and may still leave it."""
    group = appended(tables, GROUP)
    return (
        packets[packet, PHASE] == 0
        and packets[packet, WAYPOINT] < 0
        and 0 < packets[packet, HOPS] <= tables[appended(tables, HEAD) + 4]
        and tables[group + switch] == tables[group + packets[packet, SOURCE]]
    )


@inject_kernel
def inject(tables, reals, packets, packet, queues, hop, random, out):
    """Choose at the source."""
    source, target = np.int64(packets[packet, SOURCE]), packets[packet, DESTINATION]
    via = _waypoint(tables, packets, packet, source, random)
    if via < 0:
        return 0
    word = another(unscripted(random))
    count = offers(hop, tables, packets, packet, queues, source, target, word, out)
    straight = _queue(tables, packets, packet, queues, count, word, out)
    second = another(word)
    count = offers(hop, tables, packets, packet, queues, source, via, second, out)
    detour = _queue(tables, packets, packet, queues, count, second, out)
    if either(random, _pays(tables, packets, packet, source, via, straight, detour)):
        packets[packet, WAYPOINT] = via
    return 0


@cache
def progressive(base):
    """Compile the hop function over that of the base, which is called as if at injection.

    Numba does not keep functions over other functions in its cache: this takes two seconds of CPU
    time in each process.
    """

    # The base never learns where the packet came from, nor its class: it is called with channel and
    # vc −1, as at injection, and with empty columns STATE.
    @njit(no_cfunc_wrapper=True)
    def head_for(tables, packets, packet, queues, switch, target, vc, random, out):
        """Write the base's candidates for a target, on the class behind `vc`."""
        heading = packets[packet, TARGET]
        for column in range(STATE, STATE + STATES):
            packets[packet, column] = 0
        packets[packet, TARGET] = target
        count = base(
            tables, packets, packet, queues, switch, np.int64(-1), np.int64(-1), random, out
        )
        packets[packet, TARGET] = heading
        for k in range(count):
            out[k, 1] = vc + 1
        return count

    @njit(HOP, nogil=True)
    def hop(tables, packets, packet, queues, switch, channel, vc, random, out):
        """Offer the base's candidates, after another choice in the first hops."""
        target, word = np.int64(packets[packet, TARGET]), another(random)
        # The same comparison as in `inject`, with the queues of this switch.
        if _undecided(tables, packets, packet, switch):
            via = _waypoint(tables, packets, packet, switch, random)
            if via >= 0:
                count = head_for(tables, packets, packet, queues, switch, target, vc, word, out)
                straight = _queue(tables, packets, packet, queues, count, unscripted(word), out)
                word = another(word)
                count = head_for(tables, packets, packet, queues, switch, via, vc, word, out)
                detour = _queue(tables, packets, packet, queues, count, unscripted(word), out)
                if either(random, _pays(tables, packets, packet, switch, via, straight, detour)):
                    packets[packet, WAYPOINT] = via
                    return count
        # again, because the candidates towards `via` have replaced those of the minimal route
        return head_for(tables, packets, packet, queues, switch, target, vc, word, out)

    return hop
