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
    Each hop is a channel, by its name (``A>B``) or number, as ``channels.csv`` of ``routelab
    topology`` has them.

``@1`` behind a hop is its virtual channel; without it, 0. Sources and targets are switches, or
terminals that have names. Several lines of one pair are several routes of it, with equal shares of
its packets; a column ``weight`` before the hops gives other shares. Routes of pairs at one switch
are not listed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from routelab.api import InputError, RouteTable, Topology
from routelab.api.number_texts import read_number
from routelab.api.topology import Float64Array, Int16Array, Int32Array, Int64Array
from routelab.kernels.route_list import (
    ENDS_ELSEWHERE,
    LEAVES_HOME,
    NO_VC,
    WHOLE,
    gather_hops,
)
from routelab.toolkit.route_cells import (
    MAX_VC,
    Form,
    Rows,
    channel_texts,
    csv_cell,
    endpoint_of,
    hop_cells,
    hop_text,
    network_of,
    require_size,
    walk_hops,
)

MAX_ERROR = 1e-6
"""Largest difference from 1 of the sum of the weights of a pair."""


@dataclass(frozen=True, eq=False)
class RouteList:
    """The routes of a list.

    Attributes
    ----------
    table : RouteTable or None
        All routes; None if a route has a fault.
    num_routes : int
        Lines with a route.
    faults : int
        Lines whose route has a fault.
    first_fault : str
        What is wrong in the first of them, with its line.
    """

    table: RouteTable | None
    num_routes: int
    faults: int = 0
    first_fault: str = ""


def read_route_list(
    rows: Rows, topology: Topology | None = None, vcs: int | None = None
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

    Raises
    ------
    InputError
        If a line is damaged, or lacks what the hops mean.
    """
    topology = network_of(rows, topology)
    require_size(rows, len(topology.endpoints) ** 2)
    source = endpoint_of(rows, rows.source, topology)
    target = endpoint_of(rows, rows.target, topology)
    weight = _read_weights(rows)
    vcs = MAX_VC + 1 if vcs is None else vcs
    ends = topology.endpoints[source], topology.endpoints[target]
    fault, place, hops = walk_hops(rows, topology, *ends, vcs)
    faulty = np.flatnonzero(fault != WHOLE)
    if faulty.size:
        row = int(faulty[0])
        text = _fault_text(rows, row, int(place[row]), int(fault[row]), vcs)
        return RouteList(None, len(rows.line), len(faulty), f"line {rows.line[row]}: {text}")
    table = _table(rows, topology, (source, target), hops, weight)
    return RouteList(table, len(rows.line))


def _fault_text(rows: Rows, row: int, place: int, fault: int, vcs: int) -> str:
    """Describe the first fault of a route."""
    source, target = rows.texts[int(rows.source[row])], rows.texts[int(rows.target[row])]
    route = f"the route from {source} to {target}"
    if fault == ENDS_ELSEWHERE:
        return f"{route} does not end at its target"
    if fault == LEAVES_HOME:
        return f"{route} is a loop"
    hop = f"hop {place - int(rows.first[row]) + 1}, {hop_text(rows, place)!r}"
    if fault == NO_VC:
        return f"{route} needs a virtual channel above the last, {vcs - 1}, at {hop}"
    return f"{route} has no link for {hop}"


def _table(
    rows: Rows,
    topology: Topology,
    ends: tuple[Int32Array, Int32Array],
    hops: tuple[Int64Array, Int32Array, Int16Array],
    weight: Float64Array | None,
) -> RouteTable:
    """Sort whole routes by their pairs."""
    count = len(topology.endpoints)
    pair = ends[0].astype(np.int64) * count + ends[1]
    listed = np.flatnonzero(ends[0] != ends[1])
    # an endpoint has one route of no hops to itself
    home = np.arange(count, dtype=np.int64) * (count + 1)
    pairs = np.concatenate((pair[listed], home))
    order = np.argsort(pairs, kind="stable")
    routes = np.bincount(pairs, minlength=count * count)
    share = np.concatenate((_shares(rows, weight, pair)[listed], np.ones(count)))
    start, hop_channel, hop_vc = hops
    length = np.concatenate((np.diff(start)[listed], np.zeros(count, np.int64)))[order]
    first = np.concatenate((start[listed], np.zeros(count, np.int64)))[order]
    path_start = np.concatenate((np.zeros(1, np.int64), np.cumsum(length)))
    sorted_channel = np.empty(path_start[-1], np.int32)
    sorted_vc = np.empty(path_start[-1], np.int16)
    gather_hops(first, path_start, hop_channel, sorted_channel)
    gather_hops(first, path_start, hop_vc, sorted_vc)
    return RouteTable.create(
        topology,
        pair_start=np.concatenate((np.zeros(1, np.int64), np.cumsum(routes))),
        path_start=path_start,
        path_weight=share[order],
        hop_channel=sorted_channel,
        hop_vc=sorted_vc,
    )


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


def route_list_lines(table: RouteTable, form: Form | None = None) -> Iterator[str]:
    """Yield the lines of a table's list.

    A table per terminal becomes one per switch: each of the routes to the terminals of a switch
    has its share.

    Parameters
    ----------
    table : RouteTable
    form : {"switches", "ports", "links"}, optional
        What hops are (default: the first of these that names each channel).
    """
    topology = table.topology
    form, names = channel_texts(topology, form)
    near = table.destination_endpoint
    source, destination = np.divmod(table.path_pair, table.num_destinations)
    at_one = np.bincount(near, minlength=len(topology.endpoints))
    share = table.path_weight / at_one[near[destination]]
    weighted = _has_uneven_shares(source * len(at_one) + near[destination], share)
    yield f"source,target,{'weight,' * weighted}{form}\n"
    ends = [csv_cell(topology.switch_names[switch]) for switch in topology.endpoints.tolist()]
    for path in np.flatnonzero(source != near[destination]).tolist():
        hops = slice(table.path_start[path], table.path_start[path + 1])
        cells = [ends[source[path]], ends[near[destination[path]]]]
        if weighted:
            cells.append(repr(float(share[path])))
        cells += hop_cells(names, table.hop_channel[hops], table.hop_vc[hops])
        yield ",".join(cells) + "\n"


def _has_uneven_shares(pair: Int64Array, share: Float64Array) -> bool:
    return bool((np.abs(share * np.bincount(pair)[pair] - 1) > 1e-9).any())
