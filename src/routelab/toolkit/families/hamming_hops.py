"""Checks and tables of hop-by-hop algorithms on Hamming graphs (HyperX)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from routelab.api.errors import UnsupportedError
from routelab.api.topology import Int32Array, Int64Array, Topology
from routelab.toolkit.families.graph_hops import graph_tables

FAMILIES = ("hamming", "hypercube")
"""Families of networks that remain Hamming graphs when links fail."""
_NEEDS = "needs a Hamming graph (HyperX)"


def channel_dimensions(topology: Topology) -> Int64Array:
    """Return the dimension of each channel: the only one whose coordinate it changes.

    int64, shape (C,).

    Raises
    ------
    UnsupportedError
        If the switches have no coordinates, or a channel changes none or several.
    """
    coordinate = coordinates(topology)
    source, target = topology.channel_source, topology.channel_target
    differs = coordinate[source] != coordinate[target]
    diagonal = np.flatnonzero(differs.sum(axis=1) != 1)
    if diagonal.size:
        a, b = (topology.switch_names[end[diagonal[0]]] for end in (source, target))
        raise UnsupportedError(
            f"{_NEEDS}; the link from {a} to {b} does not change exactly one coordinate"
        )
    dimension: Int64Array = differs.argmax(axis=1)
    return dimension


def not_hamming(topology: Topology) -> str | None:
    """Return why a network is not a Hamming graph without failures; None if it is one."""
    try:
        channel_dimensions(topology)
    except UnsupportedError as error:
        return str(error)
    # 1. Switches: one for each combination of coordinates. Sizes are multiplied as floats, because
    #    a product of integers may overflow, and then equal the number of switches by accident.
    coordinate = coordinates(topology)
    sizes = np.array([len(np.unique(column)) for column in coordinate.T])
    is_unique = len(np.unique(coordinate, axis=0)) == len(coordinate)
    if not is_unique or sizes.prod(dtype=float) != len(coordinate):
        return f"{_NEEDS} without failures; switches are missing, or have the same coordinates"
    # 2. Links: each switch has all other switches of its row as neighbours. `source` and `target`
    #    are all pairs of neighbours, without parallel links.
    source, target = np.unique((topology.channel_source, topology.channel_target), axis=1)
    dimension = (coordinate[source] != coordinate[target]).argmax(axis=1)
    num_neighbours = np.zeros(coordinate.shape, np.int64)  # by (switch, dimension)
    np.add.at(num_neighbours, (source, dimension), 1)
    incomplete = np.argwhere(num_neighbours < sizes - 1)
    if not incomplete.size:
        return None
    switch, d = incomplete[0]
    return (
        f"{_NEEDS} without failures; switch {topology.switch_names[switch]} has links to "
        f"{num_neighbours[switch, d]} of the {sizes[d] - 1} switches that differ from it in "
        f"coordinate {d} only"
    )


def not_partly_hamming(topology: Topology) -> str | None:
    """Return why a network is not a Hamming graph, whole or with failures; None if it is one.

    Networks of other families have to be whole: a torus, too, is a Hamming graph that lacks links.
    """
    if topology.family not in FAMILIES:
        return not_hamming(topology)
    try:
        channel_dimensions(topology)
    except UnsupportedError as error:
        return str(error)
    return None


def coordinates(topology: Topology) -> Int32Array:
    """Return the coordinates of the switches; int32, shape (S, n).

    Raises
    ------
    UnsupportedError
        If the switches have no coordinates.
    """
    if topology.coordinates is None or not topology.coordinates.shape[1]:
        raise UnsupportedError(f"{_NEEDS}; the switches of this network have no coordinates")
    return topology.coordinates


def hamming_tables(topology: Topology, numbers: list[int], *arrays: ArrayLike) -> Int32Array:
    """Return the tables of a Hamming graph for hop functions: graph, coordinates, dimensions.

    `routelab.kernels.families.hamming_hops` reads them.

    Parameters
    ----------
    topology : Topology
    numbers : list of int
        What the algorithm's functions read besides the network; they follow the number of
        dimensions.
    *arrays : array of int
        Array k begins at ``table(tables, HAMMING_OWN + k)``.

    Raises
    ------
    UnsupportedError
        See `channel_dimensions`.
    """
    dimension, coordinate = channel_dimensions(topology), coordinates(topology)
    numbers = [coordinate.shape[1], *numbers]
    distance = None  # follows from the coordinates
    return graph_tables(topology, distance, numbers, coordinate, dimension, *arrays)
