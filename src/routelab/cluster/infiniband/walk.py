"""Where packets for each LID end: at their destination, nowhere, or never."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from routelab.api import RouteTable
from routelab.api.topology import Int8Array, frozen_array
from routelab.cluster.infiniband.inputs import FabricTables
from routelab.kernels.routes import table_from_next_hops

ARRIVES, IS_LOST, LOOPS = 0, 1, 2
"""Fates of a packet: it arrives, a switch has no way for it, or it never leaves a loop."""


@dataclass(frozen=True)
class Loop:
    """A forwarding loop: entries that send packets round in a circle.

    Attributes
    ----------
    channels : tuple of int
        Channels of the topology, in the order of travel.
    destinations : tuple of int
        Destinations whose packets never leave it, with the numbers of `FabricTables`: the T
        terminals, then the S switches.
    """

    channels: tuple[int, ...]
    destinations: tuple[int, ...]


def fates_of(tables: FabricTables) -> tuple[Int8Array, tuple[Loop, ...]]:
    """Return what happens to packets from each switch to each destination, and all loops.

    Returns
    -------
    fates : int8 array, shape (S, T + S)
        `ARRIVES`, `IS_LOST` or `LOOPS`.
    loops : tuple of Loop
        Each loop once, with all of its destinations.
    """
    # 1. One hop: where packets at a node go next, by node and destination. Nodes are the switches
    #    and two more, `arrived` and `lost`, where packets stay.
    topology, steps = tables.topology, tables.entries.steps
    num_switches, num_destinations = steps.shape
    arrived, lost = num_switches, num_switches + 1
    next_node = np.empty((num_switches + 2, num_destinations), dtype=np.int32)
    # An entry without a channel has the step −1, and so takes the last element, which is `lost`.
    next_node[:num_switches] = np.append(topology.channel_target, lost)[steps]
    next_node[arrived], next_node[lost] = arrived, lost
    delivered = np.flatnonzero(tables.entries.is_delivered)
    next_node[tables.ends[delivered], delivered] = arrived

    # 2. All hops: each round doubles them, 1, 2, 4, ... For 5 switches, a number of 3 bits, there
    #    are 3 rounds and 8 hops. After more hops than there are switches, a packet that is still at
    #    a switch is in a loop.
    for _ in range(num_switches.bit_length()):
        next_node = np.take_along_axis(next_node, next_node, axis=0)
    last_node = next_node[:num_switches]
    fates = np.where(last_node == arrived, ARRIVES, np.where(last_node == lost, IS_LOST, LOOPS))

    # 3. Follow the loops of each destination. The packets that began at the switches of a loop have
    #    all made the same number of hops, so there is again one at each of these switches. The
    #    first one in ascending order is therefore the smallest switch of the loop, whatever the
    #    destination: the same loop always has the same list of channels. From its other switches
    #    there is nothing left to follow.
    destinations_of_loop: dict[tuple[int, ...], list[int]] = {}
    for destination in np.flatnonzero((fates == LOOPS).any(axis=0)).tolist():
        last_switches = last_node[fates[:, destination] == LOOPS, destination]
        visited: set[int] = set()
        for first_switch in np.unique(last_switches).tolist():
            switch, channels = first_switch, []
            while switch not in visited:
                visited.add(switch)
                channels.append(int(steps[switch, destination]))
                switch = int(topology.channel_target[channels[-1]])
            if channels:
                destinations_of_loop.setdefault(tuple(channels), []).append(destination)
    loops = tuple(
        Loop(channels, tuple(destinations))
        for channels, destinations in destinations_of_loop.items()
    )
    return frozen_array(fates, np.int8), loops


def host_routes(tables: FabricTables) -> RouteTable:
    """Return the routes from all switches with hosts to all hosts, as far as packets arrive."""
    topology = tables.topology
    terminals = np.arange(topology.num_terminals)
    switch_of_host = topology.terminal_switch
    next_hop = tables.entries.steps[:, : topology.num_terminals].copy()
    delivered = tables.entries.is_delivered[: topology.num_terminals]
    # −1 ends a route: at the host's switch, and everywhere if that switch does not deliver the
    # packets.
    next_hop[:, ~delivered] = -1
    next_hop[switch_of_host[delivered], terminals[delivered]] = -1
    lengths, hops = table_from_next_hops(
        np.ascontiguousarray(next_hop),
        topology.endpoints,
        switch_of_host,
        topology.channel_source,
        topology.channel_target,
    )
    # Length −1 is no route. A source at the host's own switch would otherwise have the length 0,
    # although the switch does not deliver its packets either.
    lengths[:, ~delivered] = -1
    return RouteTable.from_lengths(topology, lengths, hops, per_terminal=True)
