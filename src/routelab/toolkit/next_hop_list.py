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

import numpy as np

from routelab.api import InputError, Topology
from routelab.api.topology import BoolArray, Int16Array, Int32Array, Int64Array
from routelab.kernels.route_list import NO_CHANNEL, NO_VC
from routelab.toolkit.route_cells import (
    MAX_VC,
    Form,
    Rows,
    channel_texts,
    csv_cell,
    ends_of,
    hop_cells,
    hop_text,
    network_of,
    require_size,
    switch_of,
    walk_hops,
)


@dataclass(frozen=True, eq=False)
class NextHops:
    """A table of next hops.

    Attributes
    ----------
    topology : Topology
    destination_names : tuple of str
        The D targets.
    destination_switch : int32 array, shape (D,)
    sources : int32 array
        Switches where packets begin: those with terminals; without a network, all with an entry.
    entry_start : int64 array, shape (S * D + 1,)
        Candidates ``entry_start[v * D + d]:entry_start[v * D + d + 1]`` are those of packets for
        destination d at switch v.
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
    def has_choice(self) -> bool:
        """Whether an entry has several candidates."""
        return bool((np.diff(self.entry_start) > 1).any())

    def of_destinations(self, chosen: BoolArray) -> NextHops:
        """Return the entries for some of the D destinations."""
        counts = np.diff(self.entry_start)
        wanted = np.tile(chosen, self.topology.num_switches)
        kept = np.repeat(wanted, counts)
        start = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts * wanted)))
        return replace(self, entry_start=start, channel=self.channel[kept], vc=self.vc[kept])

    def entry_ends(self, entry: int) -> tuple[str, str]:
        """Return the names of the switch and the destination of an entry."""
        switch, destination = divmod(entry, len(self.destination_names))
        return self.topology.switch_names[switch], self.destination_names[destination]


@dataclass(frozen=True, eq=False)
class NextHopList:
    """What a file says.

    Attributes
    ----------
    network : Topology
    table : NextHops or None
        None if a next hop does not exist.
    num_entries : int
        Lines with next hops for another switch.
    faults : int
        Next hops that do not exist.
    first_fault : str
        What is wrong with the first of them, with its line.
    """

    network: Topology
    table: NextHops | None
    num_entries: int
    faults: int = 0
    first_fault: str = ""


def read_next_hops(
    rows: Rows, topology: Topology | None = None, vcs: int | None = None
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

    Raises
    ------
    InputError
        If a line is damaged, lacks next hops or what they mean, or is a second entry of a switch
        and target.
    """
    network = network_of(rows, topology)
    targets, destination = np.unique(rows.target, return_inverse=True)
    require_size(rows, network.num_switches * len(targets))
    ends = network.endpoints[ends_of(rows, targets, network)[0]]
    switch = switch_of(rows, rows.source, network)
    entry = switch.astype(np.int64) * len(ends) + destination
    order = np.argsort(entry, kind="stable")
    twice = np.flatnonzero(np.diff(entry[order]) == 0)
    if twice.size:
        second = int(order[twice[0] + 1])
        raise InputError(
            f"{rows.path}, line {rows.line[second]}: a second entry of "
            f"{rows.texts[int(rows.source[second])]} for {rows.texts[int(rows.target[second])]}; "
            "list all next hops in one line"
        )
    rows, switch, entry = _without_home(rows, switch != ends[destination], switch, entry)
    empty = np.flatnonzero(rows.first == rows.end)
    if empty.size:
        line = int(empty[0])
        raise InputError(
            f"{rows.path}, line {rows.line[line]}: {rows.texts[int(rows.source[line])]} has no "
            f"next hop for {rows.texts[int(rows.target[line])]}"
        )
    vcs = MAX_VC + 1 if vcs is None else vcs
    row = rows.walks()[2]
    at = switch[row]
    # a hop is a walk that may end anywhere
    fault, place, (_, channel, vc) = walk_hops(rows, network, at, at, vcs)
    faulty = np.flatnonzero((fault == NO_CHANNEL) | (fault == NO_VC))
    if faulty.size:
        walk = int(faulty[0])
        text = _fault_text(rows, int(row[walk]), int(place[walk]), int(fault[walk]), vcs)
        return NextHopList(network, None, len(rows.line), len(faulty), text)
    by_entry = np.argsort(entry[row], kind="stable")
    counts = np.bincount(entry[row], minlength=network.num_switches * len(ends))
    table = NextHops(
        network,
        tuple(rows.texts[cell] for cell in targets.tolist()),
        ends,
        network.endpoints if topology is not None else np.unique(switch),
        np.concatenate((np.zeros(1, np.int64), np.cumsum(counts))),
        channel[by_entry],
        vc[by_entry],
    )
    return NextHopList(network, table, len(rows.line))


def _without_home(
    rows: Rows, away: np.ndarray, switch: Int32Array, entry: Int64Array
) -> tuple[Rows, Int32Array, Int64Array]:
    """Leave out the entries of switches for themselves."""
    if not away.any():
        raise InputError(f"{rows.path} has no next hops for other switches")
    return rows.select(away), switch[away], entry[away]


def _fault_text(rows: Rows, row: int, cell: int, fault: int, vcs: int) -> str:
    """Describe a next hop that does not exist."""
    entry = f"{rows.texts[int(rows.source[row])]} has packets for "
    entry += rows.texts[int(rows.target[row])]
    hop = hop_text(rows, cell)
    place = f"line {rows.line[row]}: {entry}"
    if fault == NO_VC:
        return f"{place} take {hop!r}, a virtual channel above the last, {vcs - 1}"
    return f"{place} take {hop!r}, and has no such link"


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
        cells = map(csv_cell, table.entry_ends(entry))
        yield ",".join([*cells, *hop_cells(names, table.channel[hops], table.vc[hops])]) + "\n"
