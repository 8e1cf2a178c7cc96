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
        Groups of lanes that wait for each other; 0 proves that there is no credit loop.
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
    """Packets of one service level: switch, destination, input port, and number of routes."""

    switch: Int32Array
    destination: Int32Array
    port: Int32Array
    routes: Int32Array

    def select(self, chosen: np.ndarray) -> _Packets:
        return _Packets(
            self.switch[chosen], self.destination[chosen], self.port[chosen], self.routes[chosen]
        )


def find_credit_loops(
    tables: FabricTables,
    service: Service,
    fates: Int8Array,
    *,
    same: bool = False,
    hosts_only: bool = False,
) -> CreditLoops:
    """Search for credit loops.

    Parameters
    ----------
    tables : FabricTables
    service : Service
        Routes without a service level are left out.
    fates : int8 array, shape (S, T + S)
        From `routelab.cluster.infiniband.walk.fates_of`. Routes that loop are left out.
    same : bool
        Whether replies between hosts use the service level of the request, as well as their own.
    hosts_only : bool
        Whether to leave out routes from and to switches.

    Raises
    ------
    InputError
        If a route uses a pair of ports without an SL2VL table.
    """
    parts, dropped = [np.empty(0, dtype=np.int64)], 0
    for level, packets, gone in _packets(tables, service, fates, same=same, hosts_only=hosts_only):
        dependencies, lost = _dependencies(tables, service, level, packets)
        parts.append(dependencies)
        dropped += gone + lost
    edges = np.unique(np.concatenate(parts))
    size = tables.topology.num_channels * LANES
    tail, head = np.divmod(edges, size)
    start = frozen_array(np.searchsorted(tail, np.arange(size + 1)), np.int64)
    target = frozen_array(head, np.int32)
    component = strong_components(start, target)
    inside = component[tail] == component[head]
    if not inside.any():
        return CreditLoops(0, (), dropped)
    cycle = short_cycle(start, target, component, inside, CYCLE_BUDGET)
    example = tuple((int(resource) // LANES, int(resource) % LANES) for resource in cycle)
    count = len(np.unique(component[tail[inside]]))
    return CreditLoops(count, example, dropped)


def _packets(
    tables: FabricTables, service: Service, fates: Int8Array, *, same: bool, hosts_only: bool
) -> Iterator[tuple[int, _Packets, int]]:
    """Iterate over the levels, with all routes of each that lead to another switch and end.

    The last number counts the routes that are dropped before: by the adapter of their source, or
    between two ports of one switch. Routes of sources at one switch are the same if the lanes of
    their ports are.
    """
    # 1. Group the sources whose routes are the same. The number of a port has 8 bits.
    hosts = tables.topology.num_terminals
    count = hosts if hosts_only else len(tables.ends)
    ends = tables.ends[:count]
    keys, group = np.unique(
        ends.astype(np.int64) * 256 + _input_ports(tables, service, count), return_inverse=True
    )
    switch, port = np.divmod(keys, 256)
    order = np.argsort(group, kind="stable")
    group_start = np.searchsorted(group[order], np.arange(len(keys)))
    ending = (switch[:, np.newaxis] != ends) & (fates[switch, :count] != LOOPS)

    # 2. For each level that any packet has, the pairs of source and destination that send on it.
    levels = np.zeros((1, 1), np.int8) if service.levels is None else service.levels
    used_levels = np.unique(levels[:count, :count])
    for level in used_levels[used_levels >= 0].tolist():
        sends = np.broadcast_to(levels[:count, :count] == level, (count, count)).copy()
        if same:
            sends[:hosts, :hosts] |= sends[:hosts, :hosts].T.copy()
        np.fill_diagonal(sends, False)

        # 3. Leave out what adapters drop: it reaches no switch, which would count it again.
        dropped = 0
        if service.host_lanes is not None:
            dropping = np.flatnonzero(service.host_lanes[:, level] == MANAGEMENT_LANE)
            dropped = int(np.count_nonzero(sends[dropping]))
            sends[dropping] = False
        dropped += _dropped_at_home(tables, service, sends, level)

        # 4. Add up the routes of each group. Routes within a switch need no channel.
        routes = np.add.reduceat(sends[order], group_start, axis=0, dtype=np.int32)
        row, destination = np.nonzero(ending & (routes > 0))
        yield (
            level,
            _Packets(
                switch[row].astype(np.int32),
                destination.astype(np.int32),
                port[row].astype(np.int32),
                routes[row, destination],
            ),
            dropped,
        )


def _dropped_at_home(tables: FabricTables, service: Service, sends: BoolArray, level: int) -> int:
    """Count the routes to hosts that the switch of both ends drops."""
    if service.lanes is None and level != MANAGEMENT_LANE:
        return 0
    hosts, count = tables.topology.num_terminals, len(sends)
    ends, ports = tables.ends, destination_ports(tables.topology, tables.addresses)
    home = (ends[:count, np.newaxis] == ends[:hosts]) & tables.entries.is_delivered[:hosts]
    source, target = np.nonzero(home & sends[:, :hosts])
    lane = _lane(tables, service, ends[source], ports[source], ports[target], level)
    return int(np.count_nonzero(lane == MANAGEMENT_LANE))


def _input_ports(tables: FabricTables, service: Service, count: int) -> Int32Array:
    """Return the first port at its switch with the same lanes, for each source; (count,)."""
    if service.lanes is None:
        return frozen_array(np.zeros(count), np.int32)
    topology, addresses = tables.topology, tables.addresses
    leads_on = np.zeros((topology.num_switches, service.lanes.shape[2]), dtype=np.bool_)
    leads_on[topology.channel_source, addresses.channel_port] = True
    first_port: dict[tuple[int, bytes], int] = {}
    ports = destination_ports(topology, addresses)[:count].tolist()
    for source, switch in enumerate(tables.ends[:count].tolist()):
        lanes = service.lanes[switch, ports[source], leads_on[switch]]
        ports[source] = first_port.setdefault((switch, lanes.tobytes()), ports[source])
    return frozen_array(ports, np.int32)


def _dependencies(
    tables: FabricTables, service: Service, level: int, packets: _Packets
) -> tuple[Int64Array, int]:
    """Walk all routes of a level together, hop by hop.

    Returns
    -------
    edges : int64 array
        Each dependency once, ascending: first resource times R, plus second resource.
    dropped : int
    """
    topology, steps = tables.topology, tables.entries.steps
    size = topology.num_channels * LANES
    held = np.full(len(packets.switch), -1, dtype=np.int64)
    edges, dropped = [np.empty(0, dtype=np.int64)], 0
    while len(held):
        channel = steps[packets.switch, packets.destination]
        # a switch that does not deliver packets to its own hosts may send them on
        going = channel >= 0
        dropped += _dropped_at_the_end(tables, service, level, packets.select(~going))
        packets, held, channel = packets.select(going), held[going], channel[going]
        out = tables.addresses.channel_port[channel]
        lane = _lane(tables, service, packets.switch, packets.port, out, level)
        has_lane = lane != MANAGEMENT_LANE
        dropped += int(packets.routes[~has_lane].sum())
        packets, held, channel = packets.select(has_lane), held[has_lane], channel[has_lane]
        requested = channel.astype(np.int64) * LANES + lane[has_lane]
        waits = held >= 0
        edges.append(np.unique(held[waits] * size + requested[waits]))
        held = requested
        packets = _Packets(
            topology.channel_target[channel],
            packets.destination,
            topology.target_port[channel],
            packets.routes,
        )
    return np.unique(np.concatenate(edges)), dropped


def _dropped_at_the_end(
    tables: FabricTables, service: Service, level: int, packets: _Packets
) -> int:
    """Count the routes that the last switch drops on their way to a host."""
    destination = packets.destination
    packets = packets.select(
        (destination < tables.topology.num_terminals)
        & tables.entries.is_delivered[destination]
        & (tables.ends[destination] == packets.switch)
    )
    out = destination_ports(tables.topology, tables.addresses)[packets.destination]
    lane = _lane(tables, service, packets.switch, packets.port, out, level)
    return int(packets.routes[lane == MANAGEMENT_LANE].sum())


def _lane(
    tables: FabricTables,
    service: Service,
    switch: np.ndarray,
    port: np.ndarray,
    out: np.ndarray,
    level: int,
) -> Int64Array:
    """Return the lane of each packet behind its switch, by input and output port."""
    if service.lanes is None:
        return frozen_array(np.full(len(out), level), np.int64)
    lane = service.lanes[switch, port, out, level]
    unknown = np.flatnonzero(lane < 0)
    if unknown.size:
        place = int(unknown[0])
        raise InputError(
            f"the SL2VL tables have none for input port {int(port[place])} and output port "
            f"{int(out[place])} of switch {tables.topology.switch_names[int(switch[place])]}"
        )
    return frozen_array(lane, np.int64)
