"""Meaning of coordinates: their names, and groups of switches that share some of them."""

from __future__ import annotations

import numpy as np

from routelab.api.errors import UnsupportedError
from routelab.api.topology import Int64Array, Topology
from routelab.toolkit.families.fat_trees import read_fat_tree

COORDINATE_NAMES = "coordinate_names"
"""Attribute of a network: names of its coordinates, for pictures and columns such as `at_x`."""

GROUP_COORDINATES = "group_coordinates"
"""Attribute of a network: numbers of the coordinates that all switches of a group share."""


def coordinate_name(topology: Topology, number: int) -> str:
    """Return the name of a coordinate.

    Parameters
    ----------
    topology : Topology
    number : int

    Returns
    -------
    name : str
        The letter of the directions along it, or what `COORDINATE_NAMES` says, or ``d0``, ``d1``.
    """
    # +X and −X give x
    letters = {label.dimension: label.name.lstrip("+-−").lower() for label in topology.directions}
    if number in letters:
        return letters[number]
    names = topology.attributes.get(COORDINATE_NAMES)
    if isinstance(names, list | tuple) and number < len(names):
        return str(names[number])
    return f"d{number}"


def switch_groups(topology: Topology) -> Int64Array | None:
    """Return the group of each switch, numbered from 0 in the order of the groups' coordinates.

    Groups of a fat tree are its pods, the subtrees below the roots; the roots are a further group.

    Parameters
    ----------
    topology : Topology

    Returns
    -------
    group : int64 array, shape (S,), or None
        None if the network has no groups: it is not a fat tree, and has no coordinates or no
        attribute `GROUP_COORDINATES` that lists some of them.
    """
    if topology.family == "fat-tree":
        return _pods(topology)
    shared = topology.attributes.get(GROUP_COORDINATES)
    coordinates = topology.coordinates
    if coordinates is None or not isinstance(shared, list | tuple) or not shared:
        return None
    if not all(isinstance(c, int) and 0 <= c < coordinates.shape[1] for c in shared):
        return None
    _, group = np.unique(coordinates[:, shared], axis=0, return_inverse=True)
    return group.reshape(-1)  # the shape depends on the version of NumPy


def _pods(topology: Topology) -> Int64Array | None:
    """Return the pod of each switch of a fat tree; the roots follow the last pod.

    None if the switches and channels are not those of the tree that the attributes describe.
    """
    try:
        tree = read_fat_tree(topology)
    except UnsupportedError:
        return None
    root_level = tree.height - 1
    # switches with the same index // copies are above the same leaves; leaves, and so pods, are
    # numbered from left to right
    leaves_below, leaves_per_pod = np.array(tree.leaves)[tree.level], tree.leaves[root_level - 1]
    subtree = tree.index // np.array(tree.copies)[tree.level]
    first_leaf = subtree * leaves_below
    num_pods = tree.down[root_level]
    return np.where(tree.level == root_level, num_pods, first_leaf // leaves_per_pod)
