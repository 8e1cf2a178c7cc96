"""Translations that a routing graph is invariant under, with verification.

On a whole torus the routes out of one switch are translations of those out of another: searches
and linear programs need only one source of each class. Failures, lines (dimensions of size 2 are
lines) and rules that treat switches differently break the symmetry. So it is always verified: the
graph is compared with its image.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd, prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from routelab.api.routing_graph import RoutingGraph
from routelab.api.topology import Int32Array, Topology, frozen_array
from routelab.kernels.graph import GraphArrays
from routelab.kernels.symmetry import SymmetryArrays, fill_images, fill_source_images, keeps_routes
from routelab.toolkit.direction_labels import torus_directions
from routelab.toolkit.grids import Grid, whole_torus


@dataclass(frozen=True, eq=False)
class SourceSymmetry:
    """A group of translations of a network that keeps legal routes, terminals and capacities.

    Attributes
    ----------
    topology : Topology
    arrays : SymmetryArrays
        Arrays for kernels.
    """

    topology: Topology
    arrays: SymmetryArrays

    @property
    def source_class(self) -> Int32Array:
        """Class (orbit) of every switch with terminals, −1 for the others; int32, shape (S,)."""
        return frozen_array(self.arrays.source_class, np.int32)

    @property
    def representatives(self) -> Int32Array:
        """One switch of every class; int32, shape (Q,)."""
        return frozen_array(self.arrays.representative, np.int32)

    @property
    def order(self) -> int:
        """Number of translations and of switches in every class; 1 without symmetry."""
        return prod((self.arrays.period // self.arrays.step).tolist())

    @property
    def channel_class(self) -> Int32Array:
        """Class (orbit) of every channel, numbered from 0; int32, shape (C,).

        Every class has `order` channels.
        """
        arrays = self.arrays
        orbit_code = np.arange(self.topology.num_channels, dtype=np.int64)
        if self.order > 1:
            # A channel moves with its source and keeps its direction.
            directions = arrays.channel_at.shape[1]
            orbit_code = arrays.orbit[arrays.channel_source].astype(np.int64) * directions
            orbit_code += arrays.channel_direction
        _, class_number = np.unique(orbit_code, return_inverse=True)
        return frozen_array(class_number.reshape(-1), np.int32)

    def by_class(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return one value for each class from a value for each channel; shape (classes,).

        Parameters
        ----------
        values : array, shape (C,)
            Equal for all channels of a class, such as their capacity.
        """
        values_of_class = np.empty(int(self.channel_class.max(initial=-1)) + 1, dtype=values.dtype)
        values_of_class[self.channel_class] = values
        return values_of_class

    def subgroup(self, step: ArrayLike) -> SourceSymmetry:
        """Return the group of the translations by multiples of `step`.

        Parameters
        ----------
        step : array of int, shape (n,)
            A divisor of ``arrays.period`` for each of the n dimensions, and a multiple of this
            group's own step. 1 keeps all translations, the period itself none. Where rings close
            with a shift, a step may become smaller, because some translations imply others.
        """
        arrays = self.arrays
        steps = np.array(step, dtype=np.int32)
        # A translation along d once around its rings is a translation by twist[d, e] along e: the
        # group has that, too, so the step along e is at most the common divisor of both. A smaller
        # step of e may act on further dimensions in the same way, through at most n of them.
        for _ in steps:
            for d, e in np.argwhere(arrays.twist):
                moves_along_d = steps[d] < arrays.period[d]
                if moves_along_d:
                    steps[e] = gcd(steps[e], arrays.twist[d, e])
        group = _make_group(self.topology, period=arrays.period, step=steps, arrays=arrays)
        return SourceSymmetry(self.topology, group)

    def images(self, source: int) -> tuple[Int32Array, Int32Array]:
        """Return the images under the translation from the class's representative to `source`.

        Returns
        -------
        switch_image : int32 array, shape (S,)
        channel_image : int32 array, shape (C,)
        """
        switches = np.empty(self.topology.num_switches, dtype=np.int32)
        channels = np.empty(self.topology.num_channels, dtype=np.int32)
        fill_source_images(self.arrays, source, switches, channels)
        return switches, channels


def source_symmetry(graph: RoutingGraph, arrays: GraphArrays | None = None) -> SourceSymmetry:
    """Find the translations of the network that preserve the legal routes of `graph`.

    Parameters
    ----------
    graph : RoutingGraph
        Deterministic.
    arrays : GraphArrays, optional
        The graph in another tie order; translations must preserve the order, too.

    Returns
    -------
    SourceSymmetry
        Of order 1, with one class per switch, if the graph has no symmetry.

    Examples
    --------
    >>> from routelab.registry.instances import load
    >>> from routelab.toolkit import build_grid, source_symmetry
    >>> graph = load("rules", "angara").routing_graph(build_grid("torus", (4, 4), wrap=True))
    >>> len(set(source_symmetry(graph).arrays.representative.tolist()))
    1
    """
    topology = graph.topology
    grid = whole_torus(topology)
    labels = torus_directions(topology)
    if grid is None or labels.reason is not None or not any(grid.wrap):
        return SourceSymmetry(topology, _no_symmetry(topology))
    grid_arrays = _grid_arrays(topology, grid, labels.out_channel)
    period = _find_periods(arrays or graph.arrays, grid_arrays, topology)
    group = _make_group(topology, period=period, step=np.ones_like(period), arrays=grid_arrays)
    return SourceSymmetry(topology, group)


