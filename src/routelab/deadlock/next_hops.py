"""Tables of next hops, also with a choice: the criterion, and the proof that it suffices.

A packet at a switch may take the *candidates* of the table's entry for its destination: virtual
channels of channels (*resources*), each with a buffer at the far end. Its head packet waits, as
`Waits` says, for

``any``
    whichever candidate has room first;
``one``
    one candidate, chosen in any way when the packet arrives;
``escape``
    the first candidate; others are taken only if they have room at once.

Criterion
---------
Buffers are removed one after the other. A buffer may go when every packet that can be at its head
is at its destination or waits for a removed one: *some* candidate (``any``), *each* candidate
(``one``), or the *first* (``escape``) has been removed before. If all buffers go, the order of
removal is the proof.

Where the network declares flow control by channel, a buffer that keeps a bubble takes a packet only
with room for two, so it needs that much (`declared_flow_control`); an empty one then has room.

Why it suffices
---------------
Under virtual cut-through, take a reachable state with packets in it and, of the buffers that are
not empty, the one that was removed first. Its head packet is at its destination and is consumed,
or waits for a candidate that was removed before, which is empty by choice and has room. So some
packet can move in every reachable state with packets.

Under wormhole switching a packet at rest has flits in several buffers, and the argument holds only
if a packet's later buffers are removed before its earlier ones: for ``one``, where all candidates
are (Dally and Seitz, IEEE Trans. Comput. C-36, 1987, doi 10.1109/TC.1987.1676939). If the buffers
go in that order, the proof holds whatever packets wait for, because it uses none of their
freedom. If they do not, under ``any`` or ``escape`` there is no criterion here, and the verdict is
*not enough input*.

That the removal does not end proves no deadlock: the buffers that remain may never be full at the
same time.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from routelab.api.topology import BoolArray, Int32Array, Int64Array
from routelab.api.verdicts import Status
from routelab.deadlock import declared_flow_control as declared
from routelab.deadlock.certificate import list_channels
from routelab.deadlock.verdict import Switching, used_numbers
from routelab.kernels.next_hops import group_by, list_states, reachable_entries, remove_buffers
from routelab.toolkit.next_hop_list import NextHops

REMOVAL_FORMAT = "removal-order/1"
Waits = Literal["any", "one", "escape"]


@dataclass(frozen=True, eq=False)
class NextHopVerdict:
    """The outcome of `check_next_hops`.

    Attributes
    ----------
    status : Status
        ``proven``: all buffers can be removed. ``cycle``: those that remain may all wait for
        each other. ``broken``: packets come to a switch without a next hop for them, or loop. ``not
        enough input``: there is no criterion for this case, or the network does not declare all
        of its flow control. ``unproven``: channels declare a bubble, but their buffers are too
        small for one, or switching is not virtual cut-through.
    reason : str
    longest : int or None
        Hops of the longest route; None if packets may walk forever.
    routed : bool array, shape (S, D), or None
        Entry [s, d]: packets for destination d begin at switch s or come to it. None for a broken
        table.
    vc_numbers : tuple of int
        The V virtual channels that candidates use, ascending.
    waits : {"any", "one", "escape"}
        What packets wait for in the criterion that was applied.
    rank : int32 array, shape (C, V), or None
        Only for a proof: the position of each buffer in the order of removal; −1 for buffers
        without packets.
    cycle : tuple of (str, str, str)
        Only for a refusal, in words: for each step of the cycle a buffer, the next one, and the
        packets in the first that wait for the next.
    """

    status: Status
    reason: str
    longest: int | None = None
    routed: BoolArray | None = None
    vc_numbers: tuple[int, ...] = (0,)
    waits: Waits = "any"
    rank: Int32Array | None = None
    cycle: tuple[tuple[str, str, str], ...] = ()


def check_next_hops(
    table: NextHops, waits: Waits = "any", switching: Switching = "virtual-cut-through"
) -> NextHopVerdict:
    """Prove a table of next hops free of deadlock, or show buffers that wait for each other.

    Parameters
    ----------
    table : NextHops
    waits : {"any", "one", "escape"}
        What packets with several candidates wait for; see the module's docstring.
    switching : {"virtual-cut-through", "wormhole"}
    """
    # 1. From every entry that packets reach, they must come to their destination. Indices of the
    #    first entries where they do not, or −1: one without candidates, one on a loop.
    topology, destinations = table.topology, table.destination_switch
    reached, dead_end, loop, longest = reachable_entries(
        table.entry_start,
        table.channel,
        table.may_begin,
        destinations,
        topology.channel_target,
        topology.num_switches,
    )
    if dead_end >= 0:
        switch, target = table.entry_names(dead_end)
        return NextHopVerdict(
            "broken", f"packets for {target} come to {switch}, which has no next hop for them"
        )
    if loop >= 0:
        switch, target = table.entry_names(loop)
        return NextHopVerdict(
            "broken", f"packets for {target} loop: from {switch} they never come there"
        )
    # the verdicts below differ in the other fields
    verdict = partial(
        NextHopVerdict,
        longest=int(longest) if longest >= 0 else None,
        routed=reached.reshape(topology.num_switches, len(destinations)),
    )
    # 2. The states: packets at the head of buffers. Virtual channels are renumbered without gaps,
    #    because arrays have an entry for each of them; buffer number channel * V + vc.
    vc_numbers = used_numbers(table.vc)
    if len(vc_numbers) < table.virtual_channels:
        table = replace(table, vc=np.searchsorted(vc_numbers, table.vc).astype(np.int16))
    states = States(
        *list_states(
            table.entry_start,
            table.channel,
            table.vc,
            table.virtual_channels,
            reached,
            destinations,
            topology.channel_target,
        )
    )
    if topology.declares_flow_control:
        used = np.zeros(topology.num_channels, np.bool_)
        used[states.buffer // table.virtual_channels] = True
        status, obstacle = declared.find_obstacle(topology, used, switching)
        if obstacle:
            return verdict(status, obstacle)
    # 3. Remove buffers. Under wormhole switching only ``one`` has a criterion, which proves that
    #    packets never deadlock whatever they wait for.
    criterion: Waits = "one" if switching == "wormhole" and table.has_choice else waits
    rank, remains = _removal_order(table, states, criterion)
    if remains.any() and criterion != waits:
        # the stricter criterion fails, which says nothing about what packets really wait for
        return verdict(
            "not enough input",
            "the dependencies on all next hops together have a cycle, and no criterion is known "
            f"for wormhole switching if packets wait for {waits}; --waits one shows the cycle, and "
            "--switching cut-through has a criterion",
        )
    if remains.any():
        cycle = _waiting_cycle(table, states, waits, remains, vc_numbers)
        count = int(np.count_nonzero(remains))
        reason = f"{count} buffers may all wait for each other; {len(cycle)} of them in a cycle"
        channels = np.flatnonzero(remains) // table.virtual_channels
        if (topology.channel_bubble[channels] == 1).any():
            reason += ", and no criterion is known for next hops and bubbles; list the routes"
            return verdict("not enough input", reason, cycle=cycle)
        return verdict("cycle", reason, cycle=cycle)
    return verdict(
        "proven",
        "every buffer can be emptied after those that its packets wait for"
        if criterion == waits
        else "the dependencies on all next hops together are acyclic, whatever packets wait for",
        vc_numbers=vc_numbers,
        waits=criterion,
        rank=rank.reshape(-1, table.virtual_channels),
    )


class States(NamedTuple):
    """States of packets at the head of a buffer, from `list_states`; N of them.

    Attributes
    ----------
    buffer : int32 array, shape (N,)
        Buffer that the packet is in, ``channel * V + vc``.
    entry : int64 array, shape (N,)
        Entry of the switch before, by which the packet came into the buffer.
    next_entry : int64 array, shape (N,)
        Entry whose candidates the packet waits for; −1 at its destination.
    is_first : bool array, shape (N,)
        Whether the buffer is the first candidate of `entry`.
    """

    buffer: Int32Array
    entry: Int64Array
    next_entry: Int64Array
    is_first: BoolArray


def _removal_order(table: NextHops, states: States, waits: Waits) -> tuple[Int32Array, BoolArray]:
    """Find an order in which buffers can be removed, by what packets wait for.

    Returns
    -------
    rank : int32 array, shape (C * V,)
        Position of each buffer in the order of removal; −1 for those that remain, and for those
        without packets.
    remains : bool array, shape (C * V,)
        Buffers with packets that cannot be removed.
    """
    buffer, entry, next_entry, is_first = states
    num_buffers = table.topology.num_channels * table.virtual_channels
    num_entries = len(table.entry_start) - 1
    # How many candidates of an entry must be removed before packets that wait for them no longer
    # block their buffer: all for ``one``, otherwise one. Under ``escape`` only the removal of the
    # first candidate counts.
    num_needed = np.diff(table.entry_start) if waits == "one" else np.ones(num_entries, np.int64)
    is_counted = is_first if waits == "escape" else np.ones(len(buffer), np.bool_)
    buffer_start, buffer_states = group_by(buffer, num_buffers)
    waiting_start, waiting_states = group_by(next_entry, num_entries)
    rank = remove_buffers(
        buffer,
        entry,
        next_entry,
        is_counted,
        num_needed,
        buffer_start,
        buffer_states,
        waiting_start,
        waiting_states,
    )
    has_packets = np.diff(buffer_start) > 0
    return rank, has_packets & (rank < 0)


def _waiting_cycle(
    table: NextHops, states: States, waits: Waits, remains: BoolArray, vc_numbers: tuple[int, ...]
) -> tuple[tuple[str, str, str], ...]:
    """Return a cycle of buffers that remain, as `NextHopVerdict.cycle` describes it.

    A buffer remains because a packet that may be at its head waits for another one that remains.
    So a walk from each buffer to such another one must come to a buffer again.
    """
    vcs = table.virtual_channels
    candidates = table.channel * vcs + table.vc
    # 1. For each remaining buffer: the entry of a packet that blocks it, and a buffer that remains,
    #    too, and that this packet waits for.
    blocking_entry: dict[int, int] = {}
    waits_for: dict[int, int] = {}
    for buffer, entry in zip(states.buffer.tolist(), states.next_entry.tolist(), strict=True):
        is_at_destination = entry < 0
        if not remains[buffer] or is_at_destination or buffer in waits_for:
            continue
        wanted = candidates[table.entry_start[entry] : table.entry_start[entry + 1]]
        remaining = wanted[remains[wanted]]
        is_blocked = {
            "any": len(remaining) == len(wanted),
            "one": len(remaining) > 0,
            "escape": remains[wanted[0]],
        }[waits]
        if is_blocked:
            # Any of the remaining ones will do, but under ``escape`` it must be the first
            # candidate: that one remains, so it is the first here, too.
            waits_for[buffer], blocking_entry[buffer] = int(remaining[0]), entry
    # 2. Walk from any of them to the buffer that it waits for, until the walk repeats.
    path = [next(iter(waits_for))]
    while waits_for[path[-1]] not in path:
        path.append(waits_for[path[-1]])
    cycle = path[path.index(waits_for[path[-1]]) :]

    def buffer_name(buffer: int) -> str:
        return f"{table.topology.link_name(buffer // vcs)} vc {vc_numbers[buffer % vcs]}"

    # 3. Each step in words. Under ``any``, the packets also wait for their other candidates.
    steps = []
    for buffer in cycle:
        entry, wanted_name = blocking_entry[buffer], buffer_name(waits_for[buffer])
        num_others = int(table.entry_start[entry + 1] - table.entry_start[entry]) - 1
        or_others = f" or {num_others} more" if waits == "any" and num_others else ""
        _, target = table.entry_names(entry)
        steps.append((buffer_name(buffer), wanted_name + or_others, f"packets for {target}"))
    return tuple(steps)


def preconditions(table: NextHops, waits: Waits, switching: Switching) -> tuple[str, ...]:
    """Return what a verdict on a table assumes."""
    choice = {
        "any": "a packet with several next hops takes whichever has room first",
        "one": "a packet with several next hops chooses one and waits for it",
        "escape": "a packet with several next hops can always wait for the first",
    }
    return (
        "packets follow the table",
        # under wormhole switching the proof holds whatever packets wait for
        *([choice[waits]] if table.has_choice and switching != "wormhole" else []),
        *(["a buffer has room for a whole packet"] if switching != "wormhole" else []),
        *([declared.PRECONDITION] if table.topology.declares_flow_control else []),
        "every virtual channel has a buffer of its own",
        "packets at their target are always consumed",
    )


def write_removal(verdict: NextHopVerdict, table: NextHops, path: Path) -> None:
    """Write the certificate of a proof: the table, and the order of removal.

    JSON fields: ``format``; ``waits``; ``switches`` (names); ``destinations`` (the switch of each);
    ``sources`` (names of the switches where packets begin); ``channels`` (``[name, source,
    target]``); ``entries`` (``[switch, destination, [[channel, vc], ...]]``: the entry's place, and
    its candidates); ``removal`` (``[channel, vc]`` in order). In the last two, switches,
    destinations and channels are indices of the lists before. ``instances/check.py`` verifies it.
    """
    assert verdict.rank is not None
    topology, destinations = table.topology, table.destination_switch
    names = topology.switch_names
    # Buffers in the order of removal. Those without packets (rank −1) are left out.
    num_vcs = verdict.rank.shape[1]
    order = np.argsort(verdict.rank, axis=None, kind="stable")
    removed = order[verdict.rank.reshape(-1)[order] >= 0]
    # The candidates of each entry that has any. Entry number switch * len(destinations) +
    # destination.
    candidates = list(zip(table.channel.tolist(), table.vc.tolist(), strict=True))
    first, end = table.entry_start[:-1].tolist(), table.entry_start[1:].tolist()
    with_candidates = np.flatnonzero(np.diff(table.entry_start)).tolist()
    entries = [
        [*divmod(entry, len(destinations)), candidates[first[entry] : end[entry]]]
        for entry in with_candidates
    ]
    channels, vcs = np.divmod(removed, num_vcs)
    proof = {
        "format": REMOVAL_FORMAT,
        "waits": verdict.waits,
        "switches": list(names),
        "destinations": [names[switch] for switch in destinations.tolist()],
        "sources": [names[switch] for switch in table.sources.tolist()],
        "channels": list_channels(topology),
        "entries": entries,
        "removal": [
            [channel, verdict.vc_numbers[vc]]
            for channel, vc in zip(channels.tolist(), vcs.tolist(), strict=True)
        ],
    }
    path.write_text(json.dumps(proof, ensure_ascii=False), encoding="utf-8")
