"""OmniWAR: minimal hops and deroutes in any unaligned dimension, a class for each hop."""

from routelab.kernels.families.hamming_hops import (
    DIMENSIONS,
    congestion_weight,
    coordinates_of,
    dimension_of,
    unaligned,
)
from routelab.kernels.graph_hops import OWN, channel_at, leaving
from routelab.kernels.hops import PHASE, TARGET, hop_kernel, table

CLASSES, FIRST_CLASS_REFERENCE = DIMENSIONS + 1, DIMENSIONS + 2
"""Numbers of the algorithm: classes of virtual channels; N of the class N - d in which a packet at
distance d starts (0: every packet starts in class 0)."""


@hop_kernel
def hop(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Offer minimal hops, and deroutes while classes remain for the minimal hops after them.

    Writes (channel, class, penalty) of each hop to a row of `out`, and returns their number. The
    penalty is the congestion times the remaining hops (`congestion_weight`); the packet takes the
    candidate with the least.
    """
    position = coordinates_of(tables, switch)
    target = coordinates_of(tables, packets[packet, TARGET])
    hops_left = unaligned(tables, position, target)
    numbers = table(tables, OWN)
    # every hop uses the next class; at injection, the first one depends on the distance
    vc_class = vc + 1
    if channel < 0:
        vc_class = max(0, tables[numbers + FIRST_CLASS_REFERENCE] - hops_left)
    # A deroute takes one class, and as many minimal hops remain after it as before. So there must
    # be more classes than minimal hops, from the class of this hop on.
    may_deroute = tables[numbers + CLASSES] - vc_class > hops_left
    first, end = leaving(tables, switch)
    count = 0
    for entry in range(first, end):
        onward, next_switch = channel_at(tables, entry)
        d = dimension_of(tables, onward)
        if tables[position + d] == tables[target + d]:
            continue  # this dimension is aligned: its coordinate is that of the target
        aligns = tables[coordinates_of(tables, next_switch) + d] == tables[target + d]
        if not (aligns or may_deroute):
            continue
        out[count, 0] = onward
        out[count, 1] = vc_class
        phase = packets[packet, PHASE]
        out[count, 2] = congestion_weight(
            tables, queues, onward, phase, vc_class, hops_left, aligns
        )
        count += 1
    return count
