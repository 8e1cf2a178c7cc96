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
        addresses = _with_present_lids(topology, tables, file)
        lanes = self.parameters.sl2vl
        return loaded_routes(
            topology,
            addresses,
            tables.of_switches(addresses.switch_guids, file),
            file=file,
            levels=self._levels(topology, addresses),
            lane_tables=None if lanes is None else read_lane_tables(lanes),
        )

    def _levels(self, topology: Topology, addresses: Addresses) -> Int8Array | None:
        """Return the service level of each pair of terminals; int8, shape (T, T)."""
        path = self.parameters.sls
        if path is None:
            return None
        service = read_service_levels(path)
        row = {guid: place for place, guid in enumerate(service.source_guids)}
        nodes = topology.attributes.get("node_guids", {})
        table = np.full((len(row) + 1, max(service.levels.shape[1], 1 + addresses.lids.max())), -1)
        table[:-1, : service.levels.shape[1]] = service.levels
        rows = [
            row.get(guid, row.get(nodes.get(guid, ""), -1)) for guid in addresses.terminal_guids
        ]
        levels = table[np.array(rows)[:, np.newaxis], addresses.terminal_lids]
        apart = topology.terminal_switch[:, np.newaxis] != topology.terminal_switch
        gaps = np.argwhere((levels < 0) & apart)
        if gaps.size:
            source, target = gaps[0].tolist()
            raise InputError(
                f"{path}: has no service level from terminal {topology.terminal_name(source)} to "
                f"LID {int(addresses.terminal_lids[target])}"
            )
        return frozen_array(levels, np.int8)


def _with_present_lids(topology: Topology, tables: ForwardingTables, file: str) -> Addresses:
    """Return the addresses of a network with the LIDs in the tables, or those of the fabric."""
    addresses = addresses_of(topology)
    lids = {**topology.attributes.get("lids", {})}
    lids |= {guid: lid for lid, guid in tables.guid_of_lid.items()}
    unknown = [guid for guid in addresses.guids if guid not in lids]
    if unknown:
        raise InputError(
            f"{file}: does not name the LID of port {unknown[0]}, nor does the network"
        )
    lids_in_order = np.array([lids[guid] for guid in addresses.guids])
    return replace(
        addresses,
        terminal_lids=frozen_array(lids_in_order[: topology.num_terminals], np.int32),
        switch_lids=frozen_array(lids_in_order[topology.num_terminals :], np.int32),
    )
