"""Escape subnetwork over the levels of any connected network: up, across, down.

The escapes of SurePath (Camarero and others, arXiv 2404.04315) in our reading, which
`routelab.toolkit.families.escape_levels` explains; it also computes the arrays.
"""

import numpy as np
from numba import njit

from routelab.kernels.graph_hops import SIZE, channel_at, leaving
from routelab.kernels.hops import ESCAPE, TARGET, table

ESCAPES, ADAPTIVE = 0, 1
"""Classes of virtual channels: escapes; adaptive hops."""


@njit(_nrt=False, forceinline=True)
def offer_escapes(tables, levels, packets, packet, switch, channel, vc, count, out):
    """Write the escapes of a packet behind `count` candidates; return the number of all.

    A hop is an escape if it lessens the up*/down* distance, which counts hops between levels only.
    A hop down has to lead to a switch above the target. Hops inside a level are *shortcuts*: they
    lessen the distance by two or more. No shortcut follows another.
    The penalty grows with the distance behind the hop.

    Parameters
    ----------
    levels : int
        Number of the array of levels; the next array has the up*/down* distances by (target,
        source), and the next the switch that each channel leaves.
    channel, vc : int
        Arguments of hop.
    """
    size = np.int64(tables[table(tables, SIZE)])
    level, target = table(tables, levels), packets[packet, TARGET]
    distance = table(tables, levels + 1) + size * target
    here, bottom = tables[level + switch], tables[level + target]
    crossed = False
    if vc == ESCAPES:
        crossed = tables[level + tables[table(tables, levels + 2) + channel]] == here
    first, end = leaving(tables, switch)
    for place in range(first, end):
        onward, next_switch = channel_at(tables, place)
        there, left = tables[level + next_switch], tables[distance + next_switch]
        if left >= tables[distance + switch] or (crossed and there == here):
            continue
        # from a switch below, the route may only go down
        if there > here and left != bottom - there:
            continue
        out[count, 0] = onward
        out[count, 1] = ESCAPES
        out[count, 2] = ESCAPE + left
        count += 1
    return count
