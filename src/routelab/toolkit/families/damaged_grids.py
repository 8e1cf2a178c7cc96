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
    grid_point : int64 array, shape (S,)
        Row-major index of each switch in the whole grid.
    switch_at : int64 array
        Switch at each grid point; −1 if it is missing.
    out_channel : int32 array, shape (S, 2n)
        Channel of each switch in the directions +X +Y … −X −Y …; −1 if it is missing.
    reach : int64 array, shape (S, 2n)
        Hops from each switch in each direction before the next missing channel; in a whole ring,
        one less than its size. Ring of 4 switches whose channel from 2 to 3 is missing: 2, 1, 0
        and 3 in the positive direction.
    """

    grid: Grid
    grid_point: Int64Array
    switch_at: Int64Array
    out_channel: Int32Array
    reach: Int64Array

    @property
    def missing(self) -> Int64Array:
        """Grid points without a switch, ascending."""
        return frozen_array(np.flatnonzero(self.switch_at < 0), np.int64)


def damaged_grid(topology: Topology) -> DamagedGrid | None:
    """Return the torus or mesh that a network is, or was before failures; None for other networks.

    A network with missing parts needs the attributes ``dims`` and ``wrap`` of the whole one.
    """
    # 1. The grid, and the grid point of each switch.
    labels = torus_directions(topology)
    grid = full_grid(topology) or _declared_grid(topology)
    if grid is None or labels.reason is not None or topology.coordinates is None:
        return None
    num_dims, coordinates = len(grid.dims), topology.coordinates.astype(np.int64)
    grid_point = np.ravel_multi_index(tuple(coordinates.T), grid.dims)
    # 2. Each channel must lead one step in its direction. A step past the last switch of a ring
    #    leads to its first one; a line has none.
    sign, dimension = labels.sign, labels.dimension
    channel_direction = topology.channel_direction
    one_step_on = coordinates[topology.channel_source]
    channels = np.arange(topology.num_channels)
    one_step_on[channels, dimension[channel_direction]] += sign[channel_direction]
    is_inside = (one_step_on >= 0) & (one_step_on < grid.dims) | np.array(grid.wrap)
    one_step_on %= np.array(grid.dims)
    if not (
        len(np.unique(grid_point)) == len(grid_point)
        and is_inside.all()
        and np.array_equal(one_step_on, coordinates[topology.channel_target])
    ):
        return None
    # 3. What is missing, and the hops of packets that go straight on. After size − 1 hops along a
    #    whole ring they have met all its switches.
    switch_at = np.full(prod(grid.dims), -1)
    switch_at[grid_point] = np.arange(topology.num_switches)
    reach = np.zeros((topology.num_switches, 2 * num_dims))
    for direction in range(2 * num_dims):
        channel = labels.out_channel[:, direction]
        # a missing channel, −1, has the target at the end: −1
        neighbour = np.append(topology.channel_target, -1)[channel]
        # a packet from each switch: where it is now, and whether it has met no missing channel
        position = np.arange(topology.num_switches)
        goes_on = np.ones(topology.num_switches, np.bool_)
        for _ in range(grid.dims[direction % num_dims] - 1):
            goes_on &= channel[position] >= 0
            reach[:, direction] += goes_on
            position = np.where(goes_on, neighbour[position], position)
    return DamagedGrid(
        grid=grid,
        grid_point=frozen_array(grid_point, np.int64),
        switch_at=frozen_array(switch_at, np.int64),
        out_channel=labels.out_channel,
        reach=frozen_array(reach, np.int64),
    )


def _declared_grid(topology: Topology) -> Grid | None:
    """Return the grid that the network's attributes declare if it can hold all switches.

    None if ``dims`` and ``wrap`` are missing or malformed, or if coordinates or directions do not
    fit them.
    """
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
    # two switches have a single link, not a ring
    rings = zip(dims, wrap, strict=True)
    return Grid(tuple(dims), tuple(bool(ring) and size > 2 for size, ring in rings))
