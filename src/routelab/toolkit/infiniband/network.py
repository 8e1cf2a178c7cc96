"""Networks of fabrics: the topology that routing algorithms see, with the hardware's identities."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from routelab.api.errors import InputError
from routelab.api.topology import Topology
from routelab.toolkit.infiniband.fabric import Fabric, Port
from routelab.toolkit.infiniband.text_lines import guid_text

NOT_HOSTS = ("Aggregation Node",)
"""Parts of the descriptions of nodes whose end ports are no hosts: in-network aggregation."""


def topology_of(fabric: Fabric, leave_out: Sequence[str] = (), *, routers: bool = True) -> Topology:
    """Return the network of a fabric.

    Parameters
    ----------
    fabric : Fabric
    leave_out : sequence of str, optional
        Parts of descriptions, in any case; end ports of such nodes are left out.
    routers : bool
        Whether end ports of routers are terminals.

    Notes
    -----
    Switches and terminals are in natural order of their names (``n2`` before ``n10``), then of
    their GUIDs, because the order of a file is that of its discovery. Every port of a channel
    adapter or router with a cable is a terminal. Names that are not unique get the GUID appended;
    terminals of an adapter with several cables get the port. The two channels of a cable follow one
    another. Cables from a switch to itself are left out. The fastest switch-to-switch link has
    capacity 1; links of unknown speed have it, too.

    Attributes of the network: ``file``, ``lids`` (LID by GUID, as far as known), ``node_guids`` (of
    channel adapters, by GUID of the port, where the two differ), ``fabrics``
    (separate parts, e.g. planes), ``connected``, ``link_bytes_per_second`` (rate of capacity 1; if
    known), ``free_ports`` (ports of switches without a cable), ``loopback_cables`` and ``left_out``
    (number of end ports; only if there are any).

    Raises
    ------
    InputError
        If the network has no consistent form, or all end ports are left out; names the file.
    """
    # 1. Switches, and the end ports of hosts (node and port), in natural order of their names.
    nodes = fabric.nodes
    switches = sorted(
        fabric.switches, key=lambda i: (_natural_key(nodes[i].name), nodes[i].guid, i)
    )
    switch_number = {node: s for s, node in enumerate(switches)}
    hosts = [
        (node, port)
        for node, port in fabric.end_ports
        if (routers or nodes[node].kind != "router")
        and not _is_left_out(nodes[node].name, leave_out)
    ]
    if not hosts:
        raise InputError(f"{fabric.file}: all end ports are left out; no host remains")
    ends = sorted(
        hosts,
        key=lambda end: (_natural_key(_end_name(fabric, end)), _end_port(fabric, end).guid, end),
    )
    # 2. Capacities: the fastest cable has 1, and so have cables of unknown rate, or all if no rate
    #    is known. Then two channels for each cable: source, target and the ports at both.
    cables, num_loops = _find_cables(fabric, switches)
    rates = np.array([nodes[node].ports[port].bytes_per_second for node, port, _, _ in cables])
    top_rate = float(rates.max(initial=0))
    capacity = np.where(rates > 0, rates, top_rate) / top_rate if top_rate else np.ones(len(rates))
    channels = []
    for node, port, peer, peer_port in cables:
        channels.append((switch_number[node], switch_number[peer], port, peer_port))
        channels.append((switch_number[peer], switch_number[node], peer_port, port))
    channel_table = np.array(channels, dtype=np.int64).reshape(-1, 4)
    source, target, source_port, target_port = channel_table.T
    # 3. Terminals, and what the hardware calls everything.
    end_ports = [_end_port(fabric, end) for end in ends]
    attachments = [port.peer for port in end_ports]  # switch and port of each terminal
    terminal_guids = [port.guid for port in end_ports]
    switch_guids = [nodes[node].guid for node in switches]
    adapter_guids = [nodes[node].guid for node, _ in ends]
    guid_pairs = zip(terminal_guids, adapter_guids, strict=True)
    guids_and_lids = [(nodes[node].guid, nodes[node].lid) for node in switches]
    guids_and_lids += [(port.guid, port.lid) for port in end_ports]
    num_parts = _count_parts(len(switches), channel_table[:, :2].tolist())
    attributes: dict[str, Any] = {
        "file": Path(fabric.file).name,
        "fabrics": num_parts,
        "connected": num_parts == 1,
        "free_ports": fabric.free_ports,
        "loopback_cables": num_loops,
        "lids": {guid_text(guid): lid for guid, lid in guids_and_lids if guid and lid},
        "node_guids": {
            guid_text(port): guid_text(node)
            for port, node in guid_pairs
            if port and node and port != node
        },
    }
    if len(hosts) < len(fabric.end_ports):
        attributes["left_out"] = len(fabric.end_ports) - len(hosts)
    if top_rate:
        attributes["link_bytes_per_second"] = top_rate
    try:
        return Topology.create(
            family="infiniband",
            num_switches=len(switches),
            channel_source=source,
            channel_target=target,
            source_port=source_port,
            target_port=target_port,
            channel_capacity=np.repeat(capacity, 2),
            terminal_switch=[switch_number[node] for node, _ in attachments],
            terminal_port=[port for _, port in attachments],
            switch_names=_make_unique([nodes[node].name for node in switches], switch_guids),
            switch_guids=list(map(_known_guid, switch_guids)),
            terminal_names=_make_unique([_end_name(fabric, end) for end in ends], terminal_guids),
            terminal_guids=list(map(_known_guid, terminal_guids)),
            attributes=attributes,
        )
    except InputError as error:
        raise InputError(f"{fabric.file}: {error}") from None


def _is_left_out(name: str, parts: Sequence[str]) -> bool:
    return any(part.casefold() in name.casefold() for part in parts)


def _natural_key(name: str) -> list[tuple[int, int, str]]:
    """Return the key of the natural order of names: ``n2`` before ``n10``, numbers before letters.

    The key of ``n2`` is ``[(1, 0, "n"), (0, 2, "")]``.
    """
    return [
        (0, int(word), "") if word.isascii() and word.isdecimal() else (1, 0, word)
        for word in re.split(r"([0-9]{1,18})", name)
        if word
    ]


def _end_port(fabric: Fabric, end: tuple[int, int]) -> Port:
    """Return the port of an end: the index of its node and its number there."""
    node, number = end
    return fabric.nodes[node].ports[number]


def _end_name(fabric: Fabric, end: tuple[int, int]) -> str:
    """Return the name of an end port: its node's, with the port if several have a cable."""
    index, number = end
    node = fabric.nodes[index]
    return f"{node.name}/{number}" if len(node.ports) > 1 else node.name


