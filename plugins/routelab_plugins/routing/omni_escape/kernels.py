"""Hops and deroutes in all unaligned dimensions, with an escape subnetwork."""

from routelab.kernels.families.escape_hops import ADAPTIVE_CLASS, ESCAPE_CLASS, offer_escapes
from routelab.kernels.families.hamming_hops import (
    DIMENSIONS,
    HAMMING_OWN,
    coordinates_of,
    dimension_of,
    unaligned,
)
from routelab.kernels.graph_hops import OWN, channel_at, leaving
from routelab.kernels.hops import HOPS, STATE, TARGET, hop_kernel, table, unit_flits

DEROUTES, PENALTY = DIMENSIONS + 1, DIMENSIONS + 2
"""Numbers of the algorithm: deroutes that a packet may take; penalty of a deroute, in flits."""


@hop_kernel
def hop(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Offer hops in all unaligned dimensions, and escapes; after an escape, escapes only.

    A dimension is unaligned if the coordinate of the switch is not yet that of the target. Writes
    (channel, class, penalty) of each hop to a row of `out`, and returns their number.

    The packet's column STATE has the hops of its route without deroutes; it is set at injection.
    """
    if vc == ESCAPE_CLASS:
        # 0: no candidates before the escapes
        return offer_escapes(tables, HAMMING_OWN, packets, packet, switch, channel, vc, 0, out)
    position = coordinates_of(tables, switch)
    target = coordinates_of(tables, packets[packet, TARGET])
    # Hops of the whole route if no more deroutes follow. Every deroute so far made it one longer,
    # so the difference to STATE is the number of deroutes.
    route_hops = packets[packet, HOPS] + unaligned(tables, position, target)
    if channel < 0:
        packets[packet, STATE] = route_hops
    numbers, unit = table(tables, OWN), unit_flits(tables)
    may_deroute = route_hops - packets[packet, STATE] < tables[numbers + DEROUTES]
    # from flits to units, in which the engine counts occupancy; rounded to the nearest
    penalty = (tables[numbers + PENALTY] + unit // 2) // unit
    first, end = leaving(tables, switch)
    count = 0
    for entry in range(first, end):
        onward, next_switch = channel_at(tables, entry)
        d = dimension_of(tables, onward)
        if tables[position + d] == tables[target + d]:
            continue  # aligned
        aligns = tables[coordinates_of(tables, next_switch) + d] == tables[target + d]
        if aligns or may_deroute:
            out[count, 0] = onward
            out[count, 1] = ADAPTIVE_CLASS
            out[count, 2] = 0 if aligns else penalty
            count += 1
    return offer_escapes(tables, HAMMING_OWN, packets, packet, switch, channel, vc, count, out)
