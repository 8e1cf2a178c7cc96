"""Choices between the minimal route and one by way of a random switch, at several switches.

The *base* is the routing beneath: its hop function offers the hops towards a switch, which is the
destination or the random switch.
"""

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

# Arrays of the tables behind those of the base; `appended` finds them by these numbers.
HEAD = 0
"""Numbers, at the offsets below: how many switches have terminals; switches; threshold; which of
`QUEUES` is compared; first hops after which a packet on its minimal route chooses again."""
ENDPOINTS, SWITCHES, THRESHOLD, QUEUE, CHOICES = range(5)
ENDS = 1
"""Switches with terminals."""
ENDPOINT_NUMBER = 2
"""Number of each switch among those with terminals."""
DISTANCE = 3
"""Hops by (target, source), of targets with terminals."""
GROUP = 4
"""Group of each switch."""


@helper(_nrt=False)
def _draw_waypoint(tables, packets, packet, switch, random):
    """Draw a switch with terminals; return −1 if it is this switch, the source or the target."""
    num_endpoints = tables[appended(tables, HEAD) + ENDPOINTS]
    via = np.int64(tables[appended(tables, ENDS) + pick(random, num_endpoints)])
    is_no_detour = via == switch or via == packets[packet, SOURCE]
    return np.int64(-1) if is_no_detour or via == packets[packet, DESTINATION] else via


@inline
def _distance(tables, source, target):
    """Return the hops between switches; `target` has terminals."""
    num_switches = np.int64(tables[appended(tables, HEAD) + SWITCHES])
    row = tables[appended(tables, ENDPOINT_NUMBER) + target]
    return np.int64(tables[appended(tables, DISTANCE) + row * num_switches + source])


@helper(_nrt=False)
def _shortest_queue(tables, packets, packet, queues, count, random, out):
    """Return the shortest queue of the candidates in `out`, in flits."""
    kind = tables[appended(tables, HEAD) + QUEUE]
    return shortest_queue(tables, packets, packet, queues, kind, count, random, out)[1]


@helper(_nrt=False)
def _prefers_waypoint(tables, packets, packet, switch, via, minimal_queue, via_queue):
    """Return whether queue times hops is smaller through `via` than on the minimal route."""
    target = packets[packet, DESTINATION]
    hops_through_via = _distance(tables, switch, via) + _distance(tables, via, target)
    threshold = np.int64(tables[appended(tables, HEAD) + THRESHOLD])
    minimal_hops = _distance(tables, switch, target)
    return minimal_queue * minimal_hops > via_queue * hops_through_via + threshold


@helper(_nrt=False)
def _may_choose_again(tables, packets, packet, switch):
    """Return whether the packet is on its minimal route, and may still decide to leave it.

    It may within its first hops, inside its source group. At the source itself (HOPS is 0), it may
    not choose again, because `inject` has just chosen.
    """
    group = appended(tables, GROUP)
    return (
        packets[packet, PHASE] == 0
        and packets[packet, WAYPOINT] < 0
        and 0 < packets[packet, HOPS] <= tables[appended(tables, HEAD) + CHOICES]
        and tables[group + switch] == tables[group + packets[packet, SOURCE]]
    )


@inject_kernel
def inject(tables, reals, packets, packet, queues, hop, random, out):
    """Choose between the minimal route and one through a random switch, at the source.

    Sets the packet's column WAYPOINT if it goes through that switch.

    Returns
    -------
    int
        0; the engine ignores it.
    """
    source, target = np.int64(packets[packet, SOURCE]), packets[packet, DESTINATION]
    via = _draw_waypoint(tables, packets, packet, source, random)
    if via < 0:
        return 0  # the minimal route
    # Random words for the base, which draws among its hops. These draws only choose which queues
    # are compared. The deadlock checker tries both results of the comparison (`either`), so it need
    # not try the draws, too (`unscripted`).
    base_random = another(unscripted(random))
    count = offers(hop, tables, packets, packet, queues, source, target, base_random, out)
    minimal_queue = _shortest_queue(tables, packets, packet, queues, count, base_random, out)
    second_random = another(base_random)
    count = offers(hop, tables, packets, packet, queues, source, via, second_random, out)
    via_queue = _shortest_queue(tables, packets, packet, queues, count, second_random, out)
    prefers_via = _prefers_waypoint(tables, packets, packet, source, via, minimal_queue, via_queue)
    if either(random, prefers_via):
        packets[packet, WAYPOINT] = via
    return 0


@cache
def progressive(base):
    """Compile the hop function of PAR over that of the base, which is called as if at injection.

    Numba does not keep such closures in its cache on disk, so this takes two seconds of CPU time
    for each base in each process.
    """

    # The base never learns where the packet came from, nor its class: it is called with channel and
    # vc −1, as at injection, and with empty columns STATE.
    @njit(no_cfunc_wrapper=True)
    def offer_towards(tables, packets, packet, queues, switch, target, vc, random, out):
        """Write the base's candidates for a target to `out`, and return their number.

        All are on the class after `vc`, whatever class the base names. TARGET is restored.
        """
        current_target = packets[packet, TARGET]
        for column in range(STATE, STATE + STATES):
            packets[packet, column] = 0
        packets[packet, TARGET] = target
        count = base(
            tables, packets, packet, queues, switch, np.int64(-1), np.int64(-1), random, out
        )
        packets[packet, TARGET] = current_target
        for k in range(count):
            out[k, 1] = vc + 1
        return count

    @njit(HOP, nogil=True)
    def hop(tables, packets, packet, queues, switch, channel, vc, random, out):
        """Offer the base's candidates; a packet that may choose again does so before.

        If it chooses a waypoint, this sets its column WAYPOINT.
        """
        target, base_random = np.int64(packets[packet, TARGET]), another(random)
        # The same comparison as in `inject`, with the queues of this switch.
        if _may_choose_again(tables, packets, packet, switch):
            via = _draw_waypoint(tables, packets, packet, switch, random)
            if via >= 0:
                count = offer_towards(
                    tables, packets, packet, queues, switch, target, vc, base_random, out
                )
                minimal_queue = _shortest_queue(
                    tables, packets, packet, queues, count, unscripted(base_random), out
                )
                base_random = another(base_random)
                count = offer_towards(
                    tables, packets, packet, queues, switch, via, vc, base_random, out
                )
                via_queue = _shortest_queue(
                    tables, packets, packet, queues, count, unscripted(base_random), out
                )
                prefers_via = _prefers_waypoint(
                    tables, packets, packet, switch, via, minimal_queue, via_queue
                )
                if either(random, prefers_via):
                    packets[packet, WAYPOINT] = via
                    return count  # `out` has the candidates towards `via`
        # computed once more, because candidates towards `via` have replaced those of the minimal
        # route
        return offer_towards(tables, packets, packet, queues, switch, target, vc, base_random, out)

    return hop
