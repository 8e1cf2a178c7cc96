"""Credit loops: cycles of virtual lanes in which unicast packets wait for each other.

Every terminal and every switch (port 0) is a source and a destination. A lane of a channel is a
resource; channels from and to terminals are in no cycle.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from routelab.api import InputError
from routelab.api.topology import (
    BoolArray,
    Int8Array,
    Int32Array,
    Int64Array,
    frozen_array,
)
from routelab.cluster.infiniband.inputs import FabricTables, Service
from routelab.cluster.infiniband.walk import LOOPS
from routelab.kernels.dependency import short_cycle, strong_components
from routelab.toolkit.infiniband import destination_ports
from routelab.toolkit.infiniband.completion import CYCLE_BUDGET

LANES = 16
MANAGEMENT_LANE = 15
"""Lane of subnet management; data packets on it are dropped."""


@dataclass(frozen=True)
class CreditLoops:
    """The verdict about credit loops.

    Attributes
    ----------
    count : int
        Groups of lanes that wait for each other (strongly connected components of the channel
        dependency graph); 0 proves that there is no credit loop.
    example : tuple of (int, int)
        Channel and lane of a short cycle, each waiting for the next.
    dropped : int
        Routes that are dropped, because their SL is mapped to VL 15 on the way: by the source's
        adapter, or by a switch towards the next one or towards the host.
    """

    count: int
    example: tuple[tuple[int, int], ...]
    dropped: int


@dataclass(frozen=True, eq=False)
class _Packets:
    """Packets of one service level on their way, one for each group of routes that are equal.

    For example, two hosts at one switch with the same lanes have equal routes to a third host: one
    packet stands for both.

    Attributes
    ----------
    switch, destination : int32 array, shape (n,)
        Switch where each packet is, and the terminal or switch that it is for.
    input_port : int32 array, shape (n,)
        Port of `switch` by which the packet came.
    num_routes : int32 array, shape (n,)
        Number of routes that the packet stands for.
    """

    switch: Int32Array
    destination: Int32Array
    input_port: Int32Array
    num_routes: Int32Array

    def select(self, mask: np.ndarray) -> _Packets:
        """Return the packets at which a mask is true."""
        return _Packets(
            switch=self.switch[mask],
            destination=self.destination[mask],
            input_port=self.input_port[mask],
            num_routes=self.num_routes[mask],
        )


def find_credit_loops(
    tables: FabricTables,
    service: Service,
    fates: Int8Array,
    *,
    same_level_replies: bool = False,
    hosts_only: bool = False,
) -> CreditLoops:
    """Search the channel dependency graph of all virtual lanes for cycles.

    Parameters
    ----------
    tables : FabricTables
    service : Service
        Routes without a service level are left out.
    fates : int8 array, shape (S, T + S)
        From `routelab.cluster.infiniband.walk.fates_of`. Routes that loop are left out.
    same_level_replies : bool
        Whether replies between hosts use the service level of the request, as well as their own:
        if requests from A to B are on SL 1 and those from B to A on SL 2, both ways use both.
    hosts_only : bool
        Whether to leave out routes from and to switches.

    Raises
    ------
    InputError
        If a route uses a pair of ports without an SL2VL table.
    """
    # 1. The dependencies of all routes. Of the R resources, the virtual lanes of all channels, each
    #    has the number channel * LANES + lane, and an edge has the number tail * R + head.
    all_edges = [np.empty(0, dtype=np.int64)]  # for fabrics without any packet
    dropped = 0
    for level, packets, num_dropped_before in _packets_by_level(
        tables, service, fates, same_level_replies=same_level_replies, hosts_only=hosts_only
    ):
        level_edges, num_dropped_on_way = _walk_routes(tables, service, level, packets)
        all_edges.append(level_edges)
        dropped += num_dropped_before + num_dropped_on_way
    edges = np.unique(np.concatenate(all_edges))
    num_resources = tables.topology.num_channels * LANES
    tail, head = np.divmod(edges, num_resources)

    # 2. An edge is on a cycle if and only if its ends are in one strongly connected component.
    #    Edges are sorted by tail, so `row_start` and `target` are the graph in CSR form.
    row_start = frozen_array(np.searchsorted(tail, np.arange(num_resources + 1)), np.int64)
    target = frozen_array(head, np.int32)
    component = strong_components(row_start, target)
    is_on_cycle = component[tail] == component[head]
    if not is_on_cycle.any():
        return CreditLoops(count=0, example=(), dropped=dropped)
    cycle = short_cycle(row_start, target, component, is_on_cycle, CYCLE_BUDGET)
    example = tuple((int(resource) // LANES, int(resource) % LANES) for resource in cycle)
    count = len(np.unique(component[tail[is_on_cycle]]))
    return CreditLoops(count, example, dropped)


def _packets_by_level(
    tables: FabricTables,
    service: Service,
    fates: Int8Array,
    *,
    same_level_replies: bool,
    hosts_only: bool,
) -> Iterator[tuple[int, _Packets, int]]:
    """Yield each service level with its packets, and the number of routes dropped before a cable.

    The packets are at the switches of their sources, and are for another switch; those that would
    loop are left out. The number counts the routes that never come to a cable between switches:
    they are dropped by the adapter of their source, or between two ports of one switch.
    """
    # 1. Group the sources whose routes are the same: those at one switch, at ports with the same
    #    lanes. A group's key is switch * 256 + port, as the number of a port has 8 bits.
    num_hosts = tables.topology.num_terminals
    num_ends = num_hosts if hosts_only else len(tables.ends)
    ends = tables.ends[:num_ends]
    keys, group = np.unique(
        ends.astype(np.int64) * 256 + _representative_ports(tables, service, num_ends),
        return_inverse=True,
    )
    switch, port = np.divmod(keys, 256)
    # Sources sorted by group: of groups 0, 1, 0 the order is 0, 2, 1, and they start at 0 and 2.
    order = np.argsort(group, kind="stable")
    group_start = np.searchsorted(group[order], np.arange(len(keys)))
    # by group and destination: routes that leave their switch, and do not loop
    is_walked = (switch[:, np.newaxis] != ends) & (fates[switch, :num_ends] != LOOPS)

    # 2. For each level that any packet has, the pairs of source and destination that send on it.
    #    −1 are pairs without a level. Unknown levels count as SL 0, one element for all pairs.
    levels = np.zeros((1, 1), np.int8) if service.levels is None else service.levels
    used_levels = np.unique(levels[:num_ends, :num_ends])
    for level in used_levels[used_levels >= 0].tolist():
        has_level = levels[:num_ends, :num_ends] == level
        sends = np.broadcast_to(has_level, (num_ends, num_ends)).copy()
        if same_level_replies:
            # a host also sends on the level of the requests that it gets; a copy, because the
            # transposed matrix is read while the other one changes
            sends[:num_hosts, :num_hosts] |= sends[:num_hosts, :num_hosts].T.copy()
        np.fill_diagonal(sends, False)

        # 3. Leave out the packets that adapters drop. They reach no switch, which would otherwise
        #    count them again.
        num_dropped = 0
        if service.host_lanes is not None:
            dropping_hosts = np.flatnonzero(service.host_lanes[:, level] == MANAGEMENT_LANE)
            num_dropped = int(np.count_nonzero(sends[dropping_hosts]))
            sends[dropping_hosts] = False
        num_dropped += _count_dropped_within_switches(tables, service, sends, level)

        # 4. Add up the routes of each group. Routes within a switch need no channel.
        num_routes = np.add.reduceat(sends[order], group_start, axis=0, dtype=np.int32)
        walked_group, destination = np.nonzero(is_walked & (num_routes > 0))
        packets = _Packets(
            switch=switch[walked_group].astype(np.int32),
            destination=destination.astype(np.int32),
            input_port=port[walked_group].astype(np.int32),
            num_routes=num_routes[walked_group, destination],
        )
        yield level, packets, num_dropped


def _count_dropped_within_switches(
    tables: FabricTables, service: Service, sends: BoolArray, level: int
) -> int:
    """Count the routes to hosts at the switch of their source that this switch drops.

    The walk over cables does not see these routes.

    Parameters
    ----------
    sends : bool array, shape (n, n)
        Whether a source sends to a destination on this level, for the first n ends: terminals, then
        switches.
    """
    if service.lanes is None and level != MANAGEMENT_LANE:  # VL = SL, so nothing is on VL 15
        return 0
    num_hosts, num_ends = tables.topology.num_terminals, len(sends)
    ends, ports = tables.ends, destination_ports(tables.topology, tables.addresses)
    is_delivered = tables.entries.is_delivered[:num_hosts]
    within_switch = (ends[:num_ends, np.newaxis] == ends[:num_hosts]) & is_delivered
    source, target = np.nonzero(within_switch & sends[:, :num_hosts])
    lane = _look_up_lanes(
        tables,
        service,
        switch=ends[source],
        input_port=ports[source],
        output_port=ports[target],
        level=level,
    )
    return int(np.count_nonzero(lane == MANAGEMENT_LANE))


def _representative_ports(tables: FabricTables, service: Service, num_ends: int) -> Int32Array:
    """Return for each source the first port of its switch with the same lanes; (num_ends,).

    Sources of one switch with the same port here have the same routes. Hosts at ports 1, 2 and 3,
    where the SL2VL tables of input ports 1 and 3 are equal: 1, 2, 1.
    """
    # VL = SL, whatever the input port is: all sources of a switch are one group, at port 0.
    if service.lanes is None:
        return frozen_array(np.zeros(num_ends), np.int32)
    topology, addresses = tables.topology, tables.addresses
    # Only lanes towards other switches are compared, because only routes that leave the switch are
    # grouped.
    is_switch_port = np.zeros((topology.num_switches, service.lanes.shape[2]), dtype=np.bool_)
    is_switch_port[topology.channel_source, addresses.channel_port] = True
    first_port: dict[tuple[int, bytes], int] = {}
    ports = destination_ports(topology, addresses)[:num_ends].tolist()
    for source, switch in enumerate(tables.ends[:num_ends].tolist()):
        # by output port towards a switch, and by SL
        lanes = service.lanes[switch, ports[source], is_switch_port[switch]]
        ports[source] = first_port.setdefault((switch, lanes.tobytes()), ports[source])
    return frozen_array(ports, np.int32)


def _walk_routes(
    tables: FabricTables, service: Service, level: int, packets: _Packets
) -> tuple[Int64Array, int]:
    """Return the dependencies of all routes of a level: walk them together, hop by hop.

    Returns
    -------
    edges : int64 array
        Each dependency once, ascending: held resource times R, plus requested resource.
    dropped : int
        Routes that a switch on their way maps to VL 15.
    """
    topology, steps = tables.topology, tables.entries.steps
    num_resources = topology.num_channels * LANES
    # The resource, a lane of a channel, that each packet occupies. −1: the packet comes from an
    # adapter or port 0, whose lanes are in no cycle.
    held = np.full(len(packets.switch), -1, dtype=np.int64)
    edges, dropped = [np.empty(0, dtype=np.int64)], 0
    while len(held):  # ends, because `packets` has none that loop
        # 1. Packets without a next channel are delivered or lost here. At its host's switch, too, a
        #    packet may have one: a wrong entry sends it on.
        channel = steps[packets.switch, packets.destination]
        has_channel = channel >= 0
        dropped += _count_dropped_deliveries(tables, service, level, packets.select(~has_channel))
        packets, held, channel = (
            packets.select(has_channel),
            held[has_channel],
            channel[has_channel],
        )

        # 2. Packets that are mapped to VL 15 are dropped.
        lane = _look_up_lanes(
            tables,
            service,
            switch=packets.switch,
            input_port=packets.input_port,
            output_port=tables.addresses.channel_port[channel],
            level=level,
        )
        is_forwarded = lane != MANAGEMENT_LANE
        dropped += int(packets.num_routes[~is_forwarded].sum())
        packets, held, channel = (
            packets.select(is_forwarded),
            held[is_forwarded],
            channel[is_forwarded],
        )

        # 3. The others hold one resource and request the next one: an edge, unless they hold none.
        requested = channel.astype(np.int64) * LANES + lane[is_forwarded]
        holds = held >= 0
        edges.append(np.unique(held[holds] * num_resources + requested[holds]))
        held = requested
        packets = _Packets(
            switch=topology.channel_target[channel],
            destination=packets.destination,
            input_port=topology.target_port[channel],
            num_routes=packets.num_routes,
        )
    return np.unique(np.concatenate(edges)), dropped


def _count_dropped_deliveries(
    tables: FabricTables, service: Service, level: int, packets: _Packets
) -> int:
    """Count the routes that the last switch drops, because it maps them to VL 15 to the host."""
    destination = packets.destination
    at_host = packets.select(
        (destination < tables.topology.num_terminals)
        & tables.entries.is_delivered[destination]
        & (tables.ends[destination] == packets.switch)
    )
    lane = _look_up_lanes(
        tables,
        service,
        switch=at_host.switch,
        input_port=at_host.input_port,
        output_port=destination_ports(tables.topology, tables.addresses)[at_host.destination],
        level=level,
    )
    return int(at_host.num_routes[lane == MANAGEMENT_LANE].sum())


def _look_up_lanes(
    tables: FabricTables,
    service: Service,
    *,
    switch: np.ndarray,
    input_port: np.ndarray,
    output_port: np.ndarray,
    level: int,
) -> Int64Array:
    """Return the virtual lane on which each packet leaves its switch; (n,) like the ports.

    Raises
    ------
    InputError
        If the SL2VL tables lack a pair of ports.
    """
    if service.lanes is None:  # VL = SL
        return frozen_array(np.full(len(output_port), level), np.int64)
    lane = service.lanes[switch, input_port, output_port, level]
    unknown = np.flatnonzero(lane < 0)
    if unknown.size:
        first = int(unknown[0])
        raise InputError(
            f"the SL2VL tables have none for input port {int(input_port[first])} and output port "
            f"{int(output_port[first])} of switch "
            f"{tables.topology.switch_names[int(switch[first])]}"
        )
    return frozen_array(lane, np.int64)
