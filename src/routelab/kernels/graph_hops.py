"""Distances and leaving channels of any network, for hop functions.

The tables are those of `routelab.toolkit.families.graph_hops.graph_tables`; ``table(tables, X)`` is
the index in `tables` at which array X begins.
"""

import numpy as np

from routelab.kernels.hops import table
from routelab.kernels.jit import inline

SIZE, DISTANCE, STARTS, CHANNELS, TARGETS, OWN = range(6)
"""Arrays: number of switches; hops by (target, source); index of each switch's first channel among
the CHANNELS, which are sorted by the switch that they leave; the switches that these enter; numbers
of the algorithm."""


@inline
def distances_to(tables, target):
    """Return where the hops from all switches to a target begin in `tables`."""
    size = np.int64(tables[table(tables, SIZE)])
    return table(tables, DISTANCE) + size * target


@inline
def leaving(tables, switch):
    """Return the index of the first channel that leaves a switch, and the index after the last."""
    starts = table(tables, STARTS) + switch
    return np.int64(tables[starts]), np.int64(tables[starts + 1])


@inline
def channel_at(tables, index):
    """Return the channel at an index from `leaving`, and the switch that it enters."""
    return tables[table(tables, CHANNELS) + index], tables[table(tables, TARGETS) + index]
