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
    Rows,
    channel_texts,
    csv_cell,
    ends_of,
    hop_cell,
    hop_cells,
    hop_text,
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
"""What is wrong with routes."""

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
        Ordered pairs of different terminals: all, or those that send packets.
    num_pairs : int
        Those of them that have a route.
    table : RouteTable or None
        All routes; None if a route has a fault.
    path : int64 array, shape (K,)
        Path of each row in the table; −1 for a row of one switch and no hops.
    served : float64 array, shape (K,)
        Pairs of terminals whose packets take the route of each row, by its share.
    faults : int
        Lines whose route has a fault.
    faulty_pairs : dict of str to int
        Pairs of a source and a target by what is wrong with the first faulty hop of their routes.
    first_fault : str
        What is wrong in the first of them, with its line.
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
        If a line is damaged, or lacks what the hops mean, or no row is of `senders`.
    """
    # 1. The network, the ends of each row, and how many pairs of terminals each pair of ends stands
    #    for: a switch stands for those of its terminals that have no rows of their own.
    network = network_of(rows, topology)
    require_size(rows, len(network.endpoints) ** 2)
    source = ends_of(rows, rows.source, network)
    target = ends_of(rows, rows.target, network)
    pair, pairs = _count_pairs(rows, network, source, target)
    if senders is None:
        demand = network.demand
        all_pairs = network.num_terminals * (network.num_terminals - 1)
        num_pairs = int(pairs.sum() + (demand * (demand - 1)).sum())
    else:
        # 2. Only the pairs that send packets count, and only the rows that they use.
        chosen = select_pairs(
            senders,
            network,
            by_source=bool((source[1] >= 0).any()),
            by_target=bool((target[1] >= 0).any()),
        )
        is_used, pairs, num_pairs = _rows_of_pairs(network, source, target, pair, chosen)
        all_pairs = chosen.total
        if not is_used.any():
            raise InputError(f"{rows.path} has no route of a pair in {senders.path}")
        rows, pair = rows.select(is_used), pair[is_used]
        source, target = ((e[is_used], t[is_used]) for e, t in (source, target))
    # 3. Follow the hops of each row.
    served = _shares(rows, _read_weights(rows), pair) * pairs[pair]
    vcs = MAX_VC + 1 if vcs is None else vcs
    switches = network.endpoints[source[0]], network.endpoints[target[0]]
    fault, place, hops = walk_hops(rows, network, *switches, vcs)
    # 4. With a fault in any row there is no table; count the pairs with each kind of fault.
    faulty = np.flatnonzero(fault != WHOLE)
    if faulty.size:
        row = int(faulty[0])
        text = _fault_text(rows, row, int(place[row]), int(fault[row]), vcs)
        text = f"line {rows.line[row]}: {text}"
        no_path = np.full(len(rows.line), -1, np.int64)
        by_kind = {
            words: len(np.unique(pair[fault == kind]))
            for kind, words in FAULTS.items()
            if (fault == kind).any()
        }
        faults = len(faulty), by_kind, text
        return RouteList(rows, network, all_pairs, num_pairs, None, no_path, served, *faults)
    table, path = _table(network, (source[0], target[0]), hops, served)
    return RouteList(rows, network, all_pairs, num_pairs, table, path, served)


def _count_pairs(
    rows: Rows, topology: Topology, source: Ends, target: Ends
) -> tuple[Int64Array, Int64Array]:
    """Count the pairs of terminals that each pair of a source and a target stands for.

    A terminal that is named has routes of its own, and its switch stands for the others.

    Returns
    -------
    pair : int64 array, shape (K,)
        Number of the pair of each row.
    count : int64 array
        Ordered pairs of terminals at different switches, of each pair.
    """
    demand, size = topology.demand, len(topology.endpoints)
    ends = size + topology.num_terminals
    code = [np.where(t < 0, e, size + t).astype(np.int64) for e, t in (source, target)]
    _, first_row, pair = np.unique(code[0] * ends + code[1], return_index=True, return_inverse=True)
    from_switch, to_switch = (end[0][first_row].astype(np.int64) for end in (source, target))
    from_one, to_one = (end[1][first_row] >= 0 for end in (source, target))
    count = np.where(from_one, 1, demand[from_switch]) * np.where(to_one, 1, demand[to_switch])
    between = from_switch * size + to_switch
    if from_one.any() or to_one.any():
        # 1. Routes from all to one terminal leave out the sources that have routes of their own to
        #    it; and the other way round.
        own, from_all, to_all = from_one & to_one, ~from_one & to_one, from_one & ~to_one
        beside = np.intersect1d(between[from_all], between[to_all])
        if beside.size:
            row = int(first_row[from_all][between[from_all] == beside[0]][0])
            raise InputError(
                f"{rows.path}, line {rows.line[row]}: of the switches of "
                f"{rows.texts[int(rows.source[row])]} and {rows.texts[int(rows.target[row])]}, "
                "routes of a terminal to the other switch and of a switch to a terminal are "
                "listed; list the routes of each pair of terminals"
            )
        to_same = from_switch * ends + code[1][first_row]
        count[from_all] -= _occurrences(to_same[from_all], to_same[own])
        from_same = code[0][first_row] * size + to_switch
        count[to_all] -= _occurrences(from_same[to_all], from_same[own])
        # 2. Routes of two switches leave out all of these.
        both_all = ~from_one & ~to_one
        groups, group = np.unique(between, return_inverse=True)
        finer = np.bincount(group, np.where(both_all, 0, count), len(groups)).astype(np.int64)
        count[both_all] -= finer[group[both_all]]
    count[from_switch == to_switch] = 0
    return pair, count


def _rows_of_pairs(
    topology: Topology, source: Ends, target: Ends, pair: Int64Array, chosen: Pairs
) -> tuple[BoolArray, Int64Array, int]:
    """Find the rows by which the packets of some pairs of terminals go.

    Parameters
    ----------
    source, target : Ends
    pair : int64 array, shape (K,)
        Number of the pair of each row, from `_count_pairs`.
    chosen : Pairs

    Returns
    -------
    is_used : bool array, shape (K,)
    count : int64 array
        Chosen pairs of terminals at different switches, of each pair of rows.
    num_pairs : int
        Chosen pairs that have a route.
    """
    size = len(topology.endpoints)
    ends = size + topology.num_terminals

    def code(from_end: Int32Array, to_end: Int32Array) -> Int64Array:
        return from_end.astype(np.int64) * ends + to_end

    def unit(end: Ends) -> Int32Array:
        return np.where(end[1] < 0, end[0], size + end[1]).astype(np.int32)

    listed = np.unique(code(unit(source), unit(target)))
    group = np.full(len(chosen.count), -1)
    # the most particular row goes first: of both terminals, of one, of both switches
    for from_end in (unit(chosen.source), chosen.source[0]):
        for to_end in (unit(chosen.target), chosen.target[0]):
            wanted = code(from_end, to_end)
            place = np.minimum(np.searchsorted(listed, wanted), len(listed) - 1)
            is_found = (group < 0) & (listed[place] == wanted)
            group[is_found] = place[is_found]
    has_row = group >= 0
    is_away = has_row & ~chosen.is_local
    count = np.zeros(len(listed), np.int64)
    np.add.at(count, group[is_away], chosen.count[is_away])
    num_pairs = int(chosen.count[has_row | chosen.is_local].sum())
    return np.isin(pair, group[has_row]), count, num_pairs


def _occurrences(values: Int64Array, among: Int64Array) -> Int64Array:
    """Return how often each value occurs in another array."""
    ascending = np.sort(among)
    times: Int64Array = np.searchsorted(ascending, values, "right") - np.searchsorted(
        ascending, values, "left"
    )
    return times


def _fault_text(rows: Rows, row: int, place: int, fault: int, vcs: int) -> str:
    """Describe the first fault of a route."""
    source, target = rows.texts[int(rows.source[row])], rows.texts[int(rows.target[row])]
    route = f"the route from {source} to {target}"
    if fault == NO_CHANNEL and place == rows.first[row] and hop_text(rows, place) == source:
        raise InputError(
            f"{rows.path}, line {rows.line[row]}: {route} begins with its source, and hops begin "
            f"after it: leave out the first {source!r} of the hops, in all lines"
        )
    if fault == ENDS_ELSEWHERE:
        return f"{route} does not end at its target"
    if fault == LEAVES_HOME:
        return f"{route} is a loop"
    hop = f"hop {place - int(rows.first[row]) + 1}, {hop_text(rows, place)!r}"
    if fault == NO_VC:
        return f"{route} needs a virtual channel above the last, {vcs - 1}, at {hop}"
    return f"{route} has no link for {hop}"


def _table(
    topology: Topology,
    ends: tuple[Int32Array, Int32Array],
    hops: tuple[Int64Array, Int32Array, Int16Array],
    served: Float64Array,
) -> tuple[RouteTable, Int64Array]:
    """Sort whole routes by the switches of their pairs; also return the path of each row."""
    count = len(topology.endpoints)
    pair = ends[0].astype(np.int64) * count + ends[1]
    listed = np.flatnonzero(ends[0] != ends[1])
    # an endpoint has one route of no hops to itself
    home = np.arange(count, dtype=np.int64) * (count + 1)
    pairs = np.concatenate((pair[listed], home))
    order = np.argsort(pairs, kind="stable")
    routes = np.bincount(pairs, minlength=count * count)
    share = np.concatenate((_switch_shares(served, pair)[listed], np.ones(count)))
    start, hop_channel, hop_vc = hops
    length = np.concatenate((np.diff(start)[listed], np.zeros(count, np.int64)))[order]
    first = np.concatenate((start[listed], np.zeros(count, np.int64)))[order]
    path_start = np.concatenate((np.zeros(1, np.int64), np.cumsum(length)))
    sorted_channel = np.empty(path_start[-1], np.int32)
    sorted_vc = np.empty(path_start[-1], np.int16)
    gather_hops(first, path_start, hop_channel, sorted_channel)
    gather_hops(first, path_start, hop_vc, sorted_vc)
    table = RouteTable.create(
        topology,
        pair_start=np.concatenate((np.zeros(1, np.int64), np.cumsum(routes))),
        path_start=path_start,
        path_weight=share[order],
        hop_channel=sorted_channel,
        hop_vc=sorted_vc,
    )
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    path = np.full(len(pair), -1, np.int64)
    path[listed] = place[: len(listed)]
    return table, path


def _switch_shares(served: Float64Array, pair: Int64Array) -> Float64Array:
    """Return the share of each route in its pair of switches.

    Routes of a pair whose terminals all have routes of their own serve none, and have equal shares.
    """
    total, routes = np.bincount(pair, served)[pair], np.bincount(pair)[pair]
    share: Float64Array = np.where(total > 0, served / np.maximum(total, 1), 1 / routes)
    # a path that serves none beside others that do needs a weight above 0
    return np.maximum(share, np.finfo(np.float64).tiny)


def _read_weights(rows: Rows) -> Float64Array | None:
    """Return the weight of each row; None if the file has none."""
    if not rows.weighted:
        return None
    value = np.full(len(rows.texts), np.nan)
    for cell in np.unique(rows.weight).tolist():
        try:
            value[cell] = read_number(rows.texts[cell])
        except ValueError as error:
            raise InputError(f"{rows.place(cell)}: weight {error}") from None
    weight: Float64Array = value[rows.weight]
    return weight


def _shares(rows: Rows, weight: Float64Array | None, pair: Int64Array) -> Float64Array:
    """Return the share of each route in its pair."""
    if weight is None:
        equal: Float64Array = 1 / np.bincount(pair)[pair]
        return equal
    total = np.bincount(pair, weight)[pair]
    wrong = np.flatnonzero(~((weight > 0) & (np.abs(total - 1) <= MAX_ERROR)))
    if wrong.size:
        row = int(wrong[0])
        raise InputError(
            f"{rows.path}, line {rows.line[row]}: the weights of the routes from "
            f"{rows.texts[int(rows.source[row])]} to {rows.texts[int(rows.target[row])]} must be "
            f"above 0 and add up to 1; their sum is {total[row]:g}"
        )
    return weight


# --- writing ---------------------------------------------------------------------------------


def listed_lines(listed: RouteList, hop_vc: Int16Array) -> Iterator[str]:
    """Yield the lines of a list with its routes on other virtual channels.

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
    yield f"source,target,{'weight,' * rows.weighted}{rows.form}\n"
    path_start = listed.table.path_start
    for first, end, path in zip(rows.first, rows.end, listed.path, strict=True):
        cells = [csv_cell(rows.texts[cell]) for cell in rows.cells[first - rows.lead : first]]
        if path >= 0:
            vc = hop_vc[path_start[path] : path_start[path + 1]].tolist()
            hops = rows.cells[first:end].tolist()
            cells += [hop_cell(names[hop], v) for hop, v in zip(hops, vc, strict=True)]
        yield ",".join(cells) + "\n"


