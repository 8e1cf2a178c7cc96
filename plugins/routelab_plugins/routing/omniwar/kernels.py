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
    here, there = coordinates_of(tables, switch), coordinates_of(tables, packets[packet, TARGET])
    left = unaligned(tables, here, there)
    own = table(tables, OWN)
    name = vc + 1
    if channel < 0:
        name = max(0, tables[own + FIRST] - left)
    may_deroute = tables[own + CLASSES] - name > left
    first, end = leaving(tables, switch)
    count = 0
    for place in range(first, end):
        onward, next_switch = channel_at(tables, place)
        d = dimension_of(tables, onward)
        if tables[here + d] == tables[there + d]:
            continue
        aligns = tables[coordinates_of(tables, next_switch) + d] == tables[there + d]
        if not (aligns or may_deroute):
            continue
        out[count, 0] = onward
        out[count, 1] = name
        phase = packets[packet, PHASE]
        out[count, 2] = congestion_weight(tables, queues, onward, phase, name, left, aligns)
        count += 1
    return count