def _known_guid(guid: int) -> str:
    return guid_text(guid) if guid else ""


def _make_unique(names: Sequence[str], guids: Sequence[int]) -> list[str]:
    """Append GUIDs to names that are empty or not unique: ``s@0x…``, without a name only ``0x…``.

    Where the GUID is unknown, append the number of the switch or terminal.
    """
    count = Counter(names)
    unique_names = [
        name
        if name and count[name] == 1
        else f"{name}@{guid_text(guid) if guid else number}".lstrip("@")
        for number, (name, guid) in enumerate(zip(names, guids, strict=True))
    ]
    if len(set(unique_names)) == len(unique_names):
        return unique_names
    # another node may be called like a name with its GUID
    return [f"{name}@{number}" for number, name in enumerate(unique_names)]


def _find_cables(
    fabric: Fabric, switches: Sequence[int]
) -> tuple[list[tuple[int, int, int, int]], int]:
    """Return the cables between switches, and the number of cables from a switch to itself.

    A cable is a node, its port, the node at the other end and the port there.
    """
    switch_number = {node: s for s, node in enumerate(switches)}
    cables, num_loops = [], 0
    for node in switches:
        for number, port in sorted(fabric.nodes[node].ports.items()):
            peer, peer_port = port.peer
            # every cable is listed at both of its ends: take the lower one
            if peer == node:
                num_loops += number < peer_port
            elif peer in switch_number and switch_number[node] < switch_number[peer]:
                cables.append((node, number, peer, peer_port))
    return cables, num_loops


def _count_parts(num_switches: int, ends: list[list[int]]) -> int:
    """Return the number of connected parts, by union-find; `ends` are the switches of channels."""
    parent = list(range(num_switches))

    def root(switch: int) -> int:
        while parent[switch] != switch:
            parent[switch] = parent[parent[switch]]  # halve the way for the next search
            switch = parent[switch]
        return switch

    for source, target in ends:
        parent[root(source)] = root(target)
    return len({root(switch) for switch in range(num_switches)})
