"""Networks as files of the simulator ibsim, and the roots that OpenSM's up*/down* needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from routelab.api.topology import Int64Array, Topology
from routelab.toolkit.infiniband.addresses import Addresses
from routelab.toolkit.infiniband.completion import connected_parts
from routelab.toolkit.infiniband.forwarding import plain_name
from routelab.toolkit.infiniband.text_lines import guid_text


def simulation_lines(topology: Topology, addresses: Addresses) -> Iterator[str]:
    """Yield the lines of the network's file for ibsim: a record for each host, then each switch.

    Each host has an adapter with one port. ibsim gives port 1 of an adapter the GUID behind that of
    the adapter, so the adapter gets the GUID of its port minus 1.

    The records have the form of ibnetdiscover's output. An empty line ends each of them. This is a
    host at port 3 of a switch, and the switch, with short GUIDs and with spaces for tabs::

        caguid=0x00a0
        Ca      1 "H-00a0"              # "host"
        [1](00a1)       "S-00b0"[3]

        switchguid=0x00b0(00b0)
        Switch  3 "S-00b0"              # "switch"
        [3]     "H-00a0"[1](00a1)
    """
    adapters = [guid_text(int(guid, 16) - 1) for guid in addresses.terminal_guids]
    # An identity is a letter and the digits of the GUID: `guid[2:]` is the GUID without 0x.
    switch_id = [f'"S-{guid[2:]}"' for guid in addresses.switch_guids]
    host_id = [f'"H-{guid[2:]}"' for guid in adapters]
    # The cables of each switch: its port, and the text of the other end.
    cables: list[list[tuple[int, str]]] = [[] for _ in range(topology.num_switches)]
    for terminal, switch in enumerate(topology.terminal_switch.tolist()):
        port, guid = int(addresses.terminal_port[terminal]), addresses.terminal_guids[terminal]
        cables[switch].append((port, f"{host_id[terminal]}[1]({guid[2:]})"))
        yield f"caguid={adapters[terminal]}"
        yield f'Ca\t1 {host_id[terminal]}\t\t# "{plain_name(topology.terminal_name(terminal))}"'
        yield f"[1]({guid[2:]}) \t{switch_id[switch]}[{port}]"
        yield ""
    ports = addresses.channel_port.tolist()
    for forth, back in topology.links.tolist():
        for channel, opposite in ((forth, back), (back, forth)):
            target = f"{switch_id[int(topology.channel_target[channel])]}[{ports[opposite]}]"
            cables[int(topology.channel_source[channel])].append((ports[channel], target))
    for switch, ends in enumerate(cables):
        num_ports = max((port for port, _ in ends), default=1)
        guid = addresses.switch_guids[switch]
        yield f"switchguid={guid}({guid[2:]})"
        yield (
            f"Switch\t{num_ports} {switch_id[switch]}\t\t# "
            f'"{plain_name(topology.switch_names[switch])}"'
        )
        yield from (f"[{port}]\t{end}" for port, end in sorted(ends))
        yield ""


def root_switches(topology: Topology) -> list[int]:
    """Return roots for up*/down* in each connected part with hosts.

    They are the switches farthest from hosts, or the most central one if all switches have hosts. A
    host at a spine, such as storage, would make only the other spines roots. So the search is
    repeated as if switches with the fewest hosts had none, then those with the next number, and so
    on. The largest set from which up*/down* has a route between all hosts is returned; in a
    leaf-spine fabric, all spines. If there is no such set, the most central switch is the only
    root, from which up*/down* reaches everything.
    """
    start, channel = topology.outgoing
    neighbours = [
        topology.channel_target[channel[start[s] : start[s + 1]]]
        for s in range(topology.num_switches)
    ]
    part = connected_parts(topology)
    roots: list[int] = []
    for number in np.unique(part[topology.endpoints]).tolist():  # parts with hosts
        roots += _roots_of_part(topology, neighbours, np.flatnonzero(part == number))
    return sorted(roots)


def _roots_of_part(topology: Topology, neighbours: list[Any], switches: Int64Array) -> list[int]:
    """Return the roots of one connected part, whose `switches` are given; see `root_switches`.

    `neighbours` has the switches next to each switch.
    """
    num_hosts = topology.terminals_per_switch
    ends = switches[num_hosts[switches] > 0]
    # 1. The switches farthest from all hosts; then from the switches with at least `fewest` hosts,
    #    as if the others had none. Keep the largest set from which all hosts can be reached.
    roots = switches[:0]
    for fewest in np.unique(num_hosts[ends]).tolist():
        hops = _hops_from(neighbours, ends[num_hosts[ends] >= fewest])[switches]
        if not hops.max():  # All switches count as having hosts, so none is farther than others.
            break
        farthest = switches[hops == hops.max()]
        if len(farthest) > len(roots) and _are_routable(neighbours, farthest, ends):
            roots = farthest
    if len(roots):
        return [int(root) for root in roots]
    # 2. Otherwise the most central switch: with the fewest hops to all others in total.
    sums = [int(_hops_from(neighbours, np.array([s]))[switches].sum()) for s in switches.tolist()]
    return [int(switches[np.argmin(sums)])]


def _are_routable(neighbours: list[Any], roots: Int64Array, ends: Int64Array) -> bool:
    """Return whether up*/down* leads between all `ends`, which are switches with hosts.

    The level of a switch is its number of hops to the nearest root; every end is connected to one.
    Links between switches of one level are left out, because their direction depends on GUIDs.
    """
    level = _hops_from(neighbours, roots)
    order = [s for s in np.argsort(level, kind="stable").tolist() if level[s] >= 0]
    # What each switch reaches, as a set of switches: bit s of an integer stands for switch s. First
    # by hops down only: what a switch below reaches must be known before, so begin at the lowest
    # level. Then a packet may also go up, and reach what the switch above reaches: begin at the
    # roots.
    reached = {s: 1 << s for s in order}
    for s in reversed(order):
        for neighbour in neighbours[s].tolist():
            if level[neighbour] > level[s]:
                reached[s] |= reached[neighbour]
    for s in order:
        for neighbour in neighbours[s].tolist():
            if level[neighbour] < level[s]:
                reached[s] |= reached[neighbour]
    end_bits = sum(1 << s for s in ends.tolist())
    return all(reached[s] & end_bits == end_bits for s in ends.tolist())


def _hops_from(neighbours: list[Any], sources: Int64Array) -> Int64Array:
    """Return hops from the nearest source; −1 if none leads there. int64, shape (S,)."""
    hops = np.full(len(neighbours), -1, dtype=np.int64)
    hops[sources] = 0
    frontier = sources.tolist()
    while frontier:
        next_frontier = []
        for switch in frontier:
            for neighbour in neighbours[switch].tolist():
                if hops[neighbour] < 0:
                    hops[neighbour] = hops[switch] + 1
                    next_frontier.append(neighbour)
        frontier = next_frontier
    return hops