def route_list_lines(table: RouteTable, form: Form | None = None) -> Iterator[str]:
    """Yield the lines of a table's list.

    A table per terminal has a line for each terminal, by its name. If a terminal has none, or
    that of a switch, the table becomes one per switch: each of the routes to the terminals of a
    switch has its share.

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
    near = table.destination_endpoint
    source, destination = np.divmod(table.path_pair, table.num_destinations)
    at_switch = [csv_cell(topology.switch_names[switch]) for switch in topology.endpoints.tolist()]
    terminal_names = set(topology.terminal_names) - {""} - set(topology.switch_names)
    if table.per_terminal and len(terminal_names) == topology.num_terminals:
        target, pair, share = destination, table.path_pair, table.path_weight
        targets = [csv_cell(name) for name in topology.terminal_names]
    else:
        target = near[destination]
        pair = source * len(at_switch) + target
        share = table.path_weight / np.bincount(near, minlength=len(at_switch))[target]
        targets = at_switch
    weighted = bool((np.abs(share * np.bincount(pair)[pair] - 1) > 1e-9).any())
    yield f"source,target,{'weight,' * weighted}{form}\n"
    for path in np.flatnonzero(source != near[destination]).tolist():
        hops = slice(table.path_start[path], table.path_start[path + 1])
        cells = [at_switch[source[path]], targets[target[path]]]
        if weighted:
            cells.append(repr(float(share[path])))
        cells += hop_cells(names, table.hop_channel[hops], table.hop_vc[hops])
        yield ",".join(cells) + "\n"
