"""DimWAR: at most one deroute in each dimension, dimensions in order."""

from routelab.kernels.families.hamming_hops import (
    congestion_weight,
    coordinates_of,
    dimension_of,
    unaligned,
)
from routelab.kernels.graph_hops import channel_at, leaving
from routelab.kernels.hops import PHASE, TARGET, hop_kernel

FRESH, DEROUTED = 0, 1
"""Classes: first hop in a dimension; hop after a deroute in the same dimension."""


@hop_kernel
def hop(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Offer the hops in the first unaligned dimension; the penalty is congestion times hops left.

    A deroute, which does not align the dimension, is offered only to a packet that has not taken
    one in this dimension. A candidate is a row of `out`: channel, class of virtual channels,
    penalty.
    """
    # both are where the coordinates of a switch begin in `tables`
    position = coordinates_of(tables, switch)
    target = coordinates_of(tables, packets[packet, TARGET])
    # `hop` is never called at the target, so some dimension is unaligned
    current = 0
    while tables[position + current] == tables[target + current]:
        current += 1
    hops_left = unaligned(tables, position, target)
    # The packet came over a channel of this dimension, which is still not aligned: that hop was a
    # deroute. A packet at injection came over none (−1).
    derouted = channel >= 0 and dimension_of(tables, channel) == current
    vc_class = DEROUTED if derouted else FRESH
    first, end = leaving(tables, switch)
    count = 0
    for entry in range(first, end):
        onward, next_switch = channel_at(tables, entry)
        if dimension_of(tables, onward) != current:
            continue
        aligns = tables[coordinates_of(tables, next_switch) + current] == tables[target + current]
        if derouted and not aligns:
            continue
        out[count, 0] = onward
        out[count, 1] = vc_class
        phase = packets[packet, PHASE]
        out[count, 2] = congestion_weight(
            tables, queues, onward, phase, vc_class, hops_left, aligns
        )
        count += 1
    return count
