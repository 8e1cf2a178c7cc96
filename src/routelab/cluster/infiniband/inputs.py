"""Files of a fabric, put together: network, forwarding tables, service levels and lanes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

import numpy as np

from routelab.api import InputError, Topology
from routelab.api.errors import MissingInputError
from routelab.api.topology import Int8Array, Int32Array, frozen_array
from routelab.toolkit.infiniband import (
    KIND_LABELS,
    NOT_HOSTS,
    Addresses,
    Entries,
    Fabric,
    LaneTables,
    Policy,
    ServiceLevels,
    TextFile,
    addresses_of,
    connected_parts,
    destination_switches,
    entries_of,
    is_policy,
    parse_policy,
    parse_service_levels,
    read_fabric,
    read_forwarding_tables,
    topology_of,
)
from routelab.toolkit.infiniband.service_levels import NUM_LEVELS
from routelab.toolkit.infiniband.text_lines import guid_text


@dataclass(frozen=True, eq=False)
class FabricTables:
    """A fabric and its forwarding tables; destinations are the T terminals, then the S switches.

    Attributes
    ----------
    fabric : Fabric
    topology : Topology
    addresses : Addresses
    entries : Entries
    foreign_lids : tuple of int
        LIDs in the tables that no port of the fabric has.
    """

    fabric: Fabric
    topology: Topology
    addresses: Addresses
    entries: Entries
    foreign_lids: tuple[int, ...]

    @cached_property
    def ends(self) -> Int32Array:
        """Switch of each source or destination: of the terminals, then the switches; (T + S,)."""
        return destination_switches(self.topology)

    @cached_property
    def component(self) -> Int32Array:
        """Number of each switch's connected component: 0, 0, 1 if two of three are joined; (S,)."""
        return frozen_array(connected_parts(self.topology), np.int32)

    def destination_name(self, destination: int) -> str:
        """Describe a destination, e.g. ``LID 0x0083 (host h2)``."""
        lid = int(self.addresses.lids[destination])
        switch = destination - self.topology.num_terminals
        if switch < 0:
            name = f"host {self.topology.terminal_name(destination)}"
        else:
            name = f"switch {self.topology.switch_names[switch]}"
        return f"LID 0x{lid:04x} ({name})"

    def out_port(self, channel: int) -> str:
        """Describe the port at the source of a channel, e.g. ``s3:7``."""
        switch = self.topology.switch_names[self.topology.channel_source[channel]]
        return f"{switch}:{int(self.addresses.channel_port[channel])}"

    def cable_name(self, link: int) -> str:
        """Describe a cable by both of its ports, e.g. ``s3:7 - s5:1``."""
        channel, opposite_channel = self.topology.links[link].tolist()
        return f"{self.out_port(channel)} - {self.out_port(opposite_channel)}"


def read_fabric_tables(fabric_file: Path, lft_file: Path) -> FabricTables:
    """Read a fabric and its forwarding tables.

    Raises
    ------
    InputError
        If a file is wrong, or the two do not belong together; names the file. `MissingInputError`
        if ports have several LIDs.
    """
    fabric = read_fabric(fabric_file)
    tables = read_forwarding_tables(lft_file)
    topology = topology_of(fabric)
    if not topology.num_terminals:
        raise InputError(f"{fabric_file}: has no host at a switch")
    # A network file of the simulator ibsim may lack LIDs, which are those of the tables then.
    topology = _with_lids(topology, tables.guid_of_lid, fabric_file, lft_file)
    addresses = addresses_of(topology)
    # Output ports by switch (row) and LID (column), −1 without an entry. The columns of `entries`
    # are only the LIDs of the fabric, in the order of its terminals and switches.
    ports = tables.of_switches(addresses.switch_guids, str(lft_file))
    lids_with_entry = np.flatnonzero((ports >= 0).any(axis=0))
    foreign_lids = lids_with_entry[~np.isin(lids_with_entry, addresses.lids)].tolist()
    entries = entries_of(topology, addresses, ports)
    return FabricTables(fabric, topology, addresses, entries, tuple(foreign_lids))


def keep_only_hosts(tables: FabricTables, *, routers: bool = False) -> FabricTables:
    """Return a fabric and its tables without the end ports that are no hosts, to measure loads.

    Parameters
    ----------
    tables : FabricTables
    routers : bool
        Whether end ports of routers are hosts. Those of `NOT_HOSTS`, aggregation nodes, never are.
    """
    full_topology, addresses, entries = tables.topology, tables.addresses, tables.entries
    topology = topology_of(tables.fabric, NOT_HOSTS, routers=routers)

    # The terminals that stay get new numbers, so they are found by their switch and port.
    host_ports = set(
        zip(topology.terminal_switch.tolist(), topology.terminal_port.tolist(), strict=True)
    )
    ports = zip(
        full_topology.terminal_switch.tolist(), full_topology.terminal_port.tolist(), strict=True
    )
    hosts = [terminal for terminal, port in enumerate(ports) if port in host_ports]

    # Columns of entries are destinations: keep the terminals that stay, then all switches.
    columns = [*hosts, *range(full_topology.num_terminals, len(entries.is_delivered))]
    return replace(
        tables,
        topology=topology,
        addresses=replace(
            addresses,
            terminal_guids=tuple(addresses.terminal_guids[terminal] for terminal in hosts),
            terminal_lids=addresses.terminal_lids[hosts],
            terminal_port=addresses.terminal_port[hosts],
        ),
        entries=Entries(
            entries.ports[:, columns], entries.steps[:, columns], entries.is_delivered[columns]
        ),
    )


