"""torus-2qos: dimension order on tori with datelines in the service level, as in OpenSM.

The manual page *torus-2QoS(8)* of OpenSM describes the engine: routes follow the dimensions in
order. Bit d of a route's service level tells whether it crosses the dateline of dimension d; on
channels of dimension d, bit 0 of the virtual lane is that bit. So a route may change its lane from
one dimension to the next. In each ring, routes that do not cross the dateline have no cycle.
Neither have those that do, because shortest routes across the dateline never reach around the
opposite side. Half the way around an even ring never crosses the dateline.

Failures change routes, but no service level. In a ring that a failure interrupts, routes go the
long way around where they must. Such a ring has no cycle, whatever the lanes. One switch may fail,
too: where the corner of a route is missing, the route turns into the next dimension one hop before
it, goes one hop, and then continues in dimension order. The hop after its illegal turn back has
bit 1 of the lane, so failed switches need four lanes, failed links two. OpenSM's second level of
service and its multicast are not included.
"""

from __future__ import annotations

import numpy as np

from routelab.api import (
    Capabilities,
    RouteTable,
    RoutingPlugin,
    Topology,
    UnsupportedError,
)
from routelab.api.topology import BoolArray, Int32Array
from routelab.toolkit.families.damaged_grids import DamagedGrid, damaged_grid
from routelab.toolkit.grids import Grid
from routelab.toolkit.infiniband import connected_parts
from routelab_plugins import works


class Torus2Qos(RoutingPlugin):
    """Dimension order; a hop's lane tells whether its route crosses the dimension's dateline."""

    name = "torus-2qos"
    summary = "Dimension order on tori with datelines, around failures (OpenSM's torus-2QoS)"
    citations = (works.TORUS2QOS("service levels, lanes, and routes around failures"),)
    capabilities = Capabilities(
        families=("torus", "mesh"),
        minimal=False,
        flow_control="plain",
        virtual_channels=4,
        destination_based=True,
    )

    def supports(self, topology: Topology) -> str | None:
        """Require a torus or mesh with at most one switch missing, and a route for each pair."""
        try:
            self.route(topology)
        except UnsupportedError as error:
            return str(error)
        return None

    def route(self, topology: Topology) -> RouteTable:
        """Compute one tree towards each terminal.

        Raises
        ------
        UnsupportedError
            If the network is not a torus or mesh, or has failures that no route goes around.
        """
        damaged = damaged_grid(topology)
        if damaged is None:
            raise UnsupportedError("needs a torus or mesh")
        lines = np.unique(damaged.missing // damaged.grid.dims[-1])
        if len(lines) > 1:
            raise UnsupportedError(
                f"routes around one missing switch, or several on one line of the last "
                f"dimension; {len(damaged.missing)} are missing"
            )
        steps = _next_hops(topology, damaged)
        table = RouteTable.from_next_hops(topology, steps, per_terminal=True)
        part = connected_parts(topology)
        empty = np.flatnonzero(np.diff(table.pair_start) == 0)
        source, target = np.divmod(empty, table.num_destinations)
        ends = topology.endpoints[source], topology.terminal_switch[target]
        cut = empty[part[ends[0]] == part[ends[1]]]
        if cut.size:
            raise UnsupportedError(
                "failures interrupt both ways around a ring, or a line, on the route from "
                + table.describe_pair(int(cut[0]))
            )
        return table.with_vcs(_lanes(table, damaged.grid), "plain")


def _forward(here: Int32Array, there: Int32Array, size: int, wrap: bool) -> BoolArray:
    """Find whether the way in one dimension has positive direction without failures."""
    if not wrap:
        return np.asarray(there > here)
    twice = 2 * ((there - here) % size)
    return np.asarray((twice < size) | (twice == size) & (there > here))


def _next_hops(topology: Topology, damaged: DamagedGrid) -> Int32Array:
    """Return the next channel of each switch to each terminal; int32, shape (S, T)."""
    assert topology.coordinates is not None
    grid = damaged.grid
    position = topology.coordinates
    target_position = position[topology.terminal_switch]
    place = damaged.place[:, np.newaxis]
    steps = np.full((topology.num_switches, topology.num_terminals), -1, np.int32)
    count, stride = len(grid.dims), 1
    for d in reversed(range(count)):
        size, wrap = grid.dims[d], grid.wrap[d]
        a, b = position[:, d, np.newaxis], target_position[np.newaxis, :, d]
        is_missing = damaged.switch_at[place + (b - a) * stride] < 0
        stride *= size
        far = {1: (b - a) % size, -1: (a - b) % size} if wrap else {1: b - a, -1: a - b}
        # a missing corner is approached up to the switch before it
        is_open = {
            sign: (far[sign] > 0) & (far[sign] - is_missing <= damaged.reach[:, [direction]])
            for sign, direction in ((1, d), (-1, count + d))
        }
        ahead = np.where(_forward(a, b, size, wrap), is_open[1], ~is_open[-1])
        channel = damaged.out_channel
        step = np.where(ahead, channel[:, [d]], channel[:, [count + d]])
        step = np.where(is_open[1] | is_open[-1], step, -1)
        turns = is_missing & (np.where(ahead, far[1], far[-1]) == 1)
        steps = np.where((a == b) | turns, steps, step)
    return steps


def _lanes(table: RouteTable, grid: Grid) -> np.ndarray:
    """Return the lane of each hop; shape (H,)."""
    topology = table.topology
    assert topology.coordinates is not None
    source, target = np.divmod(table.path_pair, table.num_destinations)
    a = topology.coordinates[topology.endpoints[source]]
    b = topology.coordinates[topology.terminal_switch[target]]
    crosses = np.zeros(a.shape, np.bool_)
    for d, (size, wrap) in enumerate(zip(grid.dims, grid.wrap, strict=True)):
        ahead = _forward(a[:, d], b[:, d], size, wrap)
        crosses[:, d] = wrap & np.where(ahead, b[:, d] < a[:, d], b[:, d] > a[:, d])
    dimension = topology.channel_direction[table.hop_channel] % len(grid.dims)
    path = np.repeat(np.arange(table.num_paths), table.path_length)
    illegal = np.zeros(len(path), np.bool_)
    illegal[1:] = (path[1:] == path[:-1]) & (dimension[1:] < dimension[:-1])
    return (crosses[path, dimension] + 2 * illegal).astype(np.int16)
