"""Tori and meshes from which some switches or links are missing."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from routelab.api.topology import Int32Array, Int64Array, Topology, frozen_array
from routelab.toolkit.direction_labels import torus_directions
from routelab.toolkit.grids import Grid, full_grid


@dataclass(frozen=True, eq=False)
class DamagedGrid:
    """A whole grid and the parts of it that exist (S switches, n dimensions).

    Attributes
    ----------
    grid : Grid
    place : int64 array, shape (S,)
        Row-major index of each switch in the whole grid.
    switch_at : int64 array
        Switch at each place; −1 if it is missing.
    out_channel : int32 array, shape (S, 2n)
        Channel of each switch in the directions +X +Y … −X −Y …; −1 if it is missing.
    reach : int64 array, shape (S, 2n)
        Hops that are possible from each switch in each direction; less than the size of the line.
    """

    grid: Grid
    place: Int64Array
    switch_at: Int64Array
    out_channel: Int32Array
    reach: Int64Array

    @property
    def missing(self) -> Int64Array:
        """Places of missing switches, ascending."""
        return frozen_array(np.flatnonzero(self.switch_at < 0), np.int64)


def damaged_grid(topology: Topology) -> DamagedGrid | None:
    """Return the torus or mesh that a network is, or was before failures; None for other networks.

    A network with missing parts needs the attributes ``dims`` and ``wrap`` of the whole one.
    """
    # 1. The grid, and the place of each switch in it.
    labels = torus_directions(topology)
    grid = full_grid(topology) or _declared_grid(topology)
    if grid is None or labels.reason is not None or topology.coordinates is None:
        return None
    count, coordinates = len(grid.dims), topology.coordinates.astype(np.int64)
    place = np.ravel_multi_index(tuple(coordinates.T), grid.dims)
    # 2. Each channel must lead one step in its direction, over the end of a line only in a ring.
    sign, dimension = labels.sign, labels.dimension
    direction = topology.channel_direction
    there = coordinates[topology.channel_source]
    hops = np.arange(topology.num_channels)
    there[hops, dimension[direction]] += sign[direction]
    inside = (there >= 0) & (there < grid.dims) | np.array(grid.wrap)
    there %= np.array(grid.dims)
    if not (
        len(np.unique(place)) == len(place)
        and inside.all()
        and np.array_equal(there, coordinates[topology.channel_target])
    ):
        return None
    # 3. What is missing, and how far packets get. After a whole ring, they are where they began.
    switch_at = np.full(prod(grid.dims), -1)
    switch_at[place] = np.arange(topology.num_switches)
    reach = np.zeros((topology.num_switches, 2 * count))
    for way in range(2 * count):
        channel, switch = labels.out_channel[:, way], np.arange(topology.num_switches)
        neighbour = np.append(topology.channel_target, -1)[channel]
        open_way = np.ones(topology.num_switches, np.bool_)
        for _ in range(grid.dims[way % count] - 1):
            open_way &= channel[switch] >= 0
            reach[:, way] += open_way
            switch = np.where(open_way, neighbour[switch], switch)
    return DamagedGrid(
        grid,
        frozen_array(place, np.int64),
        frozen_array(switch_at, np.int64),
        labels.out_channel,
        frozen_array(reach, np.int64),
    )


def _declared_grid(topology: Topology) -> Grid | None:
    """Return the shape in the network's attributes if its coordinates lie inside."""
    dims, wrap = topology.attributes.get("dims"), topology.attributes.get("wrap")
    coordinates = topology.coordinates
    if coordinates is None or not (isinstance(dims, list) and isinstance(wrap, list)):
        return None
    if not (all(type(size) is int for size in dims) and len(dims) == len(wrap)):
        return None
    if coordinates.shape[1] != len(dims) or len(topology.directions) != 2 * len(dims):
        return None
    if coordinates.min(initial=0) < 0 or np.any(coordinates >= np.array(dims)):
        return None
    rings = zip(dims, wrap, strict=True)
    return Grid(tuple(dims), tuple(bool(ring) and size > 2 for size, ring in rings))
