"""Where packets for each LID end: at their destination, nowhere, or never."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from routelab.api import RouteTable
from routelab.api.topology import Int8Array, frozen_array
from routelab.cluster.infiniband.inputs import FabricTables
from routelab.kernels.routes import table_from_next_hops

ARRIVES, IS_LOST, LOOPS = 0, 1, 2
"""Fates of a packet."""


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
    loops : tuple of Loop
        Each loop once, with all of its destinations.
    """
    # 1. One step: where packets at a node go next, for each destination. Nodes are the switches
    #    and two where packets stay.
    topology, steps = tables.topology, tables.entries.steps
    switches, destinations = steps.shape
    arrived, lost = switches, switches + 1
    next_node = np.empty((switches + 2, destinations), dtype=np.int32)
    # the step −1 takes the last element
    next_node[:switches] = np.append(topology.channel_target, lost)[steps]
    next_node[arrived], next_node[lost] = arrived, lost
    delivered = np.flatnonzero(tables.entries.is_delivered)
    next_node[tables.ends[delivered], delivered] = arrived
    # 2. All steps: each round doubles them. After more steps than there are switches, a packet that
    #    is still at a switch is in a loop.
    for _ in range(switches.bit_length()):
        next_node = np.take_along_axis(next_node, next_node, axis=0)
    end = next_node[:switches]
    fates = np.where(end == arrived, ARRIVES, np.where(end == lost, IS_LOST, LOOPS))
    # 3. Each loop of a destination, once round from the smallest switch where packets end in it.
    destinations_of_loop: dict[tuple[int, ...], list[int]] = {}
    for destination in np.flatnonzero((fates == LOOPS).any(axis=0)).tolist():
        column = end[:, destination]
        in_loops: set[int] = set()
        for first_switch in np.unique(column[column < switches]).tolist():
            switch, channels = first_switch, []
            while switch not in in_loops:
                in_loops.add(switch)
                channels.append(int(steps[switch, destination]))
                switch = int(topology.channel_target[channels[-1]])
            if channels:
                destinations_of_loop.setdefault(tuple(channels), []).append(destination)
    loops = tuple(Loop(channels, tuple(ends)) for channels, ends in destinations_of_loop.items())
    return frozen_array(fates, np.int8), loops


def host_routes(tables: FabricTables) -> RouteTable:
    """Return the routes from all switches with hosts to all hosts that packets arrive at."""
    topology = tables.topology
    terminals = np.arange(topology.num_terminals)
    switch_of_host = topology.terminal_switch
    steps = tables.entries.steps[:, : topology.num_terminals].copy()
    delivered = tables.entries.is_delivered[: topology.num_terminals]
    steps[:, ~delivered] = -1
    steps[switch_of_host[delivered], terminals[delivered]] = -1
    lengths, hops = table_from_next_hops(
        np.ascontiguousarray(steps),
        topology.endpoints,
        switch_of_host,
        topology.channel_source,
        topology.channel_target,
    )
    lengths[:, ~delivered] = -1
    return RouteTable.from_lengths(topology, lengths, hops, per_terminal=True)
