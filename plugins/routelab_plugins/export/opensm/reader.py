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

    If `manager` is the terminal of the subnet manager, the proof also has all routes from and to it
    on virtual lane 0, as packets of subnet administration take them.

    Raises
    ------
    UnsupportedError
        If they hold a loop, a missing route or a possible deadlock.
    """
    forwarding = parse_forwarding_tables(TextFile.of(LFTS, files[LFTS]))
    ports = forwarding.of_switches(addresses.switch_guids, LFTS)
    policy = parse_policy(TextFile.of(POLICY, files[POLICY]))
    tables = CompleteTables(
        topology,
        channels_of_ports(topology, addresses, ports, LFTS),
        policy.levels(addresses.switch_guids, addresses.guids),
    )
    # The tables have one level for a switch and its terminals, so the policy must give all of them
    # the same level to a destination at another switch.
    terminal_levels = policy.levels(addresses.terminal_guids, addresses.guids)
    is_other_level = terminal_levels != tables.lanes[topology.terminal_switch]
    is_other_level &= tables.steps[topology.terminal_switch] >= 0  # only where a channel is taken
    if is_other_level.any():
        terminal = topology.terminal_name(int(np.argwhere(is_other_level)[0, 0]))
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
    """Return the routes between terminals, to terminals or to switches.

    `ports` are the forwarding tables, by switch and LID.
    """
    steps = channels_of_ports(topology, addresses, ports, LFTS)
    levels = policy.levels(addresses.switch_guids, addresses.guids)
    # Columns of `steps` and `levels` are the LIDs of all terminals, then of the switches. Routes to
    # a switch were written as those to each of its terminals: read those to the first.
    columns = np.arange(topology.num_terminals)
    if not per_terminal:
        # the first terminal of each switch that has any
        _, columns = np.unique(topology.terminal_switch, return_index=True)
    target_switches = topology.terminal_switch if per_terminal else topology.endpoints
    lengths, hops = table_from_next_hops(
        np.ascontiguousarray(steps[:, columns]),
        topology.endpoints,
        target_switches,
        topology.channel_source,
        topology.channel_target,
    )
    if (lengths == -2).any():  # the length of a loop; −1 is that of a missing route
        raise InputError(f"{LFTS}: has a loop")
    # all hops of a pair are on the lane of its service level
    lanes = levels[np.ix_(topology.endpoints, columns)].reshape(-1)
    num_hops = np.maximum(lengths.reshape(-1), 0)
    return RouteTable.from_lengths(
        topology,
        lengths,
        hops,
        hop_vc=np.repeat(lanes, num_hops),
        per_terminal=per_terminal,
    )
