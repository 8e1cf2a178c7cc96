"""Groups of switches: those of a Dragonfly, racks of a Slim Fly, rows of a Hamming graph."""

from __future__ import annotations

import numpy as np

from routelab.api.topology import Int64Array, Topology

GROUP_COORDINATES = "group_coordinates"
"""Attribute of a network: numbers of the coordinates that all switches of a group share."""


def switch_groups(topology: Topology) -> Int64Array | None:
    """Return the group of each switch, from 0 on in the order of their coordinates.

    Parameters
    ----------
    topology : Topology

    Returns
    -------
    group : int64 array, shape (S,), or None
        None if the network has no groups: no coordinates, or no attribute `GROUP_COORDINATES` that
        names some of them.
    """
    named = topology.attributes.get(GROUP_COORDINATES)
    coordinates = topology.coordinates
    if coordinates is None or not isinstance(named, list | tuple) or not named:
        return None
    if not all(isinstance(c, int) and 0 <= c < coordinates.shape[1] for c in named):
        return None
    return np.unique(coordinates[:, named], axis=0, return_inverse=True)[1].reshape(-1)
