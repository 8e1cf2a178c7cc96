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

import csv
import io
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader
from itertools import chain, islice
from typing import Literal

import numpy as np

from routelab.api import InputError, RouteTable, Topology
from routelab.api.number_texts import read_number
from routelab.api.topology import Float64Array, Int16Array, Int32Array, Int64Array
from routelab.kernels.route_list import (
    ENDS_ELSEWHERE,
    LEAVES_HOME,
    NO_VC,
    SEVERAL,
    WHOLE,
    follow_hops,
    gather_hops,
    mark_cells,
    row_ends,
    used_links,
)
from routelab.toolkit.csv_cells import escape_cell, unescape_cell
from routelab.toolkit.input_files import open_input

Form = Literal["switches", "ports", "links"]
FORMS: tuple[Form, ...] = ("switches", "ports", "links")
MARK = "@"
"""Between a hop and its virtual channel."""

MAX_VC = 32_767
MAX_PAIRS = 400_000_000
"""Most pairs of sources and targets: a table has 8 bytes for each."""
MAX_ERROR = 1e-6
"""Largest difference from 1 of the sum of the weights of a pair."""
_BLOCK = 100_000
"""Rows that are read at once."""


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


@dataclass(frozen=True, eq=False)
class _Rows:
    """Cells of a file as numbers, without empty lines.

    Attributes
    ----------
    path : str
    form : Form
    weighted : bool
    line : int64 array, shape (K,)
    first, end : int64 array, shape (K,)
        The hops of row k are ``cells[first[k]:end[k]]``; before them are source, target and, if
        `weighted`, the weight.
    cells : int32 array
        Indices of `texts`.
    texts : list of str
    """

    path: str
    form: Form
    weighted: bool
    line: Int64Array
    first: Int64Array
    end: Int64Array
    cells: Int32Array
    texts: list[str]

    @property
    def lead(self) -> int:
        return 3 if self.weighted else 2

    @property
    def source(self) -> Int32Array:
        return self.cells[self.first - self.lead]

    @property
    def target(self) -> Int32Array:
        return self.cells[self.first - self.lead + 1]

    @property
    def weight(self) -> Int32Array:
        return self.cells[self.first - 1]

    def place(self, cell: int) -> str:
        """Return the file and the first line with a cell."""
        index = int(np.flatnonzero(self.cells == cell)[0])
        return f"{self.path}, line {self.line[np.searchsorted(self.end, index, side='right')]}"


def read_route_list(
    path: str | os.PathLike[str], topology: Topology | None = None, vcs: int | None = None
) -> RouteList:
    """Read a list of routes and follow them through the network.

    Parameters
    ----------
    path : path-like
    topology : Topology, optional
        The network. Without one, it is what the routes use: a terminal at each source and target,
        and a link between two switches that follow each other on a route.
    vcs : int, optional
        Virtual channels that the network has (default: as many as the routes use).

    Raises
    ------
    InputError
        If the file cannot be read, a line is damaged, or it lacks what the hops mean.
    """
    rows = _read_rows(path)
    if topology is None:
        if rows.form != "switches":
            raise InputError(f"{path}: the hops are {rows.form}; name the network before the file")
        topology = _network_of(rows)
    return _follow(rows, topology, MAX_VC + 1 if vcs is None else vcs)


class _Numbers(dict[str, int]):
    """Numbers of the texts in cells, in the order of their first use; 0 is the empty text."""

    def __init__(self) -> None:
        super().__init__({"": 0})
        self.plain = {"": 0}

    def __missing__(self, text: str) -> int:
        plain = unescape_cell(text.strip())
        number = self[text] = self.plain.setdefault(plain, len(self.plain))
        return number


def _read_rows(path: str | os.PathLike[str]) -> _Rows:
    """Read all cells, in blocks: no object of a row is kept."""
    numbers = _Numbers()
    counts, cells = [np.empty(0, np.int64)], [np.empty(0, np.int32)]
    line = 0
    try:
        with open_input(path) as stream:
            _require_line_end(path, stream)
            text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
            reader = csv.reader(text, strict=True)
            form, weighted = _read_heading(path, next(reader, []))
            while block := list(islice(reader, _BLOCK)):
                if reader.line_num != 1 + line + len(block):
                    raise InputError(
                        f"{path}, line {_broken_line(line, block)}: a cell has a line break"
                    )
                counts.append(np.fromiter(map(len, block), np.int64, len(block)))
                flat = map(numbers.__getitem__, chain.from_iterable(block))
                cells.append(np.fromiter(flat, np.int32, int(counts[-1].sum())))
                line += len(block)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text: {error.reason}") from error
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}: {error}") from error
    start = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.concatenate(counts))))
    return _split_rows(path, form, weighted, start, np.concatenate(cells), list(numbers.plain))


