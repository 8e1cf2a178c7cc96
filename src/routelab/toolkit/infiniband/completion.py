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
    the route from the switch where it starts, whatever `lanes` has at the switches on its way.

    Attributes
    ----------
    topology : Topology
    steps : int32 array, shape (S, T + S)
        Next channel of packets for a destination at a switch; −1 at the destination's switch, and
        where no way leads to the destination.
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
        end = (
            f"terminal {topology.terminal_name(destination)}"
            if destination < topology.num_terminals
            else f"switch {topology.switch_names[destination - topology.num_terminals]}"
        )
        return f"switch {topology.switch_names[switch]} to {end}"


def forwarding_problem(table: RouteTable) -> str | None:
    """Return why no forwarding tables can hold a route table; None if some can.

    They hold one next hop for each switch and destination, and a packet keeps its virtual channel.
    The reason names the first pair, or switch and destination, for which that is not so.
    """
    if table.flow_control != "plain":
        return f"the table needs {table.flow_control} flow control, which InfiniBand lacks"
    multipath = np.flatnonzero(np.diff(table.pair_start) > 1)
    if multipath.size:
        pair = table.describe_pair(int(multipath[0]))
        return f"from {pair} there are several paths; an LFT holds one"
    first_hop = np.repeat(table.path_start[:-1], table.path_length)  # of the path of each hop
    changes = np.flatnonzero(table.hop_vc != table.hop_vc[first_hop])
    if changes.size:
        hop = int(changes[0])
        path = int(np.searchsorted(table.path_start, hop, side="right")) - 1
        pair = table.describe_pair(int(table.path_pair[path]))
        switch = table.topology.channel_source[table.hop_channel[hop]]
        return (
            f"the path from {pair} changes its virtual channel at switch "
            f"{table.topology.switch_names[switch]}; one SL keeps one VL"
        )
    if table.next_hops() is None:
        return _describe_conflict(table)
    return None


