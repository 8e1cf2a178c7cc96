"""Coordinates of Hamming graphs (HyperX), for hop functions.

The tables are those of `routelab.toolkit.families.hamming_hops.hamming_tables`; leaving channels
are read with `routelab.kernels.graph_hops`. ``table(tables, X)`` is the index in `tables` at which
array X begins. A dimension is *unaligned* if the coordinates of packet and target differ in it; a
*deroute* is a hop that does not align its dimension.
"""

import numpy as np

from routelab.kernels.graph_hops import OWN
from routelab.kernels.hops import ESCAPE, class_packets, table, waiting_packets
from routelab.kernels.jit import inline

DIMENSIONS = 0
"""First number of the algorithm: dimensions of the network. Its own numbers follow."""
COORDINATES, DIMENSION = OWN + 1, OWN + 2
"""Arrays: coordinates by switch and dimension; dimension in which each channel leads."""
HAMMING_OWN = OWN + 3
"""First array of the algorithm itself."""


@inline
def coordinates_of(tables, switch):
    """Return where the coordinates of a switch begin in `tables`."""
    count = np.int64(tables[table(tables, OWN) + DIMENSIONS])
    return table(tables, COORDINATES) + count * switch


@inline
def dimension_of(tables, channel):
    """Return the dimension in which a channel leads."""
    return np.int64(tables[table(tables, DIMENSION) + channel])


@inline
def unaligned(tables, here, there):
    """Return the number of coordinates in which two switches differ: their distance.

    Parameters
    ----------
    here, there : int
        Where the coordinates of each switch begin in `tables`, from `coordinates_of`.
    """
    count = 0
    for d in range(tables[table(tables, OWN) + DIMENSIONS]):
        count += tables[here + d] != tables[there + d]
    return count


@inline
def congestion_weight(tables, queues, channel, phase, vc, hops_left, aligns):
    """Return the weight of a hop: packets in its queue, with the new one, times its remaining hops.

    The queue is the packets that wait for the channel, and those in buffers of the class `vc`
    behind it. Buffers of other classes do not delay the packet: to count them hides that its own
    class is full.

    The weight is doubled, so that 1 can be added for a deroute, which therefore loses ties. It is a
    penalty, and kept below `ESCAPE`, from which on penalties mark escapes. The program needs
    `HopProgram.waiting`.

    Parameters
    ----------
    phase, vc : int
        See `class_flits`.
    hops_left : int
        Unaligned dimensions before the hop.
    aligns : bool
        Whether the hop aligns one of them; otherwise it is a deroute.
    """
    packets = waiting_packets(tables, queues, channel)
    packets += class_packets(tables, queues, channel, phase, vc)
    weight = 2 * (packets + 1) * hops_left
    # After a deroute the same dimensions are unaligned, so the route has one hop more.
    if not aligns:
        weight += 2 * (packets + 1) + 1
    return min(weight, np.int64(ESCAPE - 1))
