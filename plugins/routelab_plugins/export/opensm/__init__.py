"""opensm: forwarding tables, service levels and further files for the subnet manager OpenSM.

OpenSM's ``file`` engine loads the tables, its QoS policy gives each pair of ports a service level.
It validates neither, so everything is read back from the files, walked and proven here first.
Formats: manual page opensm(8), and dumps of OpenSM 3.3.23.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from routelab.api import (
    Capabilities,
    ExportPlugin,
    InputError,
    MachineSpeeds,
    Parameters,
    RoutelabError,
    RouteTable,
    Topology,
    UnsupportedError,
    parameter,
)
from routelab.toolkit.infiniband import (
    Addresses,
    CompleteTables,
    TextFile,
    addresses_of,
    check_tables,
    complete,
    forwarding_problem,
    parse_forwarding_tables,
    parse_policy,
    with_symmetric_lanes,
)
from routelab_plugins.export.opensm.files import (
    LFTS,
    NETWORK,
    POLICY,
    lines_of_files,
    network_record,
)
from routelab_plugins.export.opensm.reader import read_table, tables_of_files
from routelab_plugins.export.opensm.readme import readme

logger = logging.getLogger(__name__)


class OpenSMParameters(Parameters):
    """Hardware and software that the tables are for."""

    vls: Literal["1", "2", "4", "8", "15"] = parameter(
        "8", description="Data VLs that all switches and hosts support"
    )
    replies: Literal["same", "own"] = parameter(
        "same",
        description="Service levels: those of the routing (own), or levels that are also safe for "
        "replies on the level of the request, as RDMA-CM sends them, if there are enough lanes "
        "(same)",
    )
    sm: str = parameter(
        "",
        description="Host of the subnet manager, by name or GUID of its port: packets from and to "
        "it on SL 0, as of subnet administration, are part of the proof; empty: they are not",
    )


class OpenSM(ExportPlugin):
    """Writes files for OpenSM and reads them back."""

    name = "opensm"
    summary = "Forwarding tables and service levels for InfiniBand's subnet manager OpenSM"
    capabilities = Capabilities(flow_control="plain", virtual_channels=None)
    Parameters = OpenSMParameters

    @property
    def vls(self) -> int:
        """Number of virtual lanes for data."""
        return int(self.parameters.vls)

    def supports(self, table: RouteTable) -> str | None:
        """Require one port for each switch and destination, one lane for each route, and cables."""
        left_out = table.topology.attributes.get("left_out", 0)
        if left_out:
            return (
                f"the network leaves out {left_out} end ports, which would have no entries; keep "
                "them with leave_out=[] and routers=true"
            )
        reason = forwarding_problem(table)
        if reason is not None:
            return reason
        needed = table.virtual_channels
        if needed > self.vls:
            return f"needs {needed} virtual lanes, has {self.vls}; set vls"
        try:
            # `export` needs both of them; here they only show whether it can
            addresses_of(table.topology)
            complete(table, self.vls)
        except UnsupportedError as error:
            return str(error)
        return None

    def export(self, table: RouteTable, machine: MachineSpeeds) -> dict[str, str]:
        """Write all files; they are proven free of deadlock as they will be loaded.

        Service levels are the virtual channels of the table, unless only other levels are safe for
        replies on the level of the request; see the parameter ``replies``. A warning is logged if
        such replies can deadlock. With the parameter ``sm``, all levels are also safe with packets
        from and to that host on SL 0.

        Raises
        ------
        InputError
            If `sm` is no host.
        UnsupportedError
            If the files, read back, hold a loop, a route that is missing or a possible deadlock.
            Also if no levels are found that are safe with the packets of the subnet manager.
        """
        # 1. The tables: the routing's, or others with service levels that are safe for replies.
        addresses = addresses_of(table.topology)
        manager = _find_host(self.parameters.sm, table.topology, addresses)
        complete_tables = complete(table, self.vls)
        tables = self._choose_levels(complete_tables, manager)
        files = {
            name: "".join(f"{line}\n" for line in lines)
            for name, lines in lines_of_files(tables, addresses, self.vls).items()
        }
        # 2. The proof, of what the files say: OpenSM loads them without a check.
        proof = tables_of_files(table.topology, addresses, files, manager)
        reply_problem = check_tables(proof, replies="same", manager=manager)
        if reply_problem:
            logger.warning(
                "opensm: replies on the service level of the request, as RDMA-CM sends them, can "
                "deadlock: %s",
                reply_problem,
            )
        if manager is None and proof.lanes.any():
            logger.info(
                "opensm: the proof leaves out packets of subnet administration: between all hosts "
                "and the subnet manager, on SL 0; sm=HOST takes them in"
            )
        # 3. Files that OpenSM does not load: for people, and for `read`.
        files["README.md"] = readme(
            proof,
            addresses,
            self.vls,
            own_levels=tables is complete_tables,  # returned unchanged
            reply_problem=reply_problem,
            manager="" if manager is None else table.topology.host_names[manager],
        )
        files[NETWORK] = json.dumps(network_record(table, addresses)) + "\n"
        return files

    def _choose_levels(self, own: CompleteTables, manager: int | None) -> CompleteTables:
        """Return `own`, or tables with other service levels if that makes more packets safe.

        `own` has the routing's service levels. It is returned if its levels are safe for replies as
        the parameter ``replies`` demands them, and for packets of the subnet manager. Otherwise
        both directions of each pair get one level. If no such levels are found, the routing's stay,
        though replies on the level of the request may then deadlock.

        Raises
        ------
        UnsupportedError
            If no levels were found that are safe with the packets of the subnet manager.
        """
        if check_tables(own, replies=self.parameters.replies, manager=manager) is None:
            return own
        symmetric = with_symmetric_lanes(own, self.vls, manager)
        if symmetric is not None:
            return symmetric
        # also safe without replies on the level of the request?
        if check_tables(own, replies="own", manager=manager) is not None:
            raise UnsupportedError(
                f"no service levels were found with {self.vls} virtual lanes that are safe with "
                f"packets from and to the subnet manager on {self.parameters.sm} (SL 0); allow "
                "more vls, or choose another host"
            )
        return own

    def read(self, files: Mapping[str, str]) -> RouteTable:
        """Read network, routes and virtual channels."""
        for file in (NETWORK, LFTS, POLICY):
            if file not in files:
                raise InputError(f"opensm: {file} not found")
        try:
            record = json.loads(files[NETWORK])
            topology, addresses = _read_network(record)
            ports = parse_forwarding_tables(TextFile.of(LFTS, files[LFTS])).of_switches(
                addresses.switch_guids, LFTS
            )
            policy = parse_policy(TextFile.of(POLICY, files[POLICY]))
            return read_table(
                topology, addresses, ports, policy, per_terminal=bool(record["per_terminal"])
            )
        except (RoutelabError, ValueError, KeyError, IndexError, TypeError) as error:
            raise InputError(f"opensm: files cannot be read: {error}") from error


def _read_network(record: Mapping[str, Any]) -> tuple[Topology, Addresses]:
    """Return the network of a record, with its addresses."""
    # Columns as `network_record` writes them: source, target and port of a channel; switch, port
    # and LID of a terminal.
    # Whether addresses were invented is not recorded: it changes README.md only.
    channels = np.array(record["channels"], dtype=np.int32).reshape(-1, 3)
    terminals = np.array(record["terminals"], dtype=np.int32).reshape(-1, 3)
    switch_guids = tuple(map(str, record["switch_guids"]))
    terminal_guids = tuple(map(str, record["terminal_guids"]))
    topology = Topology.create(
        family="opensm",
        num_switches=len(switch_guids),
        channel_source=channels[:, 0],
        channel_target=channels[:, 1],
        source_port=channels[:, 2],
        terminal_switch=terminals[:, 0],
        terminal_port=terminals[:, 1],
        switch_names=record["switch_names"],
        terminal_names=record["terminal_names"],
        switch_guids=switch_guids,
        terminal_guids=terminal_guids,
    )
    return topology, Addresses(
        switch_guids=switch_guids,
        terminal_guids=terminal_guids,
        switch_lids=np.array(record["switch_lids"], dtype=np.int32),
        terminal_lids=terminals[:, 2],
        channel_port=channels[:, 2],
        terminal_port=terminals[:, 1],
        invented=False,
    )


def _find_host(name: str, topology: Topology, addresses: Addresses) -> int | None:
    """Return the number of the terminal with this name or GUID; None if the name is empty.

    Raises
    ------
    InputError
        If no terminal has the name.
    """
    if not name:
        return None
    terminals = range(topology.num_terminals)
    terminal_of_name = dict(zip(topology.host_names, terminals, strict=True))
    terminal_of_name |= dict(zip(addresses.terminal_guids, terminals, strict=True))
    if name not in terminal_of_name:
        raise InputError(
            f"opensm: sm={name} is no host; hosts are {', '.join(list(terminal_of_name)[:3])} ..."
        )
    return terminal_of_name[name]
