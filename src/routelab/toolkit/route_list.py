"""Route lists: routes as CSV, one a line, for programs and people that know nothing of routelab.

The heading names the columns: ``source,target,switches``. In each line below, the source and the
target come first, then the hops, each in a cell of its own::

    source,target,switches
    A,C,B,C
    C,A,B@1,A@1

``switches``
    Each hop is the switch that it leads to.
``ports``
    Each hop is the output port of the switch where the packet is.
``links``
    Each hop is a channel: by its ends (``A>B``) or number, as ``channels.csv`` of ``routelab
    topology`` has them, or by the name of its link, which is the one with this name that leaves
    the switch.

``@1`` behind a hop is its virtual channel; without it, 0. Sources and targets are switches, or
terminals that have names. A switch stands for those of its terminals that have no routes of their
own. Several lines of one pair are several routes of it, with equal shares of its packets; a column
``weight`` before the hops gives other shares. Routes of pairs at one switch are not listed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from routelab.api import InputError, RouteTable, Topology
from routelab.api.number_texts import read_number
from routelab.api.topology import BoolArray, Float64Array, Int16Array, Int32Array, Int64Array
from routelab.kernels.route_list import (
    ENDS_ELSEWHERE,
    LEAVES_HOME,
    NO_CHANNEL,
    NO_VC,
    WHOLE,
    gather_hops,
)
from routelab.toolkit.pair_list import Pairs, select_pairs
from routelab.toolkit.route_cells import (
    MAX_VC,
    Ends,
    Form,
    HopChannels,
    Rows,
    channel_texts,
    csv_cell,
    first_rows,
    hop_cell,
    hop_cells,
    hop_text,
    look_up_ends,
    network_of,
    parse_hops,
    require_size,
    walk_hops,
)

FAULTS = {
    NO_CHANNEL: "a link that does not exist",
    NO_VC: "a virtual channel that does not exist",
    ENDS_ELSEWHERE: "an end elsewhere",
    LEAVES_HOME: "a loop",
}
"""Faults of routes in words, as reports count them."""

MAX_ERROR = 1e-6
"""Largest difference from 1 of the sum of the weights of a pair."""


@dataclass(frozen=True, eq=False)
class RouteList:
    """The routes of a list.

    Attributes
    ----------
    rows : Rows
    network : Topology
    all_pairs : int
        Number of ordered pairs of different terminals: all, or those that send packets.
    num_pairs : int
        Number of these pairs that have a route.
    table : RouteTable or None
        All routes; None if a route has a fault.
    path : int64 array, shape (K,)
        Path of each row in the table; −1 for a row of one switch and no hops.
    served : float64 array, shape (K,)
        Pairs of terminals whose packets take the route of each row. A pair of several routes counts
        at each of them with the share of its packets.
    faults : int
        Number of lines whose route has a fault.
    faulty_pairs : dict of str to int
        Number of pairs of a source and a target with a faulty route, by the kind of the fault.
    first_fault : str
        What is wrong in the first line with a fault, and its number.
    """

    rows: Rows
    network: Topology
    all_pairs: int
    num_pairs: int
    table: RouteTable | None
    path: Int64Array
    served: Float64Array
    faults: int = 0
    faulty_pairs: dict[str, int] = field(default_factory=dict)
    first_fault: str = ""


def read_route_list(
    rows: Rows,
    topology: Topology | None = None,
    vcs: int | None = None,
    senders: Rows | None = None,
) -> RouteList:
    """Follow the routes of a list through the network.

    Parameters
    ----------
    rows : Rows
        From `routelab.toolkit.route_cells.read_rows`.
    topology : Topology, optional
        The network (default: what the routes use; see `route_cells.network_of`).
    vcs : int, optional
        Virtual channels that the network has (default: as many as the routes use).
    senders : Rows, optional
        Pairs that send packets, from `routelab.toolkit.route_cells.read_pairs` (default: all).
        Rows of other pairs are left out.

    Raises
    ------
    InputError
        If a line is damaged, the network that explains the hops is missing, or no row is a route
        of `senders`.
    """
    # 1. The network, the ends of each row, and how many pairs of terminals each pair of ends stands
    #    for: a switch stands for those of its terminals that have no rows of their own.
    network = network_of(rows, topology)
    require_size(rows, len(network.endpoints) ** 2)
    source = look_up_ends(rows, rows.source, network)
    target = look_up_ends(rows, rows.target, network)
    pair, pairs_of_terminals = _count_pairs(rows, network, source, target)
    if senders is None:
        demand = network.demand
        all_pairs = network.num_terminals * (network.num_terminals - 1)
        # Pairs at one switch need no route, and count as routed.
        num_pairs = int(pairs_of_terminals.sum() + (demand * (demand - 1)).sum())
    else:
        # 2. Only the pairs that send packets count, and only the rows that they use. If a row
        #    ends at a single terminal, pairs are grouped by terminal at that end, not by switch.
        chosen = select_pairs(
            senders, network, by_source=source.any_terminal, by_target=target.any_terminal
        )
        is_used, pairs_of_terminals, num_pairs = _find_used_rows(
            network, source, target, pair=pair, chosen=chosen
        )
        all_pairs = chosen.total
        if not is_used.any():
            raise InputError(f"{rows.path} has no route of a pair in {senders.path}")
        rows, pair = rows.select(is_used), pair[is_used]
        source, target = (
            Ends(ends.endpoint[is_used], ends.terminal[is_used]) for ends in (source, target)
        )
    # 3. Follow the hops of each row.
    served = _pair_shares(rows, _read_weights(rows), pair) * pairs_of_terminals[pair]
    vcs = MAX_VC + 1 if vcs is None else vcs
    fault, fault_cell, hops = walk_hops(
        rows,
        network,
        source=network.endpoints[source.endpoint],
        target=network.endpoints[target.endpoint],
        vcs=vcs,
    )
    # 4. With a fault in any row there is no table; count the pairs with each kind of fault. A route
    #    without a fault is `WHOLE`.
    faulty = np.flatnonzero(fault != WHOLE)
    if faulty.size:
        row = int(faulty[0])
        text = _describe_fault(rows, row, cell=int(fault_cell[row]), fault=int(fault[row]), vcs=vcs)
        faulty_pairs = {
            words: len(np.unique(pair[fault == kind]))
            for kind, words in FAULTS.items()
            if (fault == kind).any()
        }
        return RouteList(
            rows,
            network,
            all_pairs,
            num_pairs,
            table=None,
            path=np.full(len(rows.line), -1, np.int64),
            served=served,
            faults=len(faulty),
            faulty_pairs=faulty_pairs,
            first_fault=f"line {rows.line[row]}: {text}",
        )
    table, path = _sort_into_table(
        network, source=source.endpoint, target=target.endpoint, hops=hops, served=served
    )
    return RouteList(rows, network, all_pairs, num_pairs, table=table, path=path, served=served)


def _count_pairs(
    rows: Rows, topology: Topology, source: Ends, target: Ends
) -> tuple[Int64Array, Int64Array]:
    """Count the pairs of terminals that each pair of a source and a target stands for.

    A terminal that a row names has routes of its own there, and a row of its switch stands for the
    other terminals. Switch A has terminals a0 and a1, B has b0 and b1: with rows A,B and A,b0 the
    pair A,B stands for the 2 pairs to b1, and the pair A,b0 for the other 2.

    Returns
    -------
    pair : int64 array, shape (K,)
        Number of the pair of each row.
    count : int64 array, shape (number of pairs,)
        Ordered pairs of terminals at different switches that each pair stands for.
    """
    # 1. Rows with equal ends have one pair. An end is a switch, which stands for all of its
    #    terminals, or a single terminal.
    demand, num_endpoints = topology.demand, len(topology.endpoints)
    num_ends = num_endpoints + topology.num_terminals
    source_code = source.codes(num_endpoints).astype(np.int64)
    target_code = target.codes(num_endpoints)
    _, first_row, pair = np.unique(
        source_code * num_ends + target_code, return_index=True, return_inverse=True
    )
    # 2. Without rows of single terminals, a switch stands for all of its terminals.
    from_switch = source.endpoint[first_row].astype(np.int64)
    to_switch = target.endpoint[first_row].astype(np.int64)
    from_terminal, to_terminal = source.terminal[first_row] >= 0, target.terminal[first_row] >= 0
    num_sources = np.where(from_terminal, 1, demand[from_switch])
    num_targets = np.where(to_terminal, 1, demand[to_switch])
    count = num_sources * num_targets
    switch_pair = from_switch * num_endpoints + to_switch
    if from_terminal.any() or to_terminal.any():
        # 3. The pair A,b0 leaves out each pair of terminals that has rows of its own, as a0,b0 may;
        #    and so does a0,B. A list may not have both A,b0 and a0,B: each of them would stand for
        #    the packets from a0 to b0.
        terminal_to_terminal = from_terminal & to_terminal
        terminal_to_switch = from_terminal & ~to_terminal
        switch_to_terminal = ~from_terminal & to_terminal
        switch_to_switch = ~from_terminal & ~to_terminal
        ambiguous = np.intersect1d(switch_pair[switch_to_terminal], switch_pair[terminal_to_switch])
        if ambiguous.size:
            is_ambiguous = switch_to_terminal & (switch_pair == ambiguous[0])
            row = int(first_row[is_ambiguous][0])
            raise InputError(
                f"{rows.location(row)}: of the switches of "
                f"{rows.texts[int(rows.source[row])]} and {rows.texts[int(rows.target[row])]}, "
                "routes of a terminal to the other switch and of a switch to a terminal are "
                "listed; list the routes of each pair of terminals"
            )
        switch_to_end = from_switch * num_ends + target_code[first_row]
        count[switch_to_terminal] -= _count_occurrences(
            switch_to_end[switch_to_terminal], switch_to_end[terminal_to_terminal]
        )
        end_to_switch = source_code[first_row] * num_endpoints + to_switch
        count[terminal_to_switch] -= _count_occurrences(
            end_to_switch[terminal_to_switch], end_to_switch[terminal_to_terminal]
        )
        # 4. The pair A,B leaves out all pairs of terminals for which the other pairs of ends at
        #    these two switches stand.
        switch_pairs, number = np.unique(switch_pair, return_inverse=True)
        count_of_others = np.bincount(
            number, np.where(switch_to_switch, 0, count), len(switch_pairs)
        ).astype(np.int64)
        count[switch_to_switch] -= count_of_others[number[switch_to_switch]]
    count[from_switch == to_switch] = 0  # Packets inside a switch need no route.
    return pair, count


def _find_used_rows(
    topology: Topology, source: Ends, target: Ends, pair: Int64Array, chosen: Pairs
) -> tuple[BoolArray, Int64Array, int]:
    """Find the rows whose routes the packets of some pairs of terminals take.

    Parameters
    ----------
    source, target : Ends
        Ends of each row.
    pair : int64 array, shape (K,)
        Number of the pair of each row, from `_count_pairs`.
    chosen : Pairs
        Groups of these pairs of terminals.

    Returns
    -------
    is_used : bool array, shape (K,)
    count : int64 array
        Chosen pairs of terminals at different switches for each number in `pair`.
    num_pairs : int
        Number of chosen pairs that have a route.
    """
    num_endpoints = len(topology.endpoints)
    num_ends = num_endpoints + topology.num_terminals
    # 1. All listed pairs; the position of a code here is the pair's number in `pair`.
    source_code = source.codes(num_endpoints).astype(np.int64)
    listed_codes = np.unique(source_code * num_ends + target.codes(num_endpoints))
    listed_pair = np.full(len(chosen.count), -1)
    # 2. The listed pair whose rows carry the packets of each chosen group. Rows of two terminals
    #    come before rows of a terminal and a switch, and these before rows of two switches.
    for chosen_source in (chosen.source.codes(num_endpoints), chosen.source.endpoint):
        for chosen_target in (chosen.target.codes(num_endpoints), chosen.target.endpoint):
            code = chosen_source.astype(np.int64) * num_ends + chosen_target
            # For a code above all listed ones, `searchsorted` returns the position behind the last.
            # Any other does for it, because the comparison below fails there, too.
            candidate = np.minimum(np.searchsorted(listed_codes, code), len(listed_codes) - 1)
            is_found = (listed_pair < 0) & (listed_codes[candidate] == code)
            listed_pair[is_found] = candidate[is_found]
    # 3. Count the chosen pairs. Those at one switch need no route, and count as routed.
    has_row = listed_pair >= 0
    needs_route = has_row & ~chosen.is_local
    count = np.zeros(len(listed_codes), np.int64)
    np.add.at(count, listed_pair[needs_route], chosen.count[needs_route])
    num_pairs = int(chosen.count[has_row | chosen.is_local].sum())
    return np.isin(pair, listed_pair[has_row]), count, num_pairs


def _count_occurrences(values: Int64Array, among: Int64Array) -> Int64Array:
    """Return how often each of `values` occurs in `among`; 0 and 2 for 3 and 5 among 5, 5, 7."""
    ascending = np.sort(among)
    counts: Int64Array = np.searchsorted(ascending, values, "right") - np.searchsorted(
        ascending, values, "left"
    )
    return counts


def _describe_fault(rows: Rows, row: int, cell: int, fault: int, vcs: int) -> str:
    """Describe the first fault of a route; its hop is at position `cell` of ``rows.cells``.

    Raise an InputError if the first hop is the source itself: then the file means hops differently.
    """
    source, target = rows.texts[int(rows.source[row])], rows.texts[int(rows.target[row])]
    route = f"the route from {source} to {target}"
    if fault == NO_CHANNEL and cell == rows.first[row] and hop_text(rows, cell) == source:
        raise InputError(
            f"{rows.location(row)}: {route} begins with its source, and hops begin "
            f"after it: leave out the first {source!r} of the hops, in all lines"
        )
    if fault == ENDS_ELSEWHERE:
        return f"{route} does not end at its target"
    if fault == LEAVES_HOME:
        return f"{route} is a loop"
    hop = f"hop {cell - int(rows.first[row]) + 1}, {hop_text(rows, cell)!r}"
    if fault == NO_VC:
        return f"{route} needs a virtual channel above the last, {vcs - 1}, at {hop}"
    return f"{route} has no link for {hop}"


def _sort_into_table(
    topology: Topology,
    *,
    source: Int32Array,
    target: Int32Array,
    hops: HopChannels,
    served: Float64Array,
) -> tuple[RouteTable, Int64Array]:
    """Sort the routes of all rows by their pairs of switches, as a route table has them.

    Parameters
    ----------
    topology : Topology
    source, target : int32 array, shape (K,)
        Endpoints of each row.
    hops : HopChannels
        Of the K rows, without a fault.
    served : float64 array, shape (K,)
        Pairs of terminals that take the route of each row; see `RouteList`.

    Returns
    -------
    table : RouteTable
    path : int64 array, shape (K,)
        Path of each row in the table; −1 for a row of one switch.
    """
    num_endpoints = len(topology.endpoints)
    # 1. The paths of the table: the rows with hops, then a route of no hops from each endpoint i to
    #    itself, whose pair is ``i * P + i``. `order` sorts them by pair.
    pair = source.astype(np.int64) * num_endpoints + target
    with_hops = np.flatnonzero(source != target)
    local_pairs = np.arange(num_endpoints, dtype=np.int64) * (num_endpoints + 1)
    all_pairs = np.concatenate((pair[with_hops], local_pairs))
    order = np.argsort(all_pairs, kind="stable")
    routes_of_pair = np.bincount(all_pairs, minlength=num_endpoints * num_endpoints)
    # 2. The weight of each route is its share of the packets of its pair of switches. A route may
    #    serve no packets: that between two switches, if all their terminals have routes of their
    #    own. Its weight is just above 0, because tables accept no 0. If no route of a pair serves
    #    packets, all of them have equal weights.
    served_of_pair, routes_of_row = np.bincount(pair, served)[pair], np.bincount(pair)[pair]
    share = np.where(served_of_pair > 0, served / np.maximum(served_of_pair, 1), 1 / routes_of_row)
    share = np.maximum(share, np.finfo(np.float64).tiny)
    weight = np.concatenate((share[with_hops], np.ones(num_endpoints)))
    # 3. Hops, channels and virtual channels in the order of the pairs.
    no_hops = np.zeros(num_endpoints, np.int64)
    length = np.concatenate((np.diff(hops.start)[with_hops], no_hops))[order]
    first = np.concatenate((hops.start[with_hops], no_hops))[order]
    path_start = np.concatenate((np.zeros(1, np.int64), np.cumsum(length)))
    sorted_channel = np.empty(path_start[-1], np.int32)
    sorted_vc = np.empty(path_start[-1], np.int16)
    gather_hops(first, path_start, hops.channel, sorted_channel)
    gather_hops(first, path_start, hops.vc, sorted_vc)
    table = RouteTable.create(
        topology,
        pair_start=np.concatenate((np.zeros(1, np.int64), np.cumsum(routes_of_pair))),
        path_start=path_start,
        path_weight=weight[order],
        hop_channel=sorted_channel,
        hop_vc=sorted_vc,
    )
    # 4. Where sorting has put each row. Path i of the table was at `order[i]` before, so what was
    #    there is now at i. Rows with hops were in front, in the order of `with_hops`.
    sorted_position = np.empty(len(order), np.int64)
    sorted_position[order] = np.arange(len(order))
    path = np.full(len(pair), -1, np.int64)
    path[with_hops] = sorted_position[: len(with_hops)]
    return table, path


def _read_weights(rows: Rows) -> Float64Array | None:
    """Return the weight of each row; None if the file has none."""
    if not rows.weighted:
        return None
    value = np.full(len(rows.texts), np.nan)
    for cell, row in first_rows(rows.weight):
        try:
            value[cell] = read_number(rows.texts[cell])
        except ValueError as error:
            raise InputError(f"{rows.location(row)}: weight {error}") from None
    weight: Float64Array = value[rows.weight]
    return weight


def _pair_shares(rows: Rows, weight: Float64Array | None, pair: Int64Array) -> Float64Array:
    """Return the share of each route in its pair of ends: its weight, or equal shares without one.

    Raise an InputError if weights are not above 0 or do not add up to 1 in each pair.
    """
    if weight is None:
        equal: Float64Array = 1 / np.bincount(pair)[pair]
        return equal
    weight_sum = np.bincount(pair, weight)[pair]
    invalid = np.flatnonzero(~((weight > 0) & (np.abs(weight_sum - 1) <= MAX_ERROR)))
    if invalid.size:
        row = int(invalid[0])
        raise InputError(
            f"{rows.location(row)}: the weights of the routes from "
            f"{rows.texts[int(rows.source[row])]} to {rows.texts[int(rows.target[row])]} must be "
            f"above 0 and add up to 1; their sum is {weight_sum[row]:g}"
        )
    return weight


# --- writing ---------------------------------------------------------------------------------


def listed_lines(listed: RouteList, hop_vc: Int16Array) -> Iterator[str]:
    """Yield the lines of the same list with other virtual channels.

    Parameters
    ----------
    listed : RouteList
        Without a fault.
    hop_vc : int16 array, shape (H,)
        Virtual channel of each hop of its table.
    """
    rows = listed.rows
    assert listed.table is not None
    names = {cell: name for cell, (name, _) in parse_hops(rows, listed.network).items()}
    yield f"source,target,{'weight,' if rows.weighted else ''}{rows.form}\n"
    path_start = listed.table.path_start
    for first, end, path in zip(rows.first, rows.end, listed.path, strict=True):
        leading_cells = rows.cells[first - rows.num_leading_cells : first]
        cells = [csv_cell(rows.texts[cell]) for cell in leading_cells]
        if path >= 0:
            vc = hop_vc[path_start[path] : path_start[path + 1]].tolist()
            hops = rows.cells[first:end].tolist()
            cells += [hop_cell(names[hop], v) for hop, v in zip(hops, vc, strict=True)]
        yield ",".join(cells) + "\n"


def route_list_lines(table: RouteTable, form: Form | None = None) -> Iterator[str]:
    """Yield the lines of a table as a route list.

    A table per terminal has a line for each terminal, by its name. If a terminal has no name, or
    that of a switch, the lines name switches: the routes to all terminals of a switch are routes to
    the switch, each with its share of the packets.

    Parameters
    ----------
    table : RouteTable
    form : {"switches", "ports", "links"}, optional
        What hops are (default: the first of these that names each channel).

    Examples
    --------
    >>> import routelab
    >>> from routelab.toolkit import route_list_lines
    >>> table = routelab.route("mesh~dims=2x2", "dor").table
    >>> [line.strip() for line in route_list_lines(table)][:3]
    ['source,target,switches', '0.0,0.1,0.1', '0.0,1.0,1.0']
    """
    topology = table.topology
    form, names = channel_texts(topology, form)
    target_endpoint = table.destination_endpoint
    source, destination = np.divmod(table.path_pair, table.num_destinations)
    endpoints = topology.endpoints.tolist()
    switch_cells = [csv_cell(topology.switch_names[switch]) for switch in endpoints]
    terminal_names = set(topology.terminal_names) - {""} - set(topology.switch_names)
    # The set is smaller than the number of terminals if a name is empty, repeated or a switch's.
    if table.per_terminal and len(terminal_names) == topology.num_terminals:
        target, pair, share = destination, table.path_pair, table.path_weight
        target_cells = [csv_cell(name) for name in topology.terminal_names]
    else:
        target = target_endpoint[destination]
        pair = source * len(switch_cells) + target
        # Packets to a switch are spread evenly over its destinations: in a table per terminal its
        # terminals, else the switch itself.
        num_destinations = np.bincount(target_endpoint, minlength=len(switch_cells))
        share = table.path_weight / num_destinations[target]
        target_cells = switch_cells
    # Equal shares need no weights. Shares are quotients, and so not exact.
    weighted = bool((np.abs(share * np.bincount(pair)[pair] - 1) > 1e-9).any())
    yield f"source,target,{'weight,' if weighted else ''}{form}\n"
    for path in np.flatnonzero(source != target_endpoint[destination]).tolist():
        hops = slice(table.path_start[path], table.path_start[path + 1])
        cells = [switch_cells[source[path]], target_cells[target[path]]]
        if weighted:
            cells.append(repr(float(share[path])))
        cells += hop_cells(names, table.hop_channel[hops], table.hop_vc[hops])
        yield ",".join(cells) + "\n"
