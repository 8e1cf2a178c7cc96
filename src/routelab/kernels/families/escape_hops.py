"""Escape subnetwork over the levels of any connected network: up, across, down.

The escapes of SurePath (Camarero and others, arXiv 2404.04315) in our reading, which
`routelab.toolkit.families.escape_levels` explains; it also computes the arrays. Levels are
distances from a root switch, which has level 0. ``table(tables, X)`` is the index in `tables` at
which array X begins.
"""

import numpy as np

from routelab.kernels.graph_hops import SIZE, channel_at, leaving
from routelab.kernels.hops import ESCAPE as LEAST_ESCAPE_PENALTY
from routelab.kernels.hops import TARGET, table
from routelab.kernels.jit import inline

ESCAPE_CLASS, ADAPTIVE_CLASS = 0, 1
"""Classes of virtual channels: escapes; adaptive hops."""


@inline
def offer_escapes(tables, levels, packets, packet, switch, channel, vc_class, count, out):
    """Write the escapes of a packet to `out`, whose first `count` rows have other candidates.

    Return the number of all candidates.

    The up*/down* distance is the number of hops of the shortest route that goes up to a lower
    level, then down, without hops inside a level. A hop is an escape if it lessens this distance. A
    hop down must lead to a switch from which the target is reached by going down only. A hop inside
    a level is a *shortcut*. No shortcut follows another: the shortcuts of a level could otherwise
    wait for each other in a cycle. So escapes depend on each other in one order: up to level n, one
    hop inside level n, up to level n - 1, and so on; then down. The penalty grows with the distance
    behind the hop.

    Parameters
    ----------
    levels : int
        Number of the first of three arrays: ``levels`` is the level of each switch, ``levels + 1``
        the up*/down* distances by (target, source), ``levels + 2`` the switch that each channel
        leaves.
    channel, vc_class : int
        Arguments `channel` and `vc` of hop: channel and class of the last hop.
    """
    # where the levels, and the distances to the target, begin in `tables`
    num_switches = np.int64(tables[table(tables, SIZE)])
    level_begin, target = table(tables, levels), packets[packet, TARGET]
    distance_begin = table(tables, levels + 1) + num_switches * target
    switch_level, target_level = tables[level_begin + switch], tables[level_begin + target]
    # The last hop was a shortcut if it was an escape whose channel leaves a switch of this level.
    took_shortcut = False
    if vc_class == ESCAPE_CLASS:
        took_shortcut = (
            tables[level_begin + tables[table(tables, levels + 2) + channel]] == switch_level
        )
    first, end = leaving(tables, switch)
    for index in range(first, end):
        next_channel, next_switch = channel_at(tables, index)
        next_level, next_distance = (
            tables[level_begin + next_switch],
            tables[distance_begin + next_switch],
        )
        if next_distance >= tables[distance_begin + switch] or (
            took_shortcut and next_level == switch_level
        ):
            continue
        # A hop down (away from level 0) is allowed only if the distance behind it is the difference
        # of the levels: then the rest of the route goes down, too.
        if next_level > switch_level and next_distance != target_level - next_level:
            continue
        # a candidate: channel, class of virtual channels, penalty
        out[count, 0] = next_channel
        out[count, 1] = ESCAPE_CLASS
        out[count, 2] = LEAST_ESCAPE_PENALTY + next_distance
        count += 1
    return count
