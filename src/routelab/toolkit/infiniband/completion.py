"""Complete tables: from all switches to all terminals and switches, as forwarding tables need them.

A route table has routes from switches with terminals to terminals. Forwarding tables hold every LID
at every switch, also those of the switches' own ports, over which they are monitored.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from routelab.api.errors import UnsupportedError
from routelab.api.route_table import RouteTable
from routelab.api.topology import (
    BoolArray,
    Int8Array,
    Int32Array,
    Int64Array,
    Topology,
    frozen_array,
)
from routelab.kernels.dependency import dependency_graph, short_cycle, strong_components
from routelab.kernels.forwarding.completion import complete_trees
from routelab.kernels.routes import table_from_next_hops
from routelab.toolkit.infiniband.entries import destination_switches

CYCLE_BUDGET = 50_000_000
"""Largest number of dependencies to visit for a short cycle."""


@dataclass(frozen=True, eq=False)
class CompleteTables:
    """One next hop from each switch to each destination, and the virtual channel of each route.

    Destinations are the T terminals, then the S switches. A packet stays on the virtual channel of
    the route from the switch where it starts.

    Attributes
    ----------
    topology : Topology
    steps : int32 array, shape (S, T + S)
        Channel; −1 at the destination's switch, and where no way leads to the destination.
    lanes : int8 array, shape (S, T + S)
        Virtual channel of packets that start at a terminal of the switch, or at the switch itself;
        0 where no way leads to the destination.
    """

    topology: Topology
    steps: Int32Array
    lanes: Int8Array

    @property
    def destination_switch(self) -> Int32Array:
        """Switch of each destination; int32, shape (T + S,)."""
        return destination_switches(self.topology)

    def describe(self, switch: int, destination: int) -> str:
        """Describe a switch and a destination, e.g. ``switch s3 to terminal h7``."""
        topology = self.topology
        there = destination - topology.num_terminals
        end = (
            f"terminal {topology.terminal_name(destination)}"
            if there < 0
            else f"switch {topology.switch_names[there]}"
        )
        return f"switch {topology.switch_names[switch]} to {end}"


def forwarding_problem(table: RouteTable) -> str | None:
    """Return why no forwarding tables can hold a route table; None if some can.

    Names the first switch and destination that are against it.
    """
    if table.flow_control != "plain":
        return f"the table needs {table.flow_control} flow control, which InfiniBand lacks"
    several = np.flatnonzero(np.diff(table.pair_start) > 1)
    if several.size:
        pair = table.describe_pair(int(several[0]))
        return f"from {pair} there are several paths; an LFT holds one"
    begin = np.repeat(table.path_start[:-1], table.path_length)
    changes = np.flatnonzero(table.hop_vc != table.hop_vc[begin]) if len(begin) else begin
    if changes.size:
        path = int(np.searchsorted(table.path_start, changes[0], side="right")) - 1
        pair = table.describe_pair(int(table.path_pair[path]))
        switch = table.topology.channel_source[table.hop_channel[changes[0]]]
        return (
            f"the path from {pair} changes its virtual channel at switch "
            f"{table.topology.switch_names[switch]}; one SL keeps one VL"
        )
    if table.next_hops() is None:
        return _first_conflict(table)
    return None


def _first_conflict(table: RouteTable) -> str:
    """Name the first switch and destination with two next hops."""
    topology = table.topology
    path = np.repeat(np.arange(table.num_paths), table.path_length)
    destination = table.path_pair[path] % table.num_destinations
    switch = topology.channel_source[table.hop_channel]
    key = switch.astype(np.int64) * table.num_destinations + destination
    _, first_row, place = np.unique(key, return_index=True, return_inverse=True)
    differs = table.hop_channel != table.hop_channel[first_row[place]]
    hop = int(np.flatnonzero(differs)[0])
    target = int(destination[hop])
    end = (
        f"terminal {topology.terminal_name(target)}"
        if table.per_terminal
        else f"switch {topology.switch_names[table.destination_switch[target]]}"
    )
    ports = sorted({int(table.hop_channel[hop]), int(table.hop_channel[first_row[place[hop]]])})
    ways = " and ".join(topology.channel_name(channel) for channel in ports)
    return (
        f"routes to {end} leave switch {topology.switch_names[switch[hop]]} by {ways}; an LFT has "
        "one port for each destination"
    )


def complete(table: RouteTable, virtual_channels: int) -> CompleteTables:
    """Complete a table without changing its routes.

    Packets to a switch with terminals go as those to its first terminal. Trees to other
    destinations grow so that the dependencies of every virtual channel stay acyclic; see
    `routelab.kernels.forwarding.completion.complete_trees`.

    Parameters
    ----------
    table : RouteTable
        Without a `forwarding_problem`.
    virtual_channels : int
        Number of virtual channels that routes may use.

    Raises
    ------
    UnsupportedError
        If the table is not free of deadlock or needs more virtual channels; if no route can be
        added between two switches, or a pair lacks a route although its switches are connected.
    """
    topology = table.topology
    needed = table.virtual_channels
    if needed > virtual_channels:
        raise UnsupportedError(
            f"the table needs {needed} virtual channels, and {virtual_channels} are available"
        )
    table_steps = table.next_hops()
    if table_steps is None:
        raise UnsupportedError(_first_conflict(table))
    bare = np.flatnonzero(topology.terminals_per_switch == 0)
    columns = table.num_destinations
    steps = np.full((topology.num_switches, columns + len(bare)), -1, dtype=np.int32)
    steps[:, :columns] = table_steps
    lanes = np.full(steps.shape, -1, dtype=np.int8)
    lanes[topology.endpoints, :columns] = _pair_lanes(table)
    roots = frozen_array(np.concatenate((table.destination_switch, bare)), np.int32)
    switch, destination = complete_trees(
        steps,
        lanes,
        roots,
        np.int64(columns),
        topology.channel_source,
        topology.channel_target,
        *topology.outgoing,
        np.int64(virtual_channels),
    )
    if switch == -2:
        raise UnsupportedError(
            "the table's routes can deadlock: dependencies of a virtual channel form a cycle"
        )
    # columns of terminals, then of switches
    column = np.empty(topology.num_terminals + topology.num_switches, dtype=np.int64)
    column[: topology.num_terminals] = table.terminal_destination
    at_switch = np.full(topology.num_switches, -1)
    at_switch[bare] = columns + np.arange(len(bare))
    at_switch[topology.terminal_switch[::-1]] = table.terminal_destination[::-1]
    column[topology.num_terminals :] = at_switch
    tables = CompleteTables(
        topology,
        frozen_array(steps[:, column], np.int32),
        frozen_array(np.maximum(lanes[:, column], 0), np.int8),
    )
    if switch >= 0:
        index = int(np.flatnonzero(column == destination)[0])
        raise UnsupportedError(
            f"no route from {tables.describe(switch, index)} keeps {virtual_channels} virtual "
            "channel(s) free of cycles; allow more"
        )
    return tables


def _pair_lanes(table: RouteTable) -> Int64Array:
    """Return the virtual channel of each pair; −1 without a route. Shape (P, D)."""
    lane = np.full(table.num_pairs, -1, dtype=np.int64)
    first_hop = table.path_start[:-1]
    used = table.path_length > 0
    lane[table.path_pair[used]] = table.hop_vc[first_hop[used]]
    lane[table.path_pair[~used]] = 0
    return lane.reshape(len(table.topology.endpoints), -1)


def manager_routes(tables: CompleteTables, terminal: int) -> BoolArray:
    """Mark the routes from and to the terminal of the subnet manager; bool, shape (S, T + S)."""
    routes = np.zeros(tables.steps.shape, dtype=np.bool_)
    routes[:, terminal] = True
    routes[tables.topology.terminal_switch[terminal]] = True
    return frozen_array(routes & (tables.steps >= 0), np.bool_)


def check_tables(
    tables: CompleteTables, *, replies: str = "own", manager: int | None = None
) -> str | None:
    """Walk all routes and prove them free of deadlock; return the first problem, or None.

    Parameters
    ----------
    tables : CompleteTables
    replies : {"own", "same"}
        Which virtual channel packets take back to a terminal that sent some: that of the route
        back, or that on which the terminal sent. ``same`` covers both.
    manager : int, optional
        Terminal of the subnet manager: all routes from and to it are on virtual channel 0, too.
    """
    topology = tables.topology
    switches = frozen_array(np.arange(topology.num_switches), np.int32)
    ends = tables.destination_switch
    lengths, hops = table_from_next_hops(
        np.array(tables.steps), switches, ends, topology.channel_source, topology.channel_target
    )
    looping = np.argwhere(lengths == -2)
    if looping.size:
        return f"packets from {tables.describe(*looping[0].tolist())} are forwarded in a loop"
    part = connected_parts(topology)
    lost = np.argwhere((lengths == -1) & (part[:, np.newaxis] == part[ends]))
    if lost.size:
        return f"no route leads from {tables.describe(*lost[0].tolist())}"
    length = np.maximum(lengths.reshape(-1), 0)
    vcs = int(tables.lanes.max(initial=0)) + 1
    for lane in range(vcs):
        routes = tables.lanes.reshape(-1) == lane
        if replies == "same":
            routes |= _reply_routes(tables, lane)
        if lane == 0 and manager is not None:
            routes |= manager_routes(tables, manager).reshape(-1)
        cycle = _cycle(topology, hops, length, routes)
        if cycle:
            return f"routes on virtual channel {lane} wait for each other in a cycle: {cycle}"
    return None


def _reply_routes(tables: CompleteTables, lane: int) -> BoolArray:
    """Mark the routes of replies to requests on a lane; bool, shape (S * (T + S),)."""
    topology = tables.topology
    terminals = topology.num_terminals
    at = topology.terminal_switch
    request = tables.lanes[at, :terminals] == lane  # terminal to terminal
    np.fill_diagonal(request, False)
    reply = np.zeros(tables.lanes.shape, dtype=np.bool_)
    for source in range(terminals):
        reply[at[request[source]], source] = True
    return frozen_array(reply.reshape(-1), np.bool_)


def _cycle(topology: Topology, hops: Int32Array, length: Int64Array, chosen: BoolArray) -> str:
    """Return a short cycle of the dependencies of the marked routes, as channel names; "" if none.

    The marked routes share one virtual channel. `hops` has the channels of all routes, one after
    the other, and `length` the number of them in each route.
    """
    chosen_hops = hops[np.repeat(chosen, length)]
    path_start = frozen_array(np.concatenate(([0], np.cumsum(length[chosen]))), np.int64)
    one_vc, virtual_channels = np.zeros(len(chosen_hops)), 1
    graph = dependency_graph(
        path_start,
        frozen_array(chosen_hops, np.int32),
        frozen_array(one_vc, np.int16),
        topology.num_channels,
        virtual_channels,
    )
    component = strong_components(*graph)
    source = np.repeat(np.arange(len(graph[0]) - 1), np.diff(graph[0]))
    inside = component[source] == component[graph[1]]
    if not inside.any():
        return ""
    cycle = short_cycle(*graph, component, inside, CYCLE_BUDGET)
    return ", ".join(topology.channel_name(int(channel)) for channel in cycle)


def connected_parts(topology: Topology) -> Int64Array:
    """Return the number of the connected part of each switch; int64, shape (S,)."""
    links = frozen_array(
        np.concatenate((topology.channel_target, topology.channel_source)), np.int32
    )
    tails = np.concatenate((topology.channel_source, topology.channel_target))
    order = np.argsort(tails, kind="stable")
    start = np.searchsorted(tails[order], np.arange(topology.num_switches + 1))
    return np.asarray(
        strong_components(frozen_array(start, np.int64), frozen_array(links[order], np.int32)),
        dtype=np.int64,
    )
