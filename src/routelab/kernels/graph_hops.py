"""Distances and leaving channels of any network, for hop functions.

The tables are those of `routelab.toolkit.families.graph_hops.graph_tables`.
"""

import numpy as np
from numba import njit

from routelab.kernels.hops import table

SIZE, DISTANCE, STARTS, CHANNELS, TARGETS, OWN = range(6)
"""Arrays: number of switches; hops by (target, source); first place of each switch among the
channels; channels by the switch that they leave; switches that they enter; numbers of the
algorithm."""


@njit(_nrt=False, forceinline=True)
def distances_to(tables, target):
    """Return where the hops from all switches to a target begin in `tables`."""
    size = np.int64(tables[table(tables, SIZE)])
    return table(tables, DISTANCE) + size * target


@njit(_nrt=False, forceinline=True)
def leaving(tables, switch):
    """Return the first place of a switch's leaving channels and the place after the last."""
    starts = table(tables, STARTS) + switch
    return np.int64(tables[starts]), np.int64(tables[starts + 1])


@njit(_nrt=False, forceinline=True)
def channel_at(tables, place):
    """Return the channel at a place, and the switch that it enters."""
    return tables[table(tables, CHANNELS) + place], tables[table(tables, TARGETS) + place]
