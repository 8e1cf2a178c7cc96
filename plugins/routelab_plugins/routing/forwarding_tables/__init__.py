"""forwarding-tables: the routes that an InfiniBand fabric has at present.

Reads a dump of all forwarding tables (``opensm-lfts.dump``, output of ``ibroute`` or ``dump_lfts``,
or ``opensm.fdbs``), optionally service levels and SL2VL tables. So all metrics, simulations and
figures apply to tables that another program computed.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from typing_extensions import override

from routelab.api import (
    Capabilities,
    InputError,
    Parameters,
    RoutelabError,
    RouteTable,
    RoutingPlugin,
    Topology,
    parameter,
)
from routelab.api.topology import Int8Array, frozen_array
from routelab.toolkit.infiniband import (
    Addresses,
    ForwardingTables,
    addresses_of,
    loaded_routes,
    read_forwarding_tables,
    read_lane_tables,
    read_service_levels,
)


class ForwardingTablesParameters(Parameters):
    """Files of the tables."""

    file: Path = parameter(
        description="Forwarding tables: `opensm-lfts.dump`, output of `dump_lfts`, or `opensm.fdbs`"
    )
    sls: Path | None = parameter(
        None,
        description="Service levels of the routes, in the form of `ibdmchk` (lines `0xGUID LID SL`)"
        "; none: all on SL 0",
    )
    sl2vl: Path | None = parameter(
        None, description="SL2VL tables: `opensm-sl2vl.dump`; none: SL n is on VL n"
    )


class PresentTables(RoutingPlugin):
    """Follows the entries of a dump from each host to each other one."""

    name = "forwarding-tables"
    summary = "Routes of a dump of InfiniBand forwarding tables"
    # dumped routes cannot avoid what has failed since
    capabilities = Capabilities(
        multipath=True, tolerates_failures=False, virtual_channels=None, destination_based=True
    )
    Parameters = ForwardingTablesParameters

    @override
    def input_files(self) -> list[Path]:
        paths = (self.parameters.file, self.parameters.sls, self.parameters.sl2vl)
        return [path for path in paths if path is not None]

    def supports(self, topology: Topology) -> str | None:
        """Require tables of this network's switches whose routes arrive."""
        try:
            self.route(topology)
        except RoutelabError as error:
            return str(error)
        return None

    def route(self, topology: Topology) -> RouteTable:
        """Walk all routes.

        Raises
        ------
        InputError
            If a file cannot be read, belongs to other switches, has a loop or lacks an entry; names
            the first switch and LID.
        UnsupportedError
            If the network has one-way links or some GUIDs are unknown.
        """
        file = str(self.parameters.file)
        tables = read_forwarding_tables(self.parameters.file)
        addresses = _with_table_lids(topology, tables, file)
        sl2vl = self.parameters.sl2vl
        return loaded_routes(
            topology,
            addresses,
            tables.of_switches(addresses.switch_guids, file),
            file=file,
            levels=self._levels(topology, addresses),
            lane_tables=None if sl2vl is None else read_lane_tables(sl2vl),
        )

    def _levels(self, topology: Topology, addresses: Addresses) -> Int8Array | None:
        """Return the service level of each pair of terminals; int8, shape (T, T).

        None if the parameters name no file: all pairs are on level 0.
        """
        path = self.parameters.sls
        if path is None:
            return None
        # 1. The levels of the file by (source, LID), −1 where it has none. The network may have
        #    larger LIDs, which get columns. One more row, the last, is for sources that the file
        #    does not name: their row number is −1, which means the last row to NumPy.
        service = read_service_levels(path)
        file_lids = service.levels.shape[1]
        num_lids = max(file_lids, 1 + addresses.lids.max())
        table = np.full((len(service.source_guids) + 1, num_lids), -1)
        table[:-1, :file_lids] = service.levels
        # 2. The row of each terminal; a file names sources by the GUID of the port or of the node.
        row_of_guid = {guid: row for row, guid in enumerate(service.source_guids)}
        node_guids = topology.attributes.get("node_guids", {})
        rows = []
        for guid in addresses.terminal_guids:
            row_of_node = row_of_guid.get(node_guids.get(guid, ""), -1)
            rows.append(row_of_guid.get(guid, row_of_node))
        levels = table[np.array(rows)[:, np.newaxis], addresses.terminal_lids]
        # 3. Packets between terminals of one switch take no channel, and need no level.
        is_routed = topology.terminal_switch[:, np.newaxis] != topology.terminal_switch
        missing = np.argwhere((levels < 0) & is_routed)
        if missing.size:
            source, target = missing[0].tolist()
            raise InputError(
                f"{path}: has no service level from terminal {topology.terminal_name(source)} to "
                f"LID {int(addresses.terminal_lids[target])}"
            )
        return frozen_array(levels, np.int8)


def _with_table_lids(topology: Topology, tables: ForwardingTables, file: str) -> Addresses:
    """Return the addresses of a network, with the LIDs that the file of the tables names.

    Ports that the file does not name keep the LIDs of the network. `addresses_of` would number
    ports without a LID by itself, which no forwarding table of the fabric knows.
    """
    addresses = addresses_of(topology)
    lids = {**topology.attributes.get("lids", {})}
    lids |= {guid: lid for lid, guid in tables.guid_of_lid.items()}
    without_lid = [guid for guid in addresses.guids if guid not in lids]
    if without_lid:
        raise InputError(
            f"{file}: does not name the LID of port {without_lid[0]}, nor does the network"
        )
    # addresses list the ports of terminals first, then the switches
    lids_in_order = np.array([lids[guid] for guid in addresses.guids])
    return replace(
        addresses,
        terminal_lids=frozen_array(lids_in_order[: topology.num_terminals], np.int32),
        switch_lids=frozen_array(lids_in_order[topology.num_terminals :], np.int32),
    )