def _with_lids(
    topology: Topology, guid_of_lid: Mapping[int, str], fabric_file: Path, lft_file: Path
) -> Topology:
    """Return the network with the LID of every port.

    A file of the simulator has no LIDs; then those of the tables are used.

    Raises
    ------
    InputError
        If the two files give a port different LIDs, a port has no LID or two ports have the same.
        `MissingInputError` if a port has several LIDs.
    """
    # 1. Both files must give a port the same LID. A port with an LMC above 0 has several, of which
    #    the fabric's file has the first and the tables have all: each has routes of its own.
    lids = dict(topology.attributes["lids"])
    fabric_lids = set(lids.values())
    for lid, guid in guid_of_lid.items():
        # a port whose LID the fabric's file lacks gets that of the tables
        base_lid = lids.setdefault(guid, lid)
        if base_lid == lid:
            continue
        # A further LID: the fabric's file does not have it, and the tables have both for this port.
        if lid not in fabric_lids and guid_of_lid.get(base_lid) == guid:
            raise MissingInputError(
                f"{lft_file}: not enough input: port {guid} has several LIDs (0x{base_lid:04x} and "
                f"0x{lid:04x}; LMC above 0), whose routes are not examined; set lmc 0 in "
                "opensm.conf"
            )
        raise InputError(
            f"{lft_file}: LID 0x{lid:04x} is that of port {guid}, which has LID "
            f"0x{base_lid:04x} in {fabric_file}; write both files at the same time"
        )

    # 2. Every destination needs a LID, and no two the same: a table has one entry for each LID.
    for guid, name in zip(
        (*topology.switch_guids, *topology.terminal_guids),
        (*topology.switch_names, *map(topology.terminal_name, range(topology.num_terminals))),
        strict=True,
    ):
        if guid not in lids:
            raise InputError(
                f"{fabric_file}: the LID of {name!r} is unknown; give tables that name the GUID of "
                "each port, such as opensm-lfts.dump"
            )
    all_lids = [lids[guid] for guid in (*topology.switch_guids, *topology.terminal_guids)]
    lid, count = Counter(all_lids).most_common(1)[0]
    if count > 1:
        raise InputError(f"{fabric_file}: two ports have LID 0x{lid:04x}")
    attributes = MappingProxyType({**topology.attributes, "lids": lids})
    return replace(topology, attributes=attributes)


@dataclass(frozen=True, eq=False)
class Service:
    """Service level of each packet and its virtual lane on each channel.

    Attributes
    ----------
    levels : int8 array, shape (T + S, T + S), or None
        SL from each terminal and switch to each, −1 if the file lacks it. None: SL 0 for all.
    lanes : int8 array, shape (S, P + 1, P + 1, 16), or None
        Virtual lane by switch, input port, output port and SL; −1 if unknown. None: VL = SL.
    host_lanes : int8 array, shape (T, 16), or None
        Virtual lane on which a terminal sends, by SL; −1 if unknown. None: VL = SL.
    """

    levels: Int8Array | None = None
    lanes: Int8Array | None = None
    host_lanes: Int8Array | None = None


def read_levels(file: Path) -> ServiceLevels | Policy:
    """Read service levels: as ``ibdmchk`` reads them, or a QoS policy of OpenSM.

    Raises
    ------
    InputError
        If the file is wrong; names the line.
    """
    text = TextFile.read(file)
    if is_policy(text):
        return parse_policy(text)
    return parse_service_levels(text)


def service_of(
    tables: FabricTables,
    levels: ServiceLevels | Policy | int | None,
    lanes: LaneTables | None,
    level_file: str = "service levels",
    lane_file: str = "SL2VL tables",
) -> Service:
    """Put service levels and lanes in the order of the fabric's ports and switches.

    `levels` may be a number, the service level of all packets. `level_file` and `lane_file` are
    names for messages.

    Raises
    ------
    InputError
        If the service levels name a source that the fabric lacks, or a switch has no SL2VL table.
    """
    service_levels: Int8Array | None = None
    if isinstance(levels, int):
        count = len(tables.addresses.lids)
        service_levels = frozen_array(np.full((count, count), levels), np.int8)
    elif isinstance(levels, Policy):
        guids = tables.addresses.guids
        service_levels = levels.levels(guids, guids, _labels_by_guid(tables.fabric))
    elif levels is not None:
        service_levels = _levels_of_pairs(tables, levels, level_file)
    if lanes is None:
        return Service(service_levels)

    host_lanes = np.full((tables.topology.num_terminals, NUM_LEVELS), -1, dtype=np.int8)
    for terminal, guid in enumerate(tables.addresses.terminal_guids):
        if guid in lanes.lanes:
            # An adapter's table has the same lanes for every pair of its ports, or −1 where a pair
            # has none, so the maximum over all pairs is these lanes.
            host_lanes[terminal] = lanes.lanes[guid].max(axis=(0, 1))
    return Service(
        service_levels,
        lanes=_lanes_of_switches(tables, lanes, lane_file),
        host_lanes=frozen_array(host_lanes, np.int8),
    )


