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
        # Grid points are numbered row by row, so those of one line in the last dimension have the
        # same quotient.
        lines_with_missing_switches = np.unique(damaged.missing // damaged.grid.dims[-1])
        if len(lines_with_missing_switches) > 1:
            raise UnsupportedError(
                f"routes around one missing switch, or several on one line of the last "
                f"dimension; {len(damaged.missing)} are missing"
            )
        next_hops = _next_hops(topology, damaged)
        table = RouteTable.from_next_hops(topology, next_hops, per_terminal=True)
        # only pairs in different parts of the network may have no route
        part = connected_parts(topology)
        unrouted = np.flatnonzero(np.diff(table.pair_start) == 0)
        source, target = np.divmod(unrouted, table.num_destinations)
        source_part = part[topology.endpoints[source]]
        target_part = part[topology.terminal_switch[target]]
        interrupted = unrouted[source_part == target_part]
        if interrupted.size:
            raise UnsupportedError(
                "failures interrupt both ways around a ring, or a line, on the route from "
                + table.describe_pair(int(interrupted[0]))
            )
        return table.with_vcs(_lanes(table, damaged.grid), "plain")


def _goes_positive(source: Int32Array, target: Int32Array, size: int, wrap: bool) -> BoolArray:
    """Return whether routes between coordinates take the positive direction if nothing is missing.

    Half-way round an even ring, the direction is the one that does not cross the dateline.
    """
    if not wrap:
        return np.asarray(target > source)
    twice = 2 * ((target - source) % size)
    return np.asarray((twice < size) | (twice == size) & (target > source))


def _next_hops(topology: Topology, damaged: DamagedGrid) -> Int32Array:
    """Return the next channel of each switch to each terminal; int32, shape (S, T).

    −1 at the switch of the terminal, and where no route exists.
    """
    assert topology.coordinates is not None
    grid = damaged.grid
    position = topology.coordinates
    target_position = position[topology.terminal_switch]
    grid_point = damaged.grid_point[:, np.newaxis]
    out_channel = damaged.out_channel
    next_hops = np.full((topology.num_switches, topology.num_terminals), -1, np.int32)
    num_dimensions, stride = len(grid.dims), 1
    # From the last dimension to the first: each overwrites the hops of later ones, because a route
    # goes by the first dimension whose coordinates differ.
    for d in reversed(range(num_dimensions)):
        size, wrap = grid.dims[d], grid.wrap[d]
        source, target = position[:, d, np.newaxis], target_position[np.newaxis, :, d]
        # 1. The corner is where a route ends that moves in this dimension only. Is its switch
        #    missing?
        is_missing = damaged.switch_at[grid_point + (target - source) * stride] < 0
        stride *= size
        # 2. Hops to the corner in the positive and in the negative direction, and whether failures
        #    leave these open. A missing corner is approached up to the switch before it.
        up_hops, down_hops = target - source, source - target
        if wrap:
            up_hops, down_hops = up_hops % size, down_hops % size
        up_reach, down_reach = damaged.reach[:, [d]], damaged.reach[:, [num_dimensions + d]]
        up_open = (up_hops > 0) & (up_hops - is_missing <= up_reach)
        down_open = (down_hops > 0) & (down_hops - is_missing <= down_reach)
        # 3. The usual direction if it is open, else the other one: up is usual and open, or down is
        #    usual and not open. If none is open, there is no hop.
        goes_up = np.where(_goes_positive(source, target, size, wrap), up_open, ~down_open)
        step = np.where(goes_up, out_channel[:, [d]], out_channel[:, [num_dimensions + d]])
        step = np.where(up_open | down_open, step, -1)
        # 4. One hop before a missing corner, the route turns into the next dimension: there, and
        #    where this dimension is done, the hops of later dimensions remain.
        turns = is_missing & (np.where(goes_up, up_hops, down_hops) == 1)
        next_hops = np.where((source == target) | turns, next_hops, step)
    return next_hops


def _lanes(table: RouteTable, grid: Grid) -> np.ndarray:
    """Return the virtual lane of each hop; int16, shape (H,).

    Bit 0: the route crosses the dateline of the hop's dimension. Bit 1: the hop follows an illegal
    turn, back to an earlier dimension.
    """
    topology = table.topology
    assert topology.coordinates is not None
    source, target = np.divmod(table.path_pair, table.num_destinations)
    start = topology.coordinates[topology.endpoints[source]]
    end = topology.coordinates[topology.terminal_switch[target]]
    # By (path, dimension). The dateline is between the last and the first coordinate, so a route
    # that crosses it in the positive direction ends at a smaller coordinate. Failures do not count:
    # the service level is that of the route without them.
    crosses = np.zeros(start.shape, np.bool_)
    for d, (size, wrap) in enumerate(zip(grid.dims, grid.wrap, strict=True)):
        goes_up = _goes_positive(start[:, d], end[:, d], size, wrap)
        crosses[:, d] = wrap & np.where(goes_up, end[:, d] < start[:, d], end[:, d] > start[:, d])
    dimension = topology.channel_direction[table.hop_channel] % len(grid.dims)
    path = np.repeat(np.arange(table.num_paths), table.path_length)
    follows_illegal_turn = np.zeros(len(path), np.bool_)
    is_same_path = path[1:] == path[:-1]
    follows_illegal_turn[1:] = is_same_path & (dimension[1:] < dimension[:-1])
    return (crosses[path, dimension] + 2 * follows_illegal_turn).astype(np.int16)