def _describe_conflict(table: RouteTable) -> str:
    """Return why a table is not destination-based: the first switch with two ways to one end."""
    topology = table.topology
    path = np.repeat(np.arange(table.num_paths), table.path_length)
    destination = table.path_pair[path] % table.num_destinations
    switch = topology.channel_source[table.hop_channel]
    # Compare each hop with the first hop from the same switch to the same destination.
    entry = switch.astype(np.int64) * table.num_destinations + destination
    _, first_hops, group = np.unique(entry, return_index=True, return_inverse=True)
    first_hop = first_hops[group]
    differs = table.hop_channel != table.hop_channel[first_hop]
    hop = int(np.flatnonzero(differs)[0])
    target = int(destination[hop])
    end = (
        f"terminal {topology.terminal_name(target)}"
        if table.per_terminal
        else f"switch {topology.switch_names[table.destination_switch[target]]}"
    )
    channels = sorted(int(table.hop_channel[h]) for h in (hop, first_hop[hop]))
    ways = " and ".join(topology.channel_name(channel) for channel in channels)
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
        raise UnsupportedError(_describe_conflict(table))
    # 1. Columns of the table's destinations, then of the switches without terminals, to which
    #    nothing leads yet (-1). A pair is on the lane of its first hop, which all its hops share. A
    #    pair at one switch has no hop, and lane 0.
    without_terminals = np.flatnonzero(topology.terminals_per_switch == 0)
    num_given = table.num_destinations
    num_columns = num_given + len(without_terminals)
    steps = np.full((topology.num_switches, num_columns), -1, dtype=np.int32)
    steps[:, :num_given] = table_steps
    pair_lanes = np.full(table.num_pairs, -1, dtype=np.int64)
    has_hops = table.path_length > 0
    pair_lanes[table.path_pair[has_hops]] = table.hop_vc[table.path_start[:-1][has_hops]]
    pair_lanes[table.path_pair[~has_hops]] = 0
    lanes = np.full(steps.shape, -1, dtype=np.int8)
    lanes[topology.endpoints, :num_given] = pair_lanes.reshape(len(topology.endpoints), -1)
    # 2. Trees to all of them, from all switches: adds to `steps` and `lanes`.
    roots = frozen_array(np.concatenate((table.destination_switch, without_terminals)), np.int32)
    stuck_switch, stuck_column = complete_trees(
        steps,
        lanes,
        roots,
        np.int64(num_given),
        topology.channel_source,
        topology.channel_target,
        *topology.outgoing,
        np.int64(virtual_channels),
    )
    # -2: the given routes have a cycle, and no route was added; -1: all routes were added; from 0
    # on: the first switch from which no route could be added, and the column of `steps`.
    if stuck_switch == -2:
        raise UnsupportedError(
            "the table's routes can deadlock: dependencies of a virtual channel form a cycle"
        )
    # 3. The column of each terminal and each switch. That of a switch with terminals is the column
    #    of its first terminal: backwards, the first one writes last.
    column_of_switch = np.full(topology.num_switches, -1)
    column_of_switch[without_terminals] = np.arange(num_given, num_columns)
    column_of_switch[topology.terminal_switch[::-1]] = table.terminal_destination[::-1]
    column = np.concatenate((table.terminal_destination, column_of_switch))
    tables = CompleteTables(
        topology,
        frozen_array(steps[:, column], np.int32),
        frozen_array(np.maximum(lanes[:, column], 0), np.int8),
    )
    if stuck_switch >= 0:
        # Name the first terminal or switch that has this column.
        index = int(np.flatnonzero(column == stuck_column)[0])
        raise UnsupportedError(
            f"no route from {tables.describe(stuck_switch, index)} keeps {virtual_channels} "
            "virtual channel(s) free of cycles; allow more"
        )
    return tables


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
        Virtual channel of a reply, which goes back to the terminal that sent the request: that of
        the route back (own), or that of the request (same). ``same`` proves both cases.
    manager : int, optional
        Terminal of the subnet manager: all routes from and to it are on virtual channel 0, too.
    """
    topology = tables.topology
    switches = frozen_array(np.arange(topology.num_switches), np.int32)
    ends = tables.destination_switch
    lengths, hops = table_from_next_hops(
        np.array(tables.steps), switches, ends, topology.channel_source, topology.channel_target
    )
    # −2 stands for a loop, −1 for no route, which is right only between separate parts
    loops = np.argwhere(lengths == -2)
    if loops.size:
        switch, destination = loops[0].tolist()
        return f"packets from {tables.describe(switch, destination)} are forwarded in a loop"
    part = connected_parts(topology)
    missing = np.argwhere((lengths == -1) & (part[:, np.newaxis] == part[ends]))
    if missing.size:
        switch, destination = missing[0].tolist()
        return f"no route leads from {tables.describe(switch, destination)}"
    length = np.maximum(lengths.reshape(-1), 0)
    num_lanes = int(tables.lanes.max(initial=0)) + 1
    for lane in range(num_lanes):
        on_lane = tables.lanes.reshape(-1) == lane
        if replies == "same":
            on_lane |= _reply_routes(tables, lane)
        # Hosts ask the subnet manager for paths on SL 0, whatever the lanes of their routes are.
        if lane == 0 and manager is not None:
            on_lane |= manager_routes(tables, manager).reshape(-1)
        cycle = _find_cycle(topology, hops, length, on_lane)
        if cycle:
            return f"routes on virtual channel {lane} wait for each other in a cycle: {cycle}"
    return None


def _reply_routes(tables: CompleteTables, lane: int) -> BoolArray:
    """Mark the routes of replies to requests on a lane; bool, shape (S * (T + S),).

    If terminal a sends to terminal b on this lane, the route from the switch of b to a is marked.
    """
    topology = tables.topology
    num_terminals = topology.num_terminals
    switch = topology.terminal_switch
    # Lane by sending terminal (that of its switch) and receiving terminal; none sends to itself.
    is_request = tables.lanes[switch, :num_terminals] == lane
    np.fill_diagonal(is_request, False)
    is_reply = np.zeros(tables.lanes.shape, dtype=np.bool_)
    for sender in range(num_terminals):
        receivers = is_request[sender]
        is_reply[switch[receivers], sender] = True
    return frozen_array(is_reply.reshape(-1), np.bool_)


def _find_cycle(topology: Topology, hops: Int32Array, length: Int64Array, marked: BoolArray) -> str:
    """Return a short cycle of the dependencies of the marked routes, as channel names; "" if none.

    The marked routes share one virtual channel. `hops` has the channels of all routes, one after
    the other, and `length` the number of them in each route.
    """
    marked_hops = hops[np.repeat(marked, length)]
    path_start = frozen_array(np.concatenate(([0], np.cumsum(length[marked]))), np.int64)
    one_vc, num_vcs = np.zeros(len(marked_hops)), 1
    start, target = dependency_graph(
        path_start,
        frozen_array(marked_hops, np.int32),
        frozen_array(one_vc, np.int16),
        topology.num_channels,
        num_vcs,
    )
    # a dependency is part of a cycle exactly if both of its channels are in one component
    component = strong_components(start, target)
    source = np.repeat(np.arange(len(start) - 1), np.diff(start))
    in_cycle = component[source] == component[target]
    if not in_cycle.any():
        return ""
    cycle = short_cycle(start, target, component, in_cycle, CYCLE_BUDGET)
    return ", ".join(topology.channel_name(int(channel)) for channel in cycle)


def connected_parts(topology: Topology) -> Int64Array:
    """Return the number of the connected part of each switch; int64, shape (S,).

    Directions of channels do not count: with every channel and its reverse, the strongly connected
    components are the connected parts.
    """
    source = np.concatenate((topology.channel_source, topology.channel_target))
    target = np.concatenate((topology.channel_target, topology.channel_source))
    order = np.argsort(source, kind="stable")
    start = np.searchsorted(source[order], np.arange(topology.num_switches + 1))
    return np.asarray(
        strong_components(frozen_array(start, np.int64), frozen_array(target[order], np.int32)),
        dtype=np.int64,
    )
