"""Routes between hosts as forwarding tables, service levels and SL2VL tables give them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from routelab.api.errors import InputError
from routelab.api.route_table import RouteTable
from routelab.api.topology import Int8Array, Int16Array, Int32Array, Int64Array, Topology
from routelab.kernels.routes import table_from_next_hops
from routelab.toolkit.infiniband.addresses import Addresses
from routelab.toolkit.infiniband.completion import connected_parts
from routelab.toolkit.infiniband.entries import channels_of_ports
from routelab.toolkit.infiniband.service_levels import NUM_LEVELS, LaneTables


def loaded_routes(
    topology: Topology,
    addresses: Addresses,
    ports: Int16Array,
    *,
    file: str,
    levels: Int8Array | None = None,
    lane_tables: LaneTables | None = None,
    counters: Mapping[str, float] | None = None,
) -> RouteTable:
    """Return the route table of a fabric that is in operation, with a separate tree per terminal.

    Terminals of one switch may send to a destination on several service levels. Such a pair has a
    path for each level; its weight is the share of the terminals that use it.

    Parameters
    ----------
    topology : Topology
    addresses : Addresses
    ports : int16 array, shape (S, L)
        Port by switch and LID; see `ForwardingTables`.
    file : str
        Name of the tables' file, for messages.
    levels : int8 array, shape (T, T), optional
        Service level of packets from one terminal to another; ignored on the diagonal and between
        terminals of one switch. Without it, all are on level 0.
    lane_tables : LaneTables, optional
        Virtual lane of each service level; without it, level n is on lane n.
    counters : mapping of str to number, optional

    Raises
    ------
    InputError
        If packets are forwarded in a loop, or a switch on their way has no entry although the ends
        are connected: names the first switch and LID. Also if a service level has no usable lane.
    """
    steps = channels_of_ports(topology, addresses, ports, file)[:, : topology.num_terminals]
    lengths, hops = table_from_next_hops(
        np.ascontiguousarray(steps),
        topology.endpoints,
        topology.terminal_switch,
        topology.channel_source,
        topology.channel_target,
    )
    _check_arrival(topology, addresses, steps, lengths, file)
    # 1. The paths. A pair is a switch and a terminal. It has a path for each service level on which
    #    terminals of the switch send to the terminal; without a route, it has none.
    length = np.asarray(lengths, dtype=np.int64).reshape(-1)
    num_senders = _count_senders(topology, levels).reshape(-1, NUM_LEVELS)
    num_senders[length < 0] = 0
    pair, level = np.nonzero(num_senders)
    num_paths_of_pair = np.count_nonzero(num_senders, axis=1)
    # 2. The hops of a path are those of its pair, which `hops` has once: hop `position` of a path
    #    is that many behind the first one of the pair. A length of -1 counts as no hops.
    path_length = length[pair]
    path_start = _offsets(path_length)
    pair_first_hop = _offsets(np.maximum(length, 0))
    path = np.repeat(np.arange(len(pair)), path_length)
    position = np.arange(len(path)) - path_start[path]
    hop_channel = np.asarray(hops)[pair_first_hop[pair[path]] + position]
    return RouteTable.create(
        topology,
        pair_start=_offsets(num_paths_of_pair),
        path_start=path_start,
        path_weight=num_senders[pair, level] / num_senders.sum(axis=1)[pair],
        hop_channel=hop_channel,
        hop_vc=_hop_lanes(
            topology,
            addresses,
            hop_channel=hop_channel,
            position=position,
            level=level[path],
            tables=lane_tables,
        ),
        per_terminal=True,
        counters=counters,
    )


def _offsets(counts: Int64Array) -> Int64Array:
    """Return where each group begins, and the end of the last; (0, 2, 5) for counts (2, 3)."""
    return np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))


def _count_senders(topology: Topology, levels: Int8Array | None) -> Int32Array:
    """Count the terminals of each switch that send to a terminal on each service level.

    int32, shape (P, T, 16): by endpoint, which is a switch with terminals, target and level. Only
    the shares of the levels matter, so without `levels` a single sender on level 0 is counted.
    """
    count = np.zeros((len(topology.endpoints), topology.num_terminals, NUM_LEVELS), np.int32)
    if levels is None:
        count[:, :, 0] = 1
        return count
    terminals = np.arange(topology.num_terminals)
    for sender, endpoint in enumerate(topology.terminal_endpoint.tolist()):
        is_elsewhere = topology.terminal_switch != topology.terminal_switch[sender]
        count[endpoint, terminals[is_elsewhere], levels[sender, is_elsewhere]] += 1
    # A path within a switch has no hops, so its level does not matter: it is one path on level 0.
    for endpoint, switch in enumerate(topology.endpoints.tolist()):
        count[endpoint, topology.terminal_switch == switch, 0] = 1
    return count


def _hop_lanes(
    topology: Topology,
    addresses: Addresses,
    *,
    hop_channel: Int32Array,
    position: Int64Array,
    level: Int64Array,
    tables: LaneTables | None,
) -> Int16Array:
    """Return the virtual lane of each hop; int16, shape (H,).

    `position` is the number of hops before a hop on its path, `level` the service level of the
    path. A switch chooses the lane by input port, output port and service level. At the first
    switch, the input port is that of its first terminal: one path stands for all of its terminals.
    """
    if tables is None:
        return level.astype(np.int16)
    # 1. One array of all tables: lane by switch, input port, output port and level; −1 for none.
    ports = np.concatenate((addresses.channel_port, addresses.terminal_port))
    size = max(1 + int(ports.max(initial=0)), *map(len, tables.lanes.values()))
    lanes = np.full((topology.num_switches, size, size, NUM_LEVELS), -1, dtype=np.int8)
    for row, guid in zip(lanes, addresses.switch_guids, strict=True):
        table = tables.lanes.get(guid)
        if table is not None:
            row[: len(table), : len(table)] = table
    # 2. The ports by which packets arrive: a channel ends at the port of its opposite channel. For
    #    the first hop, that of the first terminal: terminals write backwards, so it writes last.
    target_port = np.zeros(topology.num_channels, dtype=np.int64)
    forth, back = topology.links.T
    target_port[forth] = addresses.channel_port[back]
    target_port[back] = addresses.channel_port[forth]
    first_port = np.zeros(topology.num_switches, dtype=np.int64)
    first_port[topology.terminal_switch[::-1]] = addresses.terminal_port[::-1]
    # 3. The lanes. The hops of a path follow one another, so `roll` gives each hop the one before
    #    it; that of a first hop is of another path, and is not used.
    switch = topology.channel_source[hop_channel]
    previous_channel = np.roll(hop_channel, 1)
    input_port = np.where(position == 0, first_port[switch], target_port[previous_channel])
    output_port = addresses.channel_port[hop_channel]
    hop_lane = lanes[switch, input_port, output_port, level]
    # VL15, the last one, is for subnet management: other packets on it are dropped.
    has_no_lane = (hop_lane < 0) | (hop_lane == NUM_LEVELS - 1)
    if has_no_lane.any():
        hop = int(np.flatnonzero(has_no_lane)[0])
        raise InputError(
            f"SL2VL tables: switch {topology.switch_names[switch[hop]]} has no lane for SL "
            f"{int(level[hop])} from port {int(input_port[hop])} to port {int(output_port[hop])}"
        )
    return np.asarray(hop_lane, dtype=np.int16)


def _check_arrival(
    topology: Topology, addresses: Addresses, steps: Int32Array, lengths: Int64Array, file: str
) -> None:
    """Raise InputError if packets loop, or get lost between connected switches.

    `steps` has the next channel by switch and terminal, `lengths` the hops by endpoint and
    terminal.
    """
    # 1. The first pair that is not served: −2 stands for a loop, −1 for no route.
    part = connected_parts(topology)
    is_connected = part[topology.endpoints][:, np.newaxis] == part[topology.terminal_switch]
    faults = np.argwhere((lengths == -2) | ((lengths == -1) & is_connected))
    if not faults.size:
        return
    row, terminal = faults[0].tolist()
    start = int(topology.endpoints[row])
    lid = int(addresses.terminal_lids[terminal])
    destination = f"LID {lid} (terminal {topology.terminal_name(terminal)})"
    # 2. Follow its packets to the switch that they pass again, or that has no entry for them.
    visited = [start]
    while (channel := int(steps[visited[-1], terminal])) >= 0:
        switch = int(topology.channel_target[channel])
        if switch in visited:
            loop = [*visited[visited.index(switch) :], switch]
            names = " → ".join(topology.switch_names[s] for s in loop)
            raise InputError(f"{file}: packets for {destination} are forwarded in a loop: {names}")
        visited.append(switch)
    name = topology.switch_names[visited[-1]]
    raise InputError(f"{file}: switch {name} has no entry for {destination}")