def _find_periods(graph: GraphArrays, symmetry: SymmetryArrays, topology: Topology) -> Int32Array:
    """Find the period of each dimension: its size if a step along it keeps the network, else 1.

    A step keeps the network if it changes no legal routes, terminals or capacities.
    """
    period = symmetry.period.copy()
    switches = np.empty(topology.num_switches, dtype=np.int32)
    channels = np.empty(topology.num_channels, dtype=np.int32)
    for d in np.flatnonzero(symmetry.period > 1):
        step = np.zeros(len(period), dtype=np.int32)
        step[d] = 1
        fill_images(symmetry, step, switches, channels)
        terminals, capacity = topology.terminals_per_switch, topology.channel_capacity
        is_same = np.array_equal(terminals[switches], terminals) and np.array_equal(
            capacity[channels], capacity
        )
        if not (is_same and keeps_routes(graph, switches, channels)):
            period[d] = 1
    # Once around a ring of d that closes with a shift along e is a translation along e. If that is
    # excluded, translations along d are, too; and so on, through at most n dimensions.
    for _ in period:
        for d, e in np.argwhere(symmetry.twist):
            if period[e] == 1:
                period[d] = 1
    return period


def _grid_arrays(topology: Topology, grid: Grid, out_channel: Int32Array) -> SymmetryArrays:
    """Return the arrays of a whole grid, with one class per switch: `_make_group` sets the classes.

    `stride` numbers switches by their coordinates: in a grid of 4x2, switch (3, 1) is 3 * 2 + 1 = 7
    of `switch_at`.
    """
    assert topology.coordinates is not None
    stride = np.array([prod(grid.dims[d + 1 :]) for d in range(len(grid.dims))], dtype=np.int32)
    switch_at = np.empty(topology.num_switches, dtype=np.int32)
    switch_at[topology.coordinates @ stride] = np.arange(topology.num_switches)
    return _no_symmetry(topology)._replace(
        coordinates=topology.coordinates,
        period=frozen_array(np.where(grid.wrap, grid.dims, 1), np.int32),
        step=frozen_array(np.ones(len(grid.dims)), np.int32),
        stride=frozen_array(stride, np.int32),
        # shape (n, n); without shifts (0, 0), where the array of an empty tuple has shape (0,)
        twist=frozen_array(np.array(grid.twist).reshape(2 * (len(grid.twist),)), np.int32),
        switch_at=frozen_array(switch_at, np.int32),
        channel_at=out_channel,
    )


def _make_group(
    topology: Topology, *, period: Int32Array, step: Int32Array, arrays: SymmetryArrays
) -> SymmetryArrays:
    """Return the group with those periods and steps, and its classes.

    An orbit is identified by its switch with the least coordinates: with step 2 along a dimension,
    that of switches with the coordinates 1, 3 and 5 there has the coordinate 1.
    """
    coordinates, endpoints = arrays.coordinates, topology.endpoints
    # Along dimensions of period 1 nothing moves, so each coordinate is a class of its own.
    least_coordinates = np.where(period > 1, coordinates % step, coordinates)
    orbit = arrays.switch_at[least_coordinates @ arrays.stride]
    representative, number = np.unique(orbit[endpoints], return_inverse=True)
    source_class = np.full(topology.num_switches, -1, dtype=np.int32)
    source_class[endpoints] = number.reshape(-1)
    return arrays._replace(
        source_class=frozen_array(source_class, np.int32),
        representative=frozen_array(representative, np.int32),
        orbit=frozen_array(orbit, np.int32),
        period=frozen_array(period, np.int32),
        step=frozen_array(step, np.int32),
    )


def _no_symmetry(topology: Topology) -> SymmetryArrays:
    """Return the group without translations: each switch with terminals is a class.

    It has one dimension, of period 1, whose coordinate is the number of the switch.
    """
    count = topology.num_switches
    switches = frozen_array(np.arange(count), np.int32)
    one = frozen_array([1], np.int32)
    source_class = np.full(count, -1, dtype=np.int32)
    source_class[topology.endpoints] = np.arange(len(topology.endpoints))
    return SymmetryArrays(
        source_class=frozen_array(source_class, np.int32),
        representative=topology.endpoints,
        orbit=switches,
        coordinates=frozen_array(switches.reshape(-1, 1), np.int32),
        period=one,
        step=one,
        stride=one,
        twist=frozen_array(np.empty((0, 0)), np.int32),
        switch_at=switches,
        channel_source=topology.channel_source,
        channel_direction=topology.channel_direction,
        channel_at=frozen_array(np.empty((count, 0)), np.int32),
    )
