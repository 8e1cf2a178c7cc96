"""Credit loops: cycles of virtual lanes in which packets wait for each other.

Every terminal and every switch (port 0) is a source and a destination. A lane of a channel is a
resource; channels from and to terminals are in no cycle. Multicast packets have SL 0, and every
host at a switch of a group may send some, listed as a member or not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from routelab.api import InputError
from routelab.api.topology import Int8Array, Int32Array, Int64Array, frozen_array
from routelab.kernels.dependency import short_cycle, strong_components
from routelab.stages.infiniband.inputs import FabricTables, Service
from routelab.stages.infiniband.multicast import MulticastGroups
from routelab.stages.infiniband.walk import LOOPS
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
        Routes that are dropped, because their SL is mapped to VL 15 on the way.
    dropped_copies : int
        Multicast entries some of whose copies are dropped, because their SL is mapped to VL 15.
    """

    count: int
    example: tuple[tuple[int, int], ...]
    dropped: int
    dropped_copies: int = 0


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
    groups: MulticastGroups | None = None,
    *,
    same: bool = False,
    hosts_only: bool = False,
) -> CreditLoops:
    """Search for credit loops.

    Parameters
    ----------
    tables : FabricTables
    service : Service
    fates : int8 array, shape (S, T + S)
        From `routelab.stages.infiniband.walk.fates_of`. Routes that loop are left out.
    groups : MulticastGroups, optional
        Without loops.
    same : bool
        Whether replies between hosts use the service level of the request, as well as their own.
    hosts_only : bool
        Whether to leave out unicast routes from and to switches.

    Raises
    ------
    InputError
        If a route uses a pair of ports without an SL2VL table.
    """
    found, dropped = [np.empty(0, dtype=np.int64)], 0
    for level, packets in _packets(tables, service, fates, same=same, hosts_only=hosts_only):
        dependencies, lost = _dependencies(tables, service, level, packets)
        found.append(dependencies)
        dropped += lost
    edges = np.unique(np.concatenate(found))
    dropped_copies = 0
    if groups is not None:
        lanes = _lanes_of_entries(tables, service, groups)
        edges = np.union1d(edges, _multicast_dependencies(tables, service, groups, lanes))
        dropped_copies = int(np.count_nonzero(lanes >> MANAGEMENT_LANE))
    size = tables.topology.num_channels * LANES
    tail, head = np.divmod(edges, size)
    start = frozen_array(np.searchsorted(tail, np.arange(size + 1)), np.int64)
    target = frozen_array(head, np.int32)
    component = strong_components(start, target)
    inside = component[tail] == component[head]
    if not inside.any():
        return CreditLoops(0, (), dropped, dropped_copies)
    cycle = short_cycle(start, target, component, inside, CYCLE_BUDGET)
    example = tuple((int(one) // LANES, int(one) % LANES) for one in cycle)
    count = len(np.unique(component[tail[inside]]))
    return CreditLoops(count, example, dropped, dropped_copies)


def _packets(
    tables: FabricTables, service: Service, fates: Int8Array, *, same: bool, hosts_only: bool
) -> Iterator[tuple[int, _Packets]]:
    """Iterate over the levels, with all routes of each that lead to another switch and end.

    Routes of sources at one switch are the same if the lanes of their ports are.
    """
    hosts = tables.topology.num_terminals
    count = hosts if hosts_only else len(tables.ends)
    ends = tables.ends[:count]
    keys, group = np.unique(
        ends.astype(np.int64) * 256 + _input_ports(tables, service, count), return_inverse=True
    )
    switch, port = np.divmod(keys, 256)
    order = np.argsort(group, kind="stable")
    first = np.searchsorted(group[order], np.arange(len(keys)))
    ending = (switch[:, np.newaxis] != ends) & (fates[switch, :count] != LOOPS)
    levels = np.zeros((1, 1), np.int8) if service.levels is None else service.levels
    for level in np.unique(levels[:count, :count]).tolist():
        sends = np.broadcast_to(levels[:count, :count] == level, (count, count))
        if same:
            sends = sends.copy()
            sends[:hosts, :hosts] |= sends[:hosts, :hosts].T.copy()
        routes = np.add.reduceat(sends[order], first, axis=0, dtype=np.int32)
        where, destination = np.nonzero(ending & (routes > 0))
        yield (
            level,
            _Packets(
                switch[where].astype(np.int32),
                destination.astype(np.int32),
                port[where].astype(np.int32),
                routes[where, destination],
            ),
        )


def _input_ports(tables: FabricTables, service: Service, count: int) -> Int32Array:
    """Return the first port at its switch with the same lanes, for each source; (count,)."""
    if service.lanes is None:
        return frozen_array(np.zeros(count), np.int32)
    topology, addresses = tables.topology, tables.addresses
    leads_on = np.zeros((topology.num_switches, service.lanes.shape[2]), dtype=np.bool_)
    leads_on[topology.channel_source, addresses.channel_port] = True
    first: dict[tuple[int, bytes], int] = {}
    ports = destination_ports(topology, addresses)[:count].tolist()
    for source, switch in enumerate(tables.ends[:count].tolist()):
        lanes = service.lanes[switch, ports[source], leads_on[switch]]
        ports[source] = first.setdefault((switch, lanes.tobytes()), ports[source])
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
    found, dropped = [np.empty(0, dtype=np.int64)], 0
    while len(held):
        channel = steps[packets.switch, packets.destination]
        # a switch that does not deliver packets to its own hosts may send them on
        going = channel >= 0
        packets, held, channel = packets.select(going), held[going], channel[going]
        lane = _lane(tables, service, packets.switch, packets.port, channel, level)
        kept = lane != MANAGEMENT_LANE
        dropped += int(packets.routes[~kept].sum())
        packets, held, channel = packets.select(kept), held[kept], channel[kept]
        wanted = channel.astype(np.int64) * LANES + lane[kept]
        waits = held >= 0
        found.append(np.unique(held[waits] * size + wanted[waits]))
        held = wanted
        packets = _Packets(
            topology.channel_target[channel],
            packets.destination,
            topology.target_port[channel],
            packets.routes,
        )
    return np.unique(np.concatenate(found)), dropped


def _multicast_dependencies(
    tables: FabricTables, service: Service, groups: MulticastGroups, lanes: Int64Array
) -> Int64Array:
    """Return each dependency of copies once, ascending, as `_dependencies` does.

    Parameters
    ----------
    lanes : int64 array, shape (N,)
        From `_lanes_of_entries`.
    """
    first, second, lane = _onward(tables, service, groups)
    held, wanted = groups.channel[first], groups.channel[second]
    size = tables.topology.num_channels * LANES
    found = [np.empty(0, dtype=np.int64)]
    for one in range(MANAGEMENT_LANE):
        waits = (lanes[first] >> one & 1 > 0) & (lane != MANAGEMENT_LANE)
        found.append(
            np.unique((held[waits] * LANES + one) * size + wanted[waits] * LANES + lane[waits])
        )
    return np.unique(np.concatenate(found))


def _onward(
    tables: FabricTables, service: Service, groups: MulticastGroups
) -> tuple[Int64Array, Int64Array, Int64Array]:
    """Return pairs of entries whose second one sends copies on to a switch, and its lane."""
    first, second = groups.copies
    onward = groups.channel[second] >= 0
    first, second = first[onward], second[onward]
    came = tables.topology.target_port[groups.channel[first]]
    out = groups.channel[second]
    lane = _lane(tables, service, groups.switch[second], came, out, service.multicast_level)
    return first, second, lane


def _lanes_of_entries(
    tables: FabricTables, service: Service, groups: MulticastGroups
) -> Int64Array:
    """Return the lanes of copies that each entry sends over a cable, as bits; int64, shape (N,)."""
    entry, port = groups.starts()
    sent = groups.channel[entry] >= 0
    entry, port = entry[sent], port[sent]
    channel = groups.channel[entry]
    lane = _lane(tables, service, groups.switch[entry], port, channel, service.multicast_level)
    lanes = np.zeros(len(groups.group), dtype=np.int64)
    np.bitwise_or.at(lanes, entry, 1 << lane)
    first, second, lane = _onward(tables, service, groups)
    while True:
        before = lanes.copy()
        # copies on the management lane are dropped and go no further
        goes_on = lanes[first] & ((1 << MANAGEMENT_LANE) - 1) > 0
        np.bitwise_or.at(lanes, second[goes_on], 1 << lane[goes_on])
        if (lanes == before).all():
            return lanes


def _lane(
    tables: FabricTables,
    service: Service,
    switch: np.ndarray,
    port: np.ndarray,
    channel: np.ndarray,
    level: int,
) -> Int64Array:
    """Return the lane of each packet on its next channel, by switch and input port."""
    if service.lanes is None:
        return frozen_array(np.full(len(channel), level), np.int64)
    out = tables.addresses.channel_port[channel]
    lane = service.lanes[switch, port, out, level]
    unknown = np.flatnonzero(lane < 0)
    if unknown.size:
        place = int(unknown[0])
        raise InputError(
            f"the SL2VL tables have none for input port {int(port[place])} and output port "
            f"{int(out[place])} of switch {tables.topology.switch_names[int(switch[place])]}"
        )
    return frozen_array(lane, np.int64)
