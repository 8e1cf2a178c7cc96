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
    """A loop of forwarding entries.

    Attributes
    ----------
    channels : tuple of int
        In the order of travel.
    destinations : tuple of int
        Whose packets never leave it.
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
    topology, steps = tables.topology, tables.entries.steps
    switches, count = steps.shape
    arrived, lost = switches, switches + 1
    follow = np.empty((switches + 2, count), dtype=np.int32)
    # the step −1 takes the last element
    follow[:switches] = np.append(topology.channel_target, lost)[steps]
    follow[arrived], follow[lost] = arrived, lost
    delivered = np.flatnonzero(tables.entries.is_delivered)
    follow[tables.ends[delivered], delivered] = arrived
    # after k rounds each packet has made 2^k steps; in a loop it is still on the way
    for _ in range(switches.bit_length()):
        follow = np.take_along_axis(follow, follow, axis=0)
    end = follow[:switches]
    fates = np.where(end == arrived, ARRIVES, np.where(end == lost, IS_LOST, LOOPS))
    destinations_of_loop: dict[tuple[int, ...], list[int]] = {}
    for destination in np.flatnonzero((fates == LOOPS).any(axis=0)).tolist():
        column = end[:, destination]
        looping: set[int] = set()
        for begin in np.unique(column[column < switches]).tolist():
            switch, channels = begin, []
            while switch not in looping:
                looping.add(switch)
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