def _require_line_end(path: str | os.PathLike[str], stream: BufferedReader) -> None:
    """Refuse a file that was cut inside its last line, which may read as another route."""
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(size - 1, 0))
    if stream.read(1) not in (b"\n", b"\r"):
        raise InputError(f"{path}: the last line has no line end; the file may have been cut")
    stream.seek(0)


def _broken_line(before: int, block: list[list[str]]) -> int:
    """Return the line of the first row with a line break in a cell; `before` is the row count."""
    rows = enumerate(block, start=before + 2)
    return next(line for line, row in rows if any("\n" in cell or "\r" in cell for cell in row))


def _read_heading(path: str | os.PathLike[str], cells: list[str]) -> tuple[Form, bool]:
    """Return the form of the hops, and whether routes have weights."""
    names = tuple(cell.strip().lower() for cell in cells)
    while names and not names[-1]:
        names = names[:-1]
    for form in FORMS:
        if names in (("source", "target", form), ("source", "target", "weight", form)):
            return form, "weight" in names
    raise InputError(
        f"{path}, line 1: {','.join(cells)!r} is not the heading of a route list; expected "
        "source,target,switches (or ports, or links, for what the hops are)"
    )


def _split_rows(
    path: str | os.PathLike[str],
    form: Form,
    weighted: bool,
    start: Int64Array,
    cells: Int32Array,
    texts: list[str],
) -> _Rows:
    """Find the hops of each row, and leave out empty lines."""
    lead = 3 if weighted else 2
    end, short, hole = row_ends(start, cells, lead)
    if short >= 0:
        raise InputError(
            f"{path}, line {short + 2}: expected source, target{', weight' * weighted} and hops, "
            f"found {end[short] - start[short]} cell"
        )
    if hole >= 0:
        raise InputError(f"{path}, line {hole + 2}: a cell is empty")
    rows = np.flatnonzero(end > start[:-1])
    if not len(rows):
        raise InputError(f"{path} has no routes")
    return _Rows(str(path), form, weighted, rows + 2, start[rows] + lead, end[rows], cells, texts)


def _network_of(rows: _Rows) -> Topology:
    """Build the network that routes by switches use."""
    names: dict[str, int] = {}
    switch = np.empty(len(rows.texts), np.int32)
    for cell in np.unique(np.concatenate((rows.source, rows.target))).tolist():
        switch[cell] = names.setdefault(rows.texts[cell], len(names))
    terminals = len(names)
    hop = np.empty(len(rows.texts), np.int32)
    for cell in _hop_cells(rows).tolist():
        hop[cell] = names.setdefault(_split_hop(rows.texts[cell])[0], len(names))
    joined = used_links(rows.first, rows.end, switch[rows.source], hop, rows.cells)
    links = np.unique(np.sort(joined, axis=1), axis=0)
    return Topology.create(
        family="routes",
        num_switches=len(names),
        switch_names=tuple(names),
        terminal_switch=np.arange(terminals),
        channel_source=links.reshape(-1),
        channel_target=links[:, ::-1].reshape(-1),
    )


def _hop_cells(rows: _Rows) -> Int64Array:
    """Return the distinct cells that are hops."""
    used = np.zeros(len(rows.texts), np.bool_)
    mark_cells(rows.first, rows.end, rows.cells, used)
    return np.flatnonzero(used)


def _split_hop(text: str) -> tuple[str, int]:
    """Return a hop and its virtual channel."""
    name, mark, number = text.rpartition(MARK)
    if mark and number.isascii() and number.isdecimal():
        # Python reads no more than 4300 digits
        return name, int(number) if len(number) < 10 else MAX_VC + 1
    return text, 0


