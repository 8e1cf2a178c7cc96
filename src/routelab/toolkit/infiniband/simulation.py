"""Networks as files of the simulator ibsim, and the roots that OpenSM's up*/down* needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from routelab.api.topology import Int64Array, Topology
from routelab.toolkit.infiniband.addresses import Addresses
from routelab.toolkit.infiniband.forwarding import plain_name
from routelab.toolkit.infiniband.text_lines import guid_text


def simulation_lines(topology: Topology, addresses: Addresses) -> Iterator[str]:
    """Yield the network for ibsim.

    ibsim numbers the GUIDs of an adapter's ports from that of the adapter on, so an adapter has the
    GUID of its port minus 1.
    """
    adapters = [guid_text(int(guid, 16) - 1) for guid in addresses.terminal_guids]
    switch_id = [f'"S-{guid[2:]}"' for guid in addresses.switch_guids]
    host_id = [f'"H-{guid[2:]}"' for guid in adapters]
    at_switch: list[list[tuple[int, str]]] = [[] for _ in range(topology.num_switches)]
    for terminal, switch in enumerate(topology.terminal_switch.tolist()):
        port, guid = int(addresses.terminal_port[terminal]), addresses.terminal_guids[terminal]
        at_switch[switch].append((port, f"{host_id[terminal]}[1]({guid[2:]})"))
        yield f"caguid={adapters[terminal]}"
        yield f'Ca\t1 {host_id[terminal]}\t\t# "{plain_name(topology.terminal_name(terminal))}"'
        yield from (f"[1]({guid[2:]}) \t{switch_id[switch]}[{port}]", "")
    for one, back in topology.links.tolist():
        for here, there in ((one, back), (back, one)):
            port, other = int(addresses.channel_port[here]), int(addresses.channel_port[there])
            target = switch_id[int(topology.channel_target[here])]
            at_switch[int(topology.channel_source[here])].append((port, f"{target}[{other}]"))
    for switch, ends in enumerate(at_switch):
        count = max((port for port, _ in ends), default=1)
        guid = addresses.switch_guids[switch]
        yield f"switchguid={guid}({guid[2:]})"
        yield (
            f"Switch\t{count} {switch_id[switch]}\t\t# "
            f'"{plain_name(topology.switch_names[switch])}"'
        )
        yield from (f"[{port}]\t{end}" for port, end in sorted(ends))
        yield ""


def root_switches(topology: Topology) -> list[int]:
    """Return roots for up*/down*: the switches farthest from hosts, or the most central one."""
    start, channel = topology.outgoing
    neighbours = [
        topology.channel_target[channel[start[s] : start[s + 1]]]
        for s in range(topology.num_switches)
    ]
    from_hosts = _hops(neighbours, topology.endpoints.astype(np.int64))
    if from_hosts.max() > 0:
        return np.flatnonzero(from_hosts == from_hosts.max()).tolist()
    sums = [int(_hops(neighbours, np.array([s])).sum()) for s in range(topology.num_switches)]
    return [int(np.argmin(sums))]


def _hops(neighbours: list[Any], sources: Int64Array) -> Int64Array:
    """Return hops from the nearest source; −1 if none leads there. int64, shape (S,)."""
    hops = np.full(len(neighbours), -1, dtype=np.int64)
    hops[sources] = 0
    frontier = sources.tolist()
    while frontier:
        following = []
        for switch in frontier:
            for other in neighbours[switch].tolist():
                if hops[other] < 0:
                    hops[other] = hops[switch] + 1
                    following.append(other)
        frontier = following
    return hops
