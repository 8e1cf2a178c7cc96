"""Tables of next hops as CSV, an entry a line.

The heading is ``switch,target,switches``; in each line below, a switch, a target, and the next hops
of packets for it there, each in a cell of its own. Several next hops are a choice::

    switch,target,switches
    A,C,B,D
    B,C,C
    D,C,C@1

``switch,target,next`` is the same heading. Hops are written as in `routelab.toolkit.route_list`: as
switches, ports or links, with ``@1`` for
virtual channel 1. A target is a switch with terminals, or a terminal that has a name: then it may
have other next hops than its switch. Entries of a switch for itself or its terminals are ignored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from routelab.api import InputError, Topology
from routelab.api.topology import BoolArray, Int16Array, Int32Array, Int64Array
from routelab.kernels.next_hops import reachable_entries
from routelab.kernels.route_list import NO_CHANNEL, NO_VC
from routelab.toolkit.pair_list import Pairs, select_pairs
from routelab.toolkit.route_cells import (
    MAX_VC,
    Form,
    Rows,
    channel_texts,
    csv_cell,
    hop_cells,
    hop_text,
    look_up_ends,
    look_up_switches,
    network_of,
    require_size,
    walk_hops,
)


@dataclass(frozen=True, eq=False)
class NextHops:
    """A table of next hops: for each of S switches and D destinations, the candidates.

    Attributes
    ----------
    topology : Topology
    destination_names : tuple of str
        Names of the destinations: switches, or terminals.
    destination_switch : int32 array, shape (D,)
    sources : int32 array
        Switches where packets may begin: those with terminals. If the topology was built from the
        table, which does not say where terminals are, all switches that have an entry.
    entry_start : int64 array, shape (S * D + 1,)
        Entry ``v * D + d`` is that of switch v for destination d. Entry e has the candidates
        ``entry_start[e]:entry_start[e + 1]``, none if the table does not list it.
    channel : int32 array
        Channel of each candidate.
    vc : int16 array
        Virtual channel of each candidate.
    """

    topology: Topology
    destination_names: tuple[str, ...]
    destination_switch: Int32Array
    sources: Int32Array
    entry_start: Int64Array
    channel: Int32Array
    vc: Int16Array

    @property
    def virtual_channels(self) -> int:
        """Number of virtual channels: the largest of `vc` plus 1."""
        return int(self.vc.max(initial=0)) + 1

    @property
    def may_begin(self) -> BoolArray:
        """Whether packets may begin at each entry; bool, shape (S * D,)."""
        num_destinations = len(self.destination_names)
        may_begin = np.zeros((self.topology.num_switches, num_destinations), np.bool_)
        may_begin[self.sources] = True
        return may_begin.reshape(-1)

    @property
    def has_choice(self) -> bool:
        """Whether an entry has several candidates."""
        return bool((np.diff(self.entry_start) > 1).any())

    def select_destinations(self, chosen: BoolArray) -> NextHops:
        """Return the table with the entries for some of the D destinations; others are empty."""
        return self.select_entries(np.tile(chosen, self.topology.num_switches))

    def select_entries(self, chosen: BoolArray) -> NextHops:
        """Return the table with some of the S * D entries; the others have no candidates.

        `chosen` is a bool array of all entries.
        """
        counts = np.diff(self.entry_start)
        is_chosen = np.repeat(chosen, counts)
        # False counts as 0, so an entry that is not chosen has no candidates left.
        entry_start = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts * chosen)))
        return replace(
            self,
            entry_start=entry_start,
            channel=self.channel[is_chosen],
            vc=self.vc[is_chosen],
        )

    @cached_property
    def destination_of_terminal(self) -> Int64Array:
        """Destination of packets for each terminal, −1 if there is none; int64, shape (T,).

        If the table has entries for the terminal by its own name, its packets follow these; if not,
        they follow the entries for its switch.
        """
        topology = self.topology
        number = {name: d for d, name in enumerate(self.destination_names)}
        switches = topology.terminal_switch.tolist()
        destination = np.array([number.get(topology.switch_names[s], -1) for s in switches])
        for terminal, name in enumerate(topology.terminal_names):
            by_name = number.get(name, -1)
            # The name may also be that of another switch, to which the entry then belongs.
            if by_name >= 0 and self.destination_switch[by_name] == switches[terminal]:
                destination[terminal] = by_name
        return destination

    def entry_names(self, entry: int) -> tuple[str, str]:
        """Return the names of the switch and the destination of an entry."""
        switch, destination = divmod(entry, len(self.destination_names))
        return self.topology.switch_names[switch], self.destination_names[destination]


@dataclass(frozen=True, eq=False)
class NextHopList:
    """What `read_next_hops` finds in a file: a table if all next hops exist, otherwise faults.

    Attributes
    ----------
    network : Topology
    table : NextHops or None
        None if a next hop does not exist.
    num_entries : int
        Number of lines with next hops for another switch; with `senders`, only of those lines that
        their packets use.
    senders : Pairs or None
        The pairs of the list of senders that the caller gave, in groups of one target terminal;
        None if it gave none: then all terminals send to all.
    faults : int
        Number of next hops that do not exist; 0 with a table.
    first_fault : str
        What is wrong with the first of them, with its line; empty with a table.
    """

    network: Topology
    table: NextHops | None
    num_entries: int
    senders: Pairs | None = None
    faults: int = 0
    first_fault: str = ""


def read_next_hops(
    rows: Rows,
    topology: Topology | None = None,
    vcs: int | None = None,
    senders: Rows | None = None,
) -> NextHopList:
    """Look up the next hops of a table in the network.

    Parameters
    ----------
    rows : Rows
        From `routelab.toolkit.route_cells.read_rows`.
    topology : Topology, optional
        The network (default: what the table uses; see `route_cells.network_of`).
    vcs : int, optional
        Virtual channels that the network has (default: as many as the table uses).
    senders : Rows, optional
        Pairs that send packets, from `routelab.toolkit.route_cells.read_pairs` (default: all).
        Entries to which none of their packets come are left out.

    Raises
    ------
    InputError
        If a line is damaged, has no next hops, or is a second entry of a switch and target; if the
        network that explains the hops is missing; if no packet of `senders` has an entry.
    """
    # 1. The network, and the entry of each row: ``switch * D + destination``.
    network = network_of(rows, topology)
    if topology is None and senders is not None:
        network = _add_senders(network, senders)
    targets, first_row, destination = np.unique(rows.target, return_index=True, return_inverse=True)
    require_size(rows, network.num_switches * len(targets))
    target_ends = look_up_ends(rows, rows.target, network)
    destination_switch = network.endpoints[target_ends.endpoint[first_row]]
    switch = look_up_switches(rows, rows.source, network)
    entry = switch.astype(np.int64) * len(targets) + destination
    # 2. Each entry has one row, and its next hops.
    order = np.argsort(entry, kind="stable")
    repeated = np.flatnonzero(np.diff(entry[order]) == 0)
    if repeated.size:
        second = int(order[repeated[0] + 1])
        raise InputError(
            f"{rows.location(second)}: a second entry of "
            f"{rows.texts[int(rows.source[second])]} for {rows.texts[int(rows.target[second])]}; "
            "list all next hops in one line"
        )
    # Packets at their own switch leave the network there, so entries for them are ignored.
    is_away = switch != destination_switch[destination]
    if not is_away.any():
        raise InputError(f"{rows.path} has no next hops for other switches")
    rows, switch, entry = rows.select(is_away), switch[is_away], entry[is_away]
    empty = np.flatnonzero(rows.first == rows.end)
    if empty.size:
        first_empty = int(empty[0])
        raise InputError(
            f"{rows.location(first_empty)}: "
            f"{rows.texts[int(rows.source[first_empty])]} has no "
            f"next hop for {rows.texts[int(rows.target[first_empty])]}"
        )
    # 3. The channel of each next hop. `walk_hops` follows it like a route of one hop, and also
    #    reports routes that do not end at their target. A next hop may end at any switch: so the
    #    target is arbitrary, and only faults of the hop itself count.
    vcs = MAX_VC + 1 if vcs is None else vcs
    _, _, row = rows.walks()
    source = switch[row]
    fault, fault_cell, found = walk_hops(rows, network, source=source, target=source, vcs=vcs)
    is_faulty = (fault == NO_CHANNEL) | (fault == NO_VC)
    # 4. The table of all hops that exist, entry after entry. Hops of one entry keep their order.
    hops = np.flatnonzero(~is_faulty)
    hops = hops[np.argsort(entry[row[hops]], kind="stable")]
    counts = np.bincount(entry[row[hops]], minlength=network.num_switches * len(targets))
    table = NextHops(
        topology=network,
        destination_names=tuple(rows.texts[cell] for cell in targets.tolist()),
        destination_switch=destination_switch,
        sources=network.endpoints if topology is not None else np.unique(switch),
        entry_start=np.concatenate((np.zeros(1, np.int64), np.cumsum(counts))),
        channel=found.channel[hops],
        vc=found.vc[hops],
    )
    # 5. If the senders are known, only entries to which their packets come count.
    pairs, num_entries = None, len(rows.line)
    if senders is not None:
        pairs = select_pairs(senders, network, by_target=True)
        reached = _reached_entries(table, pairs, entry)
        num_entries = int(np.count_nonzero(reached[entry]))
        if not num_entries:
            raise InputError(f"{rows.path} has no next hop for a pair in {senders.path}")
        table = table.select_entries(reached)
        is_faulty &= reached[entry[row]]
    # 6. With a hop that does not exist there is no table; describe the first one.
    faulty = np.flatnonzero(is_faulty)
    if faulty.size:
        hop = int(faulty[0])
        return NextHopList(
            network,
            None,
            num_entries,
            senders=pairs,
            faults=len(faulty),
            first_fault=_describe_fault(
                rows, row=int(row[hop]), cell=int(fault_cell[hop]), fault=int(fault[hop]), vcs=vcs
            ),
        )
    return NextHopList(network, table, num_entries, pairs)


def _add_senders(network: Topology, senders: Rows) -> Topology:
    """Add a terminal to each switch that sends packets and is no target of the table.

    `network` was built from the table, so it has terminals at its targets only. Sources that it
    does not have are left out: `select_pairs` reports them.
    """
    number = {name: switch for switch, name in enumerate(network.switch_names)}
    names = [senders.texts[cell] for cell in np.unique(senders.source).tolist()]
    sources = {number[name] for name in names if name in number}
    with_terminals = network.terminal_switch.tolist()
    return Topology.create(
        family=network.family,
        num_switches=network.num_switches,
        switch_names=network.switch_names,
        terminal_switch=[*with_terminals, *sorted(sources.difference(with_terminals))],
        channel_source=network.channel_source,
        channel_target=network.channel_target,
    )


def _reached_entries(table: NextHops, pairs: Pairs, listed: Int64Array) -> BoolArray:
    """Return whether packets of some pairs come to each entry; bool, shape (S * D,).

    Parameters
    ----------
    table : NextHops
        Without the next hops that do not exist.
    pairs : Pairs
        Each target is a terminal of its own.
    listed : int64 array
        Entries of the file.
    """
    topology, num_destinations = table.topology, len(table.destination_switch)
    source = topology.endpoints[pairs.source.endpoint].astype(np.int64)
    destination = table.destination_of_terminal[pairs.target.terminal]
    needs_route = (destination >= 0) & ~pairs.is_local
    is_first = np.zeros(topology.num_switches * num_destinations, np.bool_)
    is_first[source[needs_route] * num_destinations + destination[needs_route]] = True
    is_listed = np.zeros_like(is_first)
    is_listed[listed] = True
    # Of the results, only the first is needed here: the entries that packets come to.
    reached: BoolArray = reachable_entries(
        table.entry_start,
        table.channel,
        is_first,
        table.destination_switch,
        topology.channel_target,
        topology.num_switches,
    )[0]
    # The kernel does not begin at entries without candidates. If none of the next hops of a line
    # exists, its entry has no candidates in `table`. Packets that begin there come to it all the
    # same, and its faults must be reported.
    return reached | (is_first & is_listed)


def _describe_fault(rows: Rows, row: int, cell: int, fault: int, vcs: int) -> str:
    """Describe a next hop that does not exist: that at position `cell` of ``rows.cells``."""
    switch, target = rows.texts[int(rows.source[row])], rows.texts[int(rows.target[row])]
    entry = f"line {rows.line[row]}: {switch} has packets for {target}"
    hop = hop_text(rows, cell)
    if fault == NO_VC:
        return f"{entry} take {hop!r}, a virtual channel above the last, {vcs - 1}"
    return f"{entry} take {hop!r}, and has no such link"


def next_hop_lines(table: NextHops, form: Form | None = None) -> Iterator[str]:
    """Yield the lines of a table's file.

    Parameters
    ----------
    table : NextHops
    form : {"switches", "ports", "links"}, optional
        What hops are (default: the first of these that names each channel).
    """
    form, names = channel_texts(table.topology, form)
    yield f"switch,target,{form}\n"
    for entry in np.flatnonzero(np.diff(table.entry_start)).tolist():
        hops = slice(table.entry_start[entry], table.entry_start[entry + 1])
        cells = map(csv_cell, table.entry_names(entry))
        yield ",".join([*cells, *hop_cells(names, table.channel[hops], table.vc[hops])]) + "\n"