@dataclass(frozen=True, eq=False)
class _Hops:
    """What the hops in the cells of a file name; int32 arrays for `follow_hops`."""

    switch: Int32Array
    port: Int32Array
    link: Int32Array
    vc: Int32Array


UNKNOWN = -2
"""A switch, port or channel that the network does not have."""


def _read_hops(rows: _Rows, topology: Topology) -> _Hops:
    """Look up what each hop names in the network."""
    lookup = _lookup(rows, topology)
    number = np.full(len(rows.texts), UNKNOWN, np.int32)
    vc = np.zeros(len(rows.texts), np.int32)
    for cell in _hop_cells(rows).tolist():
        text = rows.texts[cell]
        name, level = _split_hop(text)
        if level > MAX_VC:
            raise InputError(
                f"{rows.place(cell)}: the virtual channel of {text!r} is above {MAX_VC}"
            )
        if name != text and name in lookup and text in lookup:
            raise InputError(
                f"{rows.place(cell)}: {text!r} is a switch and also {name!r} on "
                f"virtual channel {level}; write {text}@0, or rename the switch"
            )
        if text in lookup:
            name, level = text, 0
        number[cell] = lookup.get(name, UNKNOWN)
        vc[cell] = level
    unused = np.full(len(rows.texts), -1, np.int32)
    return _Hops(
        number if rows.form == "switches" else unused,
        number if rows.form == "ports" else unused,
        number if rows.form == "links" else unused,
        vc,
    )


def _lookup(rows: _Rows, topology: Topology) -> dict[str, int]:
    """Return the numbers of all switches, ports or channels by their texts."""
    if rows.form == "switches":
        return {name: switch for switch, name in enumerate(topology.switch_names)}
    if rows.form == "ports":
        if topology.num_channels and topology.source_port.min() < 0:
            raise InputError(
                f"{rows.path}: the hops are ports, and the network does not number its ports"
            )
        return {str(port): port for port in np.unique(topology.source_port).tolist()}
    names = [topology.channel_name(channel) for channel in range(topology.num_channels)]
    times = Counter(names)
    unique = {name: channel for channel, name in enumerate(names) if times[name] == 1}
    return {**{str(channel): channel for channel in range(len(names))}, **unique}


def _switches_at(rows: _Rows, topology: Topology) -> tuple[Int32Array, Int32Array]:
    """Return the endpoints, among those of the network, that each route joins."""
    known = dict(zip(topology.terminal_names, topology.terminal_endpoint.tolist(), strict=False))
    names = topology.switch_names
    known |= {names[switch]: n for n, switch in enumerate(topology.endpoints.tolist())}
    endpoint = np.full(len(rows.texts), UNKNOWN, np.int32)
    for cell in np.unique(np.concatenate((rows.source, rows.target))).tolist():
        text = rows.texts[cell]
        if text not in known:
            why = "has no terminals" if text in names else "is not in the network"
            raise InputError(
                f"{rows.place(cell)}: {text!r} {why}; routes join switches with terminals"
            )
        endpoint[cell] = known[text]
    return endpoint[rows.source], endpoint[rows.target]


def _follow(rows: _Rows, topology: Topology, vcs: int) -> RouteList:
    """Walk all routes, and make a table of them if all are whole."""
    if len(topology.endpoints) ** 2 > MAX_PAIRS:
        raise InputError(
            f"{rows.path}: {len(topology.endpoints)} sources and targets have more than "
            f"{MAX_PAIRS:,} pairs; give a part of the routes"
        )
    source, target = _switches_at(rows, topology)
    weight = _read_weights(rows)
    hops = _read_hops(rows, topology)
    start = np.concatenate((np.zeros(1, np.int64), np.cumsum(rows.end - rows.first)))
    hop_channel, hop_vc = np.empty(start[-1], np.int32), np.empty(start[-1], np.int16)
    fault, place = follow_hops(
        rows.first,
        rows.end,
        topology.endpoints[source],
        topology.endpoints[target],
        rows.cells,
        *(hops.switch, hops.port, hops.link, hops.vc),
        vcs,
        *topology.outgoing,
        topology.channel_target,
        topology.source_port,
        *(start, hop_channel, hop_vc),
    )
    several = np.flatnonzero(fault == SEVERAL)
    if several.size:
        row = int(several[0])
        raise InputError(
            f"{rows.path}, line {rows.line[row]}: hop {place[row] + 1}, "
            f"{_hop_text(rows, row, int(place[row]))!r}, may be one of several links; give ports "
            "or links instead"
        )
    faulty = np.flatnonzero(fault != WHOLE)
    if faulty.size:
        row = int(faulty[0])
        text = _fault_text(rows, row, int(place[row]), int(fault[row]), vcs)
        return RouteList(None, len(rows.line), len(faulty), f"line {rows.line[row]}: {text}")
    table = _table(rows, topology, (source, target), (start, hop_channel, hop_vc), weight)
    return RouteList(table, len(rows.line))