def _labels_by_guid(fabric: Fabric) -> dict[str, frozenset[str]]:
    """Return the labels by which QoS policies may name a port, by the port's GUID.

    A host h1 with one port has the label of its kind and ``h1/P1``. A switch s1 with 36 ports has
    one GUID, and the labels ``s1/P1`` to ``s1/P36``: a policy means the switch by any of them.
    """
    labels_by_guid: dict[str, frozenset[str]] = {}
    for index in fabric.switches:
        node = fabric.nodes[index]
        port_labels = [f"{node.name}/P{port}" for port in range(1, node.num_ports + 1)]
        labels_by_guid[guid_text(node.guid)] = frozenset([KIND_LABELS["switch"], *port_labels])
    for index, port in fabric.end_ports:
        node = fabric.nodes[index]
        labels = frozenset([KIND_LABELS[node.kind], f"{node.name}/P{port}"])
        labels_by_guid[guid_text(node.ports[port].guid)] = labels
    return labels_by_guid


def _levels_of_pairs(tables: FabricTables, service_levels: ServiceLevels, file: str) -> Int8Array:
    """Return the service level from each terminal and switch to each; −1 if the file has none."""
    topology, addresses = tables.topology, tables.addresses

    # 1. The rows of the result that a source in the file stands for. Lines of ibdmchk name a node,
    #    for all of its ports; OpenSM's dump names a port. A file has lines of one kind only.
    rows_of_port = {guid: [row] for row, guid in enumerate(addresses.guids)}
    rows_of_node = {
        guid: [topology.num_terminals + switch]
        for switch, guid in enumerate(addresses.switch_guids)
    }
    terminal_of_port = {guid: terminal for terminal, guid in enumerate(addresses.terminal_guids)}
    for index, number in tables.fabric.end_ports:
        node = tables.fabric.nodes[index]
        terminal = terminal_of_port.get(guid_text(node.ports[number].guid))
        if node.guid and terminal is not None:
            rows_of_node.setdefault(guid_text(node.guid), []).append(terminal)
    names_nodes = all(guid in rows_of_node for guid in service_levels.source_guids)
    rows_of_source = rows_of_node if names_nodes else rows_of_port
    unknown_guids = [guid for guid in service_levels.source_guids if guid not in rows_of_source]
    if unknown_guids:
        raise InputError(f"{file}: the fabric has no port or node with GUID {unknown_guids[0]}")

    # 2. Copy the levels. The file's columns are LIDs, and end at the largest one that it names.
    lids = addresses.lids
    level_of_pair = np.full((len(lids), len(lids)), -1, dtype=np.int8)
    columns = np.flatnonzero(lids < service_levels.levels.shape[1])
    for guid, level_of_lid in zip(service_levels.source_guids, service_levels.levels, strict=True):
        # `ix_` selects all of these rows in all of these columns
        level_of_pair[np.ix_(np.array(rows_of_source[guid]), columns)] = level_of_lid[lids[columns]]
    return frozen_array(level_of_pair, np.int8)


def _lanes_of_switches(tables: FabricTables, lane_tables: LaneTables, file: str) -> Int8Array:
    """Return the SL2VL tables of all switches as one array, `Service.lanes`."""
    guids = tables.addresses.switch_guids
    missing_guids = [guid for guid in guids if guid not in lane_tables.lanes]
    if missing_guids:
        raise InputError(
            f"{file}: has no SL2VL table of switch {missing_guids[0]}; it may be truncated"
        )
    # One more than the largest port number, because port 0 is the switch itself. A switch may have
    # ports without a cable, which only its table has; and a table may lack the last ports.
    size = max(
        int(tables.addresses.channel_port.max(initial=0)) + 1,
        int(tables.addresses.terminal_port.max(initial=0)) + 1,
        *(len(lane_tables.lanes[guid]) for guid in guids),
    )
    lanes = np.full((len(guids), size, size, NUM_LEVELS), -1, dtype=np.int8)
    for switch, guid in enumerate(guids):
        table = lane_tables.lanes[guid]
        lanes[switch, : len(table), : len(table)] = table
    return frozen_array(lanes, np.int8)
