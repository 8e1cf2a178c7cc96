"""The lines of all files of the export.

=========================  =======================================================
file                       read by
=========================  =======================================================
`LFTS`                     OpenSM, ``-R file -U``: forwarding tables
`POLICY`                   OpenSM, ``-Q -Y``: service level of each pair of ports
`LIDS`                     OpenSM, from its cache folder: LID of each port
`OPTIONS`                  OpenSM, ``-F``: virtual lanes and SL2VL
`ROOTS`                    OpenSM, ``-R updn -a``, to compute other routes
`ROUTING_ORDER`            OpenSM, ``-R minhop -X``, to compute other routes
`SIMULATION`               ibsim, which simulates the network
`NETWORK`                  routelab, to read the export back
=========================  =======================================================
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from routelab.api import RouteTable, frozen_array
from routelab.toolkit.infiniband import (
    Addresses,
    CompleteTables,
    ForwardingTables,
    LidOwner,
    make_rules,
    root_switches,
    simulation_lines,
    write_forwarding_tables,
    write_policy,
)

LFTS, POLICY, LIDS = "routelab.lft", "qos-policy.conf", "guid2lid"
ROOTS, ROUTING_ORDER, OPTIONS = "root_guids.conf", "guid_routing_order.conf", "opensm.conf"
SIMULATION, NETWORK = "fabric.net", "network.json"


def lines_of_files(
    tables: CompleteTables, addresses: Addresses, vls: int
) -> dict[str, Iterator[str]]:
    """Return the lines of each file but `NETWORK`, by name.

    Parameters
    ----------
    tables : CompleteTables
    addresses : Addresses
    vls : int
        Virtual lanes for data that the hardware has.
    """
    topology = tables.topology
    return {
        LFTS: _forwarding_lines(tables, addresses),
        POLICY: _policy_lines(tables, addresses),
        LIDS: _lid_lines(addresses),
        ROOTS: (addresses.switch_guids[switch] for switch in root_switches(topology)),
        ROUTING_ORDER: iter(addresses.terminal_guids),
        OPTIONS: _option_lines(vls),
        SIMULATION: simulation_lines(topology, addresses),
    }


def network_record(table: RouteTable, addresses: Addresses) -> dict[str, Any]:
    """Return the content of `NETWORK`, a JSON value, from which `OpenSM.read` builds the network.

    Only this file keeps the order of switches, terminals and channels.
    """
    topology = table.topology
    channel_columns = (topology.channel_source, topology.channel_target, addresses.channel_port)
    terminal_columns = (topology.terminal_switch, addresses.terminal_port, addresses.terminal_lids)
    return {
        "format": "routelab opensm 1",
        "per_terminal": table.per_terminal,
        "switch_names": list(topology.switch_names),
        "switch_guids": list(addresses.switch_guids),
        "switch_lids": addresses.switch_lids.tolist(),
        "terminal_names": list(topology.terminal_names),
        "terminal_guids": list(addresses.terminal_guids),
        "terminals": np.transpose(terminal_columns).tolist(),
        "channels": np.transpose(channel_columns).tolist(),
    }


def _forwarding_lines(tables: CompleteTables, addresses: Addresses) -> Iterator[str]:
    """Return the lines of a file of forwarding tables, as OpenSM dumps them."""
    topology = tables.topology
    # Output ports by switch and LID; −1: no entry.
    lids = addresses.lids
    ports = np.full((topology.num_switches, int(lids.max()) + 1), -1, dtype=np.int16)
    # `steps` has the next channel to each LID, or −1 for none. As an index, −1 takes the last
    # element of `port_of_step`, which is −1, too.
    port_of_step = np.append(addresses.channel_port, -1)
    ports[:, lids] = port_of_step[tables.steps]
    # A switch delivers to its terminals on their ports, and to itself on port 0.
    ports[topology.terminal_switch, addresses.terminal_lids] = addresses.terminal_port
    ports[np.arange(topology.num_switches), addresses.switch_lids] = 0
    switches = [
        LidOwner("Switch", guid, name)
        for guid, name in zip(addresses.switch_guids, topology.switch_names, strict=True)
    ]
    hosts = [
        LidOwner("Channel Adapter", guid, topology.terminal_name(terminal))
        for terminal, guid in enumerate(addresses.terminal_guids)
    ]
    owners = dict(sorted(zip(lids.tolist(), hosts + switches, strict=True)))
    forwarding = ForwardingTables(
        addresses.switch_guids, frozen_array(ports, np.int16), guid_of_lid={}
    )
    return write_forwarding_tables(forwarding, switches, owners)


def _policy_lines(tables: CompleteTables, addresses: Addresses) -> Iterator[str]:
    """Yield the policy: the service level from each switch and terminal to each LID."""
    topology = tables.topology
    # A level matters only if packets take a channel: not to the same switch, nor without a route.
    has_route = tables.steps >= 0
    default, rules = make_rules(tables.lanes, has_route)
    # A source is a switch with its terminals, whose packets take the same routes and lanes.
    source_guids = [[guid] for guid in addresses.switch_guids]
    for terminal, switch in enumerate(topology.terminal_switch.tolist()):
        source_guids[switch].append(addresses.terminal_guids[terminal])
    destination_guids = [[guid] for guid in addresses.guids]
    return write_policy(default, rules, source_guids, destination_guids)


def _lid_lines(addresses: Addresses) -> Iterator[str]:
    for guid, lid in zip(addresses.guids, addresses.lids.tolist(), strict=True):
        # The first and the last LID of the port: with LMC 0 it has one.
        yield f"{guid} 0x{lid:04x} 0x{lid:04x}"
        yield ""


def _option_lines(vls: int) -> Iterator[str]:
    """Yield options by which service level n uses lane n, and all lanes have equal shares."""
    # Service levels 0 to 14. The policy uses those below `vls`; the others share their lanes.
    lane_of_level = [str(level % vls) for level in range(15)]
    yield "# Options of OpenSM for the tables in this folder; other files are given as arguments."
    yield from ("qos TRUE", f"qos_max_vls {vls}", "qos_high_limit 0")
    # LANE:WEIGHT of the arbitration; a lane of weight 0 sends nothing with high priority
    yield f"qos_vlarb_high {','.join(f'{lane}:0' for lane in range(vls))}"
    yield f"qos_vlarb_low {','.join(f'{lane}:32' for lane in range(vls))}"
    # SL 15 takes the lane of SL 0, because VL 15 is for subnet management only
    yield f"qos_sl2vl {','.join(lane_of_level)},{lane_of_level[0]}"
    yield from ("honor_guid2lid_file TRUE", "force_log_flush TRUE")