def _hop_text(rows: _Rows, row: int, hop: int) -> str:
    return rows.texts[int(rows.cells[rows.first[row] + hop])]


def _fault_text(rows: _Rows, row: int, place: int, fault: int, vcs: int) -> str:
    """Describe the first fault of a route."""
    source, target = rows.texts[int(rows.source[row])], rows.texts[int(rows.target[row])]
    route = f"the route from {source} to {target}"
    if fault == ENDS_ELSEWHERE:
        return f"{route} does not end at its target"
    if fault == LEAVES_HOME:
        return f"{route} is a loop"
    hop = f"hop {place + 1}, {_hop_text(rows, row, place)!r}"
    if fault == NO_VC:
        return f"{route} needs a virtual channel above the last, {vcs - 1}, at {hop}"
    return f"{route} has no link for {hop}"


def _table(
    rows: _Rows,
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


def _read_weights(rows: _Rows) -> Float64Array | None:
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


def _shares(rows: _Rows, weight: Float64Array | None, pair: Int64Array) -> Float64Array:
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


def route_list_lines(table: RouteTable) -> Iterator[str]:
    """Yield the lines of a table's list, in the first of `FORMS` that names each channel.

    A table per terminal becomes one per switch: each of the routes to the terminals of a switch
    has its share.

    Parameters
    ----------
    table : RouteTable
    """
    topology = table.topology
    form, names = _channel_texts(topology)
    near = table.destination_endpoint
    source, destination = np.divmod(table.path_pair, table.num_destinations)
    at_one = np.bincount(near, minlength=len(topology.endpoints))
    share = table.path_weight / at_one[near[destination]]
    weighted = _has_uneven_shares(source * len(at_one) + near[destination], share)
    yield f"source,target,{'weight,' * weighted}{form}\n"
    ends = [_cell(topology.switch_names[switch]) for switch in topology.endpoints.tolist()]
    for path in np.flatnonzero(source != near[destination]).tolist():
        hops = slice(table.path_start[path], table.path_start[path + 1])
        cells = [ends[source[path]], ends[near[destination[path]]]]
        if weighted:
            cells.append(repr(float(share[path])))
        cells += [
            _cell(f"{names[channel]}{MARK}{vc}" if vc or MARK in names[channel] else names[channel])
            for channel, vc in zip(
                table.hop_channel[hops].tolist(), table.hop_vc[hops].tolist(), strict=True
            )
        ]
        yield ",".join(cells) + "\n"


def _has_uneven_shares(pair: Int64Array, share: Float64Array) -> bool:
    return bool((np.abs(share * np.bincount(pair)[pair] - 1) > 1e-9).any())


def _cell(text: str) -> str:
    """Return a text as a cell of CSV."""
    text = str(escape_cell(text))
    if any(mark in text for mark in ',"\r\n') or text != text.strip():
        return '"' + text.replace('"', '""') + '"'
    return text


def _channel_texts(topology: Topology) -> tuple[Form, list[str]]:
    """Return how hops are written, and the text of each channel."""
    ends = list(
        zip(topology.channel_source.tolist(), topology.channel_target.tolist(), strict=True)
    )
    if len(set(ends)) == len(ends):
        return "switches", [topology.switch_names[target] for _, target in ends]
    ports = list(zip(topology.channel_source.tolist(), topology.source_port.tolist(), strict=True))
    if len(set(ports)) == len(ports) and topology.source_port.min() >= 0:
        return "ports", [str(port) for _, port in ports]
    return "links", [str(channel) for channel in range(topology.num_channels)]
