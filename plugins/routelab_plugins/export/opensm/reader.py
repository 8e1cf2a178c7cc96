"""Files read back: forwarding tables by port and service levels by pair, as a network has them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from routelab.api import InputError, RouteTable, Topology, UnsupportedError
from routelab.api.topology import Int16Array
from routelab.kernels.routes import table_from_next_hops
from routelab.toolkit.infiniband import (
    Addresses,
    CompleteTables,
    Policy,
    TextFile,
    channels_of_ports,
    check_tables,
    parse_forwarding_tables,
    parse_policy,
)
from routelab_plugins.export.opensm.files import LFTS, POLICY


def tables_of_files(
    topology: Topology,
    addresses: Addresses,
    files: Mapping[str, str],
    manager: int | None = None,
) -> CompleteTables:
    """Return the tables that files hold, after all routes were walked and proven.

    With the terminal of the subnet manager, routes from and to it are also on virtual lane 0.

    Raises
    ------
    UnsupportedError
        If they hold a loop, a missing route or a possible deadlock.
    """
    ports = parse_forwarding_tables(TextFile.of(LFTS, files[LFTS])).of_switches(
        addresses.switch_guids, LFTS
    )
    policy = parse_policy(TextFile.of(POLICY, files[POLICY]))
    tables = CompleteTables(
        topology,
        channels_of_ports(topology, addresses, ports, LFTS),
        policy.levels(addresses.switch_guids, addresses.guids),
    )
    # terminals of a switch must have the levels of the switch
    of_terminals = policy.levels(addresses.terminal_guids, addresses.guids)
    differs = of_terminals != tables.lanes[topology.terminal_switch]
    differs &= tables.steps[topology.terminal_switch] >= 0
    if differs.any():
        terminal = topology.terminal_name(int(np.argwhere(differs)[0, 0]))
        raise UnsupportedError(f"the policy gives terminal {terminal} other levels than its switch")
    problem = check_tables(tables, manager=manager)
    if problem:
        raise UnsupportedError(problem)
    return tables


def read_table(
    topology: Topology,
    addresses: Addresses,
    ports: Int16Array,
    policy: Policy,
    *,
    per_terminal: bool,
) -> RouteTable:
    """Return the routes between terminals, to terminals or to switches."""
    steps = channels_of_ports(topology, addresses, ports, LFTS)
    levels = policy.levels(addresses.switch_guids, addresses.guids)
    columns = np.arange(topology.num_terminals)
    if not per_terminal:
        columns = np.unique(topology.terminal_switch, return_index=True)[1]
    ends = topology.terminal_switch if per_terminal else topology.endpoints
    lengths, hops = table_from_next_hops(
        np.ascontiguousarray(steps[:, columns]),
        topology.endpoints,
        ends,
        topology.channel_source,
        topology.channel_target,
    )
    if (lengths == -2).any():
        raise InputError(f"{LFTS}: has a loop")
    lanes = levels[np.ix_(topology.endpoints, columns)].reshape(-1)
    return RouteTable.from_lengths(
        topology,
        lengths,
        hops,
        hop_vc=np.repeat(lanes, np.maximum(lengths.reshape(-1), 0)),
        per_terminal=per_terminal,
    )
