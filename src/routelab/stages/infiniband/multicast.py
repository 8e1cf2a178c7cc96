"""Multicast groups of a fabric: do their entries form trees, and which lanes do copies wait for.

A switch sends a multicast packet to all ports of the group's entry except the one where the packet
came in. Entries that form a tree deliver one copy to each member, for every sender.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from routelab.api import InputError
from routelab.api.topology import BoolArray, Int32Array, Int64Array, frozen_array
from routelab.kernels.dependency import short_cycle, strong_components
from routelab.stages.infiniband.inputs import FabricTables
from routelab.toolkit.infiniband import MulticastTables
from routelab.toolkit.infiniband.completion import CYCLE_BUDGET
from routelab.toolkit.infiniband.text_lines import MAX_PORT


@dataclass(frozen=True, eq=False)
class MulticastGroups:
    """The ports of all groups at all switches, ascending by group and switch.

    Attributes
    ----------
    tables : FabricTables
    mlids : int32 array, shape (G,)
    group, switch, port : int64 array, shape (N,)
        Entries: switch `switch` sends packets of `mlids[group]` to `port`; 0 is the switch itself.
    channel : int64 array, shape (N,)
        Channel behind the port; −1 where the port has no cable to another switch.
    host : int64 array, shape (N,)
        Terminal behind the port; −1 where there is none.
    """

    tables: FabricTables
    mlids: Int32Array
    group: Int64Array
    switch: Int64Array
    port: Int64Array
    channel: Int64Array
    host: Int64Array

    @cached_property
    def copies(self) -> tuple[Int64Array, Int64Array]:
        """Pairs of entries: the second sends on what the first sent over a cable.

        Ascending by the first one.
        """
        topology = self.tables.topology
        sent = np.flatnonzero(self.channel >= 0)
        channel = self.channel[sent]
        place, entry = self._entries_at(self.group[sent], topology.channel_target[channel])
        ahead = self.port[entry] != topology.target_port[channel][place]
        return _frozen(sent[place[ahead]]), _frozen(entry[ahead])

    def of(self, chosen: BoolArray) -> MulticastGroups:
        """Return the entries of some groups; bool, shape (G,)."""
        kept = chosen[self.group]
        fields = (self.group, self.switch, self.port, self.channel, self.host)
        return MulticastGroups(self.tables, self.mlids, *(_frozen(one[kept]) for one in fields))

    def starts(self) -> tuple[Int64Array, Int64Array]:
        """Pairs of an entry and a port where packets begin that it sends.

        These are the ports of all hosts at the switch, and the switch itself (port 0) if it is in
        the group.
        """
        topology = self.tables.topology
        first, second = self._entries_at(self.group, self.switch)
        own = self.port[second] == 0
        first, second = first[own], second[own]
        host = np.argsort(topology.terminal_switch, kind="stable")
        at = topology.terminal_switch[host]
        entry, place = _ranges(
            np.searchsorted(at, self.switch), np.searchsorted(at, self.switch, side="right")
        )
        of_hosts = self.tables.addresses.terminal_port[host[place]]
        entries = np.concatenate((first, entry))
        ports = np.concatenate((self.port[second], of_hosts))
        different = ports != self.port[entries]
        return _frozen(entries[different]), _frozen(ports[different])

    def name(self, group: int) -> str:
        """Describe a group, e.g. ``MLID 0xc001``."""
        return f"MLID 0x{int(self.mlids[group]):04x}"

    def _entries_at(self, group: Int64Array, switch: np.ndarray) -> tuple[Int64Array, Int64Array]:
        """Return the number of the place, and the entry, for all entries at each place."""
        switches = self.tables.topology.num_switches
        known, wanted = self.group * switches + self.switch, group * switches + switch
        return _ranges(np.searchsorted(known, wanted), np.searchsorted(known, wanted, side="right"))


@dataclass(frozen=True, eq=False)
class MulticastFaults:
    """What is wrong with multicast groups.

    Attributes
    ----------
    texts : tuple of str
    is_faulty, has_loop : bool array, shape (G,)
    loops : tuple of tuple of int
        Channels of a loop of each group that has one.
    """

    texts: tuple[str, ...]
    is_faulty: BoolArray
    has_loop: BoolArray
    loops: tuple[tuple[int, ...], ...]


def groups_of(tables: FabricTables, given: MulticastTables, file: str) -> MulticastGroups:
    """Put multicast forwarding tables in the order of the fabric's switches.

    Raises
    ------
    InputError
        If a table is that of a switch that the fabric lacks.
    """
    topology, addresses = tables.topology, tables.addresses
    number = {guid: switch for switch, guid in enumerate(addresses.switch_guids)}
    unknown = [guid for guid in given.switch_guids if guid not in number]
    if unknown:
        raise InputError(f"{file}: has a table of switch {unknown[0]}, which the fabric lacks")
    own = np.array([number[guid] for guid in given.switch_guids], dtype=np.int64)
    mlids, group = np.unique(given.entries[:, 1], return_inverse=True)
    switch, port = own[given.entries[:, 0]], given.entries[:, 2].astype(np.int64)
    order = np.lexsort((port, switch, group))
    group, switch, port = group[order], switch[order], port[order]
    behind = np.full((2, topology.num_switches, MAX_PORT + 1), -1, dtype=np.int64)
    behind[0, topology.channel_source, addresses.channel_port] = np.arange(topology.num_channels)
    behind[1, topology.terminal_switch, addresses.terminal_port] = np.arange(topology.num_terminals)
    return MulticastGroups(
        tables,
        frozen_array(mlids, np.int32),
        *(_frozen(one) for one in (group, switch, port, *behind[:, switch, port])),
    )


def find_multicast_faults(groups: MulticastGroups) -> MulticastFaults:
    """Find loops, ports without a cable, one-sided entries, and members that are not connected."""
    found = [*_loops(groups), *_entry_faults(groups), *_separate_members(groups)]
    # the faults of each group stand together
    found.sort(key=lambda fault: fault[0])
    is_faulty, has_loop = np.zeros((2, len(groups.mlids)), dtype=np.bool_)
    is_faulty[[group for group, _, _ in found]] = True
    has_loop[[group for group, _, loop in found if loop]] = True
    return MulticastFaults(
        tuple(text for _, text, _ in found),
        frozen_array(is_faulty, np.bool_),
        frozen_array(has_loop, np.bool_),
        tuple(loop for _, _, loop in found if loop),
    )


_Fault = tuple[int, str, tuple[int, ...]]
"""Group, sentence, and channels of a loop."""


def _loops(groups: MulticastGroups) -> Iterator[_Fault]:
    """Describe a loop in each group that has some."""
    tables = groups.tables
    tail, head = groups.copies
    start = frozen_array(np.searchsorted(tail, np.arange(len(groups.group) + 1)), np.int64)
    target = frozen_array(head, np.int32)
    component = strong_components(start, target)
    inside = component[tail] == component[head]
    for group in np.unique(groups.group[tail[inside]]).tolist():
        mine = inside & (groups.group[tail] == group)
        cycle = short_cycle(start, target, component, mine, CYCLE_BUDGET)
        channels = tuple(groups.channel[cycle].tolist())
        ports = " -> ".join(tables.out_port(channel) for channel in channels)
        end = tables.topology.switch_names[tables.topology.channel_source[channels[0]]]
        yield group, f"copies of {groups.name(group)} loop: {ports} -> {end}", channels


def _entry_faults(groups: MulticastGroups) -> Iterator[_Fault]:
    """Describe each port without a cable, and each that the other end does not send back to."""
    topology = groups.tables.topology
    names, switches = topology.switch_names, topology.num_switches
    dead = (groups.channel < 0) & (groups.host < 0) & (groups.port > 0)
    for entry in np.flatnonzero(dead).tolist():
        group, port = int(groups.group[entry]), int(groups.port[entry])
        yield group, f"{_sends(groups, entry)} to port {port}, which has no cable", ()
    sent = np.flatnonzero(groups.channel >= 0)
    other = topology.channel_target[groups.channel[sent]].astype(np.int64)
    came = topology.target_port[groups.channel[sent]].astype(np.int64)
    table, wanted = groups.group * switches + groups.switch, groups.group[sent] * switches + other
    width = MAX_PORT + 1
    one_sided = ~np.isin(wanted * width + came, table * width + groups.port)
    has_entry = np.isin(wanted, table)
    for place in np.flatnonzero(one_sided).tolist():
        entry = int(sent[place])
        instead = (
            f"does not send it back to port {int(came[place])}"
            if has_entry[place]
            else "has no entry for it"
        )
        text = (
            f"{_sends(groups, entry)} to port {int(groups.port[entry])}, but switch "
            f"{names[other[place]]} at the other end {instead}"
        )
        yield int(groups.group[entry]), text, ()


def _sends(groups: MulticastGroups, entry: int) -> str:
    name = groups.tables.topology.switch_names[groups.switch[entry]]
    return f"switch {name} sends {groups.name(int(groups.group[entry]))}"


def _separate_members(groups: MulticastGroups) -> Iterator[_Fault]:
    """Describe groups with members that no cables of the group connect, in one part."""
    tables, topology = groups.tables, groups.tables.topology
    sent = np.flatnonzero(groups.channel >= 0)
    here = groups.group * topology.num_switches + groups.switch
    there = groups.group[sent] * topology.num_switches
    there += topology.channel_target[groups.channel[sent]]
    places, number = np.unique(np.concatenate((here, there)), return_inverse=True)
    tail, head = number[: len(here)][sent], number[len(here) :]
    both = np.concatenate((tail, head)), np.concatenate((head, tail))
    order = np.argsort(both[0], kind="stable")
    start = np.searchsorted(both[0][order], np.arange(len(places) + 1))
    component = strong_components(
        frozen_array(start, np.int64), frozen_array(both[1][order], np.int32)
    )
    members = np.flatnonzero((groups.host >= 0) | (groups.port == 0))
    first: dict[tuple[int, int], int] = {}
    reported = set()
    for member in members.tolist():
        group = int(groups.group[member])
        key = group, int(tables.part[groups.switch[member]])
        known = first.setdefault(key, member)
        if component[number[known]] != component[number[member]] and key not in reported:
            reported.add(key)
            ends = f"{_member(groups, known)} and {_member(groups, member)}"
            yield group, f"no cables of {groups.name(group)} connect {ends}", ()


def _member(groups: MulticastGroups, entry: int) -> str:
    topology, host = groups.tables.topology, int(groups.host[entry])
    if host < 0:
        return f"switch {topology.switch_names[groups.switch[entry]]}"
    return f"host {topology.terminal_name(host)}"


def _ranges(first: np.ndarray, end: np.ndarray) -> tuple[Int64Array, Int64Array]:
    """Return the numbers of all ranges ``first[i]:end[i]``, each after its i."""
    count = end - first
    place = np.repeat(np.arange(len(first)), count)
    begin = np.cumsum(count) - count
    return _frozen(place), _frozen(np.arange(len(place)) + (first - begin)[place])


def _frozen(values: np.ndarray) -> Int64Array:
    return frozen_array(values, np.int64)
