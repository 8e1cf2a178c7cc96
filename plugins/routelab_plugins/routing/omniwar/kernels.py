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

CLASSES, FIRST = DIMENSIONS + 1, DIMENSIONS + 2
"""Numbers of the algorithm: classes of virtual channels; least sum of the class of the first hop
and the distance."""


@hop_kernel
def hop(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Offer minimal hops, and deroutes while classes remain for the minimal hops behind them."""
    position = coordinates_of(tables, switch)
    target = coordinates_of(tables, packets[packet, TARGET])
    hops_left = unaligned(tables, position, target)
    numbers = table(tables, OWN)
    name = vc + 1
    if channel < 0:
        name = max(0, tables[numbers + FIRST] - hops_left)
    may_deroute = tables[numbers + CLASSES] - name > hops_left
    first, end = leaving(tables, switch)
    count = 0
    for place in range(first, end):
        onward, next_switch = channel_at(tables, place)
        d = dimension_of(tables, onward)
        if tables[position + d] == tables[target + d]:
            continue
        aligns = tables[coordinates_of(tables, next_switch) + d] == tables[target + d]
        if not (aligns or may_deroute):
            continue
        out[count, 0] = onward
        out[count, 1] = name
        phase = packets[packet, PHASE]
        out[count, 2] = congestion_weight(tables, queues, onward, phase, name, hops_left, aligns)
        count += 1
    return count
