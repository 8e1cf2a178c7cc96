"""Cells of route lists and of next-hop tables: what each names in a network.

Both are CSV files whose heading says what the hops are; see `routelab.toolkit.route_list` and
`routelab.toolkit.next_hop_list`. Lists of pairs have the same cells without hops. A
cell becomes a number when it is read, so that a file of ten million routes is three arrays.
"""

from __future__ import annotations

import io
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal, NamedTuple

import numpy as np

from routelab.api import InputError, Topology
from routelab.api.topology import (
    BoolArray,
    Int8Array,
    Int16Array,
    Int32Array,
    Int64Array,
    frozen_array,
)
from routelab.kernels.route_list import SEVERAL, follow_hops, mark_cells, row_ends, used_links
from routelab.toolkit.csv_cells import COMMENT, CsvReader, escape_cell, unescape_cell
from routelab.toolkit.input_files import MAX_ARRAYS, describe_binary, open_input

Form = Literal["switches", "ports", "links"]
FORMS: tuple[Form, ...] = ("switches", "ports", "links")
CONTENTS: dict[str, Literal["routes", "next hops"]] = {"source": "routes", "switch": "next hops"}
"""What a file holds, by the first cell of its heading."""
FROM_LIST = "routes"
"""Family of a network that was built from the hops of a list."""
VC_MARK = "@"
"""Character between a hop and its virtual channel, as in B@1."""
PAIR_HEADING = ("source", "target")
"""Columns of a list of pairs."""
MAX_VC = 32_767
MAX_PAIRS = 100_000_000
"""Largest number of pairs of a switch and a target: a table needs up to 30 bytes for each."""
_FIRST_BYTES = 1 << 16
"""Number of bytes from which a file is recognized as text or not."""


class Ends(NamedTuple):
    """The sources of all rows, or their targets.

    Attributes
    ----------
    endpoint : int32 array, shape (K,)
        Switch of each row's end, as a number among the endpoints of the network.
    terminal : int32 array, shape (K,)
        Terminal of each row's end, or −1 for all terminals of the endpoint.
    """

    endpoint: Int32Array
    terminal: Int32Array

    @property
    def any_terminal(self) -> bool:
        """Whether any row names a single terminal."""
        return bool((self.terminal >= 0).any())

    def codes(self, num_endpoints: int) -> Int32Array:
        """Return a number for each end: its endpoint, or `num_endpoints` plus its terminal."""
        terminal_code = num_endpoints + self.terminal
        return np.where(self.terminal < 0, self.endpoint, terminal_code).astype(np.int32)


class HopChannels(NamedTuple):
    """Channels of the hops of all walks, one walk after the other.

    Attributes
    ----------
    start : int64 array
        Hops ``start[w]:start[w + 1]`` belong to walk w.
    channel : int32 array
    vc : int16 array
        Virtual channel of each hop.
    """

    start: Int64Array
    channel: Int32Array
    vc: Int16Array


@dataclass(frozen=True, eq=False)
class Rows:
    """Cells of a file as numbers, without empty lines.

    If the heading is ``source,target,switches`` and line 2, the only one below it, is ``A,C,B,C``,
    then `texts` are "", "A", "C" and "B", and `cells` are 1, 2, 3, 2. The row has the `line` 2, and
    its hops B and C are ``cells[2:4]``, so its `first` is 2 and its `end` 4.

    Attributes
    ----------
    path : str
    content : {"routes", "next hops"}
    form : Form
        What the hops are.
    weighted : bool
    line : int64 array, shape (K,)
        Number of each row's line in the file.
    first, end : int64 array, shape (K,)
        The hops of row k are ``cells[first[k]:end[k]]``; before them are the source (of next hops:
        the switch), the target and, if `weighted`, the weight.
    cells : int32 array
        Indices of `texts`.
    texts : list of str
    comments : dict of int to str
        First cell of each line that begins with ``#``, by its number.
    """

    path: str
    content: Literal["routes", "next hops"]
    form: Form
    weighted: bool
    line: Int64Array
    first: Int64Array
    end: Int64Array
    cells: Int32Array
    texts: list[str]
    comments: dict[int, str]

    @property
    def num_leading_cells(self) -> int:
        """Number of cells before the hops."""
        return 3 if self.weighted else 2

    @property
    def source(self) -> Int32Array:
        """Source of each row (of next hops: the switch), as an index of `texts`."""
        return self.cells[self.first - self.num_leading_cells]

    @property
    def target(self) -> Int32Array:
        """Target of each row, as an index of `texts`."""
        return self.cells[self.first - self.num_leading_cells + 1]

    @property
    def weight(self) -> Int32Array:
        """Weight of each row, as an index of `texts`; only if the file is `weighted`."""
        return self.cells[self.first - 1]

    def walks(self) -> tuple[Int64Array, Int64Array, Int64Array]:
        """Return first and end of the hop cells of each walk from a switch, and its row.

        A row of a route is one walk with all of its hops. A row of next hops is a walk of one hop
        for each of them: next hops in cells 5:7 of row 2 are the walks 5:6 and 6:7, both of row 2.
        """
        if self.content == "routes":
            return self.first, self.end, np.arange(len(self.line))
        count = self.end - self.first
        row = np.repeat(np.arange(len(self.line)), count)
        # Walk w is hop ``w - walks_before[row]`` of its row.
        walks_before = np.cumsum(count) - count
        first = np.repeat(self.first - walks_before, count) + np.arange(count.sum())
        return first, first + 1, row

    def select(self, chosen: BoolArray) -> Rows:
        """Return some of the rows, in their order."""
        return replace(self, line=self.line[chosen], first=self.first[chosen], end=self.end[chosen])

    def location(self, row: int) -> str:
        """Return the file and the line of a row, for messages."""
        return f"{self.path}, line {self.line[row]}"

    def hop_location(self, cell: int) -> str:
        """Return the file and the first line that has a cell among its hops, for messages."""
        position = np.flatnonzero(self.cells == cell)
        # The row of a position is the first row whose cells end behind it.
        row = np.searchsorted(self.end, position, side="right")
        row = np.minimum(row, len(self.line) - 1)
        # The cell may also be an end or a weight, or stand in a row that `select` has left out.
        is_hop = (self.first[row] <= position) & (position < self.end[row])
        return self.location(int(row[is_hop][0]))


class _CellNumbers(dict[str, int]):
    """Numbers of the texts in cells, in the order of their first use; 0 is the empty text.

    ``numbers[cell]`` returns the number, a new one at the first use. The keys are cells as the file
    has them; `plain` has the numbers by text without blanks and escapes: " B" and "B" are both B.
    """

    def __init__(self) -> None:
        super().__init__({"": 0})
        self.plain = {"": 0}

    def __missing__(self, text: str) -> int:
        # Called once for each different cell of the file, so that equal cells cost one look-up.
        plain = unescape_cell(text.strip())
        number = self[text] = self.plain.setdefault(plain, len(self.plain))
        return number


def read_rows(path: str | os.PathLike[str]) -> Rows:
    """Read all cells of a list of routes or a table of next hops.

    Raises
    ------
    InputError
        If the file cannot be read, or a line is damaged.
    """
    return _read_cells(path, _read_heading, "routes")


def read_pairs(path: str | os.PathLike[str]) -> Rows:
    """Read all cells of a list of pairs, which are rows without hops.

    Raises
    ------
    InputError
        If the file cannot be read, or a line is damaged.
    """
    rows = _read_cells(path, _read_pair_heading, "pairs")
    too_long = np.flatnonzero(rows.end > rows.first)
    if too_long.size:
        row = int(too_long[0])
        raise InputError(
            f"{rows.location(row)}: expected source and target, found "
            f"{2 + rows.end[row] - rows.first[row]} cells"
        )
    return rows


def _read_cells(
    path: str | os.PathLike[str], read_heading: Callable[[CsvReader], tuple[str, ...]], noun: str
) -> Rows:
    """Read all cells in blocks, as numbers, so that texts of rows do not stay in memory.

    `noun` is what rows are, for messages.
    """
    cell_numbers = _CellNumbers()
    count_blocks, cell_blocks = [np.empty(0, np.int64)], [np.empty(0, np.int32)]
    try:
        with open_input(path, MAX_ARRAYS) as stream:
            description = describe_binary(stream.read(_FIRST_BYTES))
            if description:
                raise InputError(f"{path}: the file is {description}")
            # A file that was cut inside its last line may read as another route.
            stream.seek(max(stream.seek(0, os.SEEK_END) - 1, 0))
            if stream.read(1) not in (b"\n", b"\r"):
                raise InputError(
                    f"{path}: the last line has no line end; the file may have been cut"
                )
            stream.seek(0)
            text = io.TextIOWrapper(stream, encoding="utf-8-sig")
            reader = CsvReader(str(path), iter(text))
            column_names = read_heading(reader)
            for block in reader.blocks():
                count_blocks.append(np.fromiter(map(len, block), np.int64, len(block)))
                numbers_of_block = map(cell_numbers.__getitem__, chain.from_iterable(block))
                num_cells = int(count_blocks[-1].sum())
                cell_blocks.append(np.fromiter(numbers_of_block, np.int32, num_cells))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text: {error.reason}") from error
    start = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.concatenate(count_blocks))))
    return _split_rows(
        reader,
        column_names,
        start=start,
        cells=np.concatenate(cell_blocks),
        texts=list(cell_numbers.plain),
        noun=noun,
    )


def _column_names(reader: CsvReader) -> tuple[str, ...]:
    """Return the cells of the heading, up to the last that is not empty."""
    names = tuple(cell.lower() for cell in reader.header)
    while names and not names[-1]:
        names = names[:-1]
    return names


def _read_pair_heading(reader: CsvReader) -> tuple[str, ...]:
    """Require the heading of a list of pairs, and return it with a column of hops, as of routes.

    So pairs are read like routes; their rows have no hops.
    """
    if _column_names(reader) != PAIR_HEADING:
        raise InputError(
            f"{reader.path}, line {reader.line}: {','.join(reader.header)!r} is not the heading of "
            "a list of pairs; expected source,target"
        )
    return (*PAIR_HEADING, FORMS[0])


def _read_heading(reader: CsvReader) -> tuple[str, ...]:
    """Return the names of the columns, the last of them the form of the hops."""
    names = _column_names(reader)
    # Tables for `routelab.instances` may have this heading: "next" stands for the next switches.
    if names == ("switch", "target", "next"):
        names = ("switch", "target", "switches")
    for form in FORMS:
        for known in (
            ("source", "target", form),
            ("source", "target", "weight", form),
            ("switch", "target", form),
        ):
            if names == known:
                return known
    raise InputError(
        f"{reader.path}, line {reader.line}: {','.join(reader.header)!r} is not the heading of a "
        "route list; expected source,target,switches or, for next hops, switch,target,switches "
        "(also with ports or links, for what the hops are); before forwarding tables of "
        "InfiniBand, name the output of ibnetdiscover"
    )


def _split_rows(
    reader: CsvReader,
    column_names: tuple[str, ...],
    *,
    start: Int64Array,
    cells: Int32Array,
    texts: list[str],
    noun: str,
) -> Rows:
    """Find the hops of each row, and leave out empty lines.

    Parameters
    ----------
    reader : CsvReader
    column_names : tuple of str
        The last is the form of the hops.
    start : int64 array, shape (number of lines + 1,)
        Cells ``start[k]:start[k + 1]`` belong to line k below the heading.
    cells : int32 array
        Indices of `texts`.
    texts : list of str
    noun : str
        What rows are, for messages.
    """
    # Rows keep the numbers of their lines, also behind empty lines, because errors name them.
    path, first_line = reader.path, reader.line + 1
    num_before_hops = len(column_names) - 1
    # The first line with too few cells, and the first with an empty cell before others; -1: none.
    end, short_row, row_with_gap = row_ends(start, cells, num_before_hops)
    if short_row >= 0:
        raise InputError(
            f"{path}, line {short_row + first_line}: expected {', '.join(column_names[:-1])} and "
            f"hops, found {end[short_row] - start[short_row]} cell"
        )
    if row_with_gap >= 0:
        raise InputError(f"{path}, line {row_with_gap + first_line}: a cell is empty")
    rows = np.flatnonzero(end > start[:-1])
    if not len(rows):
        raise InputError(f"{path} has no {noun}")
    form = next(form for form in FORMS if form == column_names[-1])
    return Rows(
        path=path,
        content=CONTENTS[column_names[0]],
        form=form,
        weighted="weight" in column_names,
        line=rows + first_line,
        first=start[rows] + num_before_hops,
        end=end[rows],
        cells=cells,
        texts=texts,
        comments=reader.comments,
    )


def network_of(rows: Rows, topology: Topology | None) -> Topology:
    """Return the network, or build the one that the file uses if it is None.

    Routes use a terminal at each source and target, and a link between two switches that follow
    each other. Next hops use a terminal at each target, and a link from each switch to its next.

    Raises
    ------
    InputError
        If only a network explains the hops, a hop has ``@`` without a number, or a line that is
        left out as a comment may name a switch.
    """
    if topology is not None:
        require_clear_comments(rows, {*rows.texts, *topology.switch_names})
        return topology
    require_clear_comments(rows, rows.texts)
    if rows.form != "switches":
        raise InputError(f"{rows.path}: the hops are {rows.form}; name the network before the file")
    # 1. Number the switches in the order of their first use. Those with a terminal come first, so
    #    that the ends of routes, or the targets of next hops, are the first `num_terminals` ones:
    #    switch k of them gets terminal k.
    switch_numbers: dict[str, int] = {}
    end_columns, num_terminal_columns = (rows.source, rows.target), 2
    if rows.content == "next hops":  # only the targets have terminals
        end_columns, num_terminal_columns = (rows.target, rows.source), 1
    end_switch = np.empty(len(rows.texts), np.int32)
    num_terminals = 0
    for column_number, column in enumerate(end_columns, 1):
        for cell in np.unique(column).tolist():
            end_switch[cell] = switch_numbers.setdefault(rows.texts[cell], len(switch_numbers))
        if column_number == num_terminal_columns:
            num_terminals = len(switch_numbers)
    # 2. The switches that hops lead to. A name that occurs only as a source or target must be
    #    readable as a hop, too, because here the file alone says which switches there are. B@x may
    #    be a hop with a misspelled number, so `_split_hop`, called for the error alone, refuses it.
    hop_names = {cell: _split_hop(rows, cell)[0] for cell in _distinct_hops(rows).tolist()}
    hop_switch = np.empty(len(rows.texts), np.int32)
    for cell, name in hop_names.items():
        hop_switch[cell] = switch_numbers.setdefault(name, len(switch_numbers))
    names_in_hops = set(hop_names.values())
    for column in end_columns:
        for cell, row_number in first_rows(column):
            if rows.texts[cell] not in names_in_hops:
                _split_hop(rows, cell, row_number)
    # 3. A link, with a channel in each direction, between two switches that follow each other.
    first, end, row = rows.walks()
    used = used_links(first, end, end_switch[rows.source[row]], hop_switch, rows.cells)
    links = np.unique(np.sort(used, axis=1), axis=0)
    return Topology.create(
        family=FROM_LIST,
        num_switches=len(switch_numbers),
        switch_names=tuple(switch_numbers),
        terminal_switch=np.arange(num_terminals),
        channel_source=links.reshape(-1),
        channel_target=links[:, ::-1].reshape(-1),
    )


def require_clear_comments(rows: Rows, names: Iterable[str]) -> None:
    """Raise an InputError if the first cell of a comment is also a name: it may be a route."""
    if not rows.comments:
        return
    known = set(names)
    for line, text in rows.comments.items():
        if text in known:
            raise InputError(
                f"{rows.path}, line {line}: {text!r} begins with #, like a comment, and is also "
                'the name of a switch; write the name in quotation marks ("), or remove the line'
            )


def require_size(rows: Rows, num_pairs: int) -> None:
    """Raise an InputError if a file has more than `MAX_PAIRS` pairs of a switch and a target."""
    if num_pairs > MAX_PAIRS:
        raise InputError(
            f"{rows.path}: it has {num_pairs:,} pairs of a switch and a target, and {MAX_PAIRS:,} "
            "are possible; give a part of the network"
        )


def _distinct_hops(rows: Rows) -> Int64Array:
    """Return the distinct cells that are hops."""
    used = np.zeros(len(rows.texts), np.bool_)
    mark_cells(rows.first, rows.end, rows.cells, used)
    return np.flatnonzero(used)


def _split_hop(rows: Rows, cell: int, row: int | None = None) -> tuple[str, int]:
    """Return the name and the virtual channel of a hop: of B@1, B and 1.

    Messages name `row` (default: the first row that has the cell among its hops).
    """
    text = rows.texts[cell]
    name, found_mark, number = text.rpartition(VC_MARK)
    if not found_mark:
        return text, 0
    if not (name and number.isascii() and number.isdecimal()):
        location = rows.hop_location(cell) if row is None else rows.location(row)
        raise InputError(
            f"{location}: {text!r} has no name before {VC_MARK} or no number behind it; write "
            f"B for a switch B, and B{VC_MARK}1 for its virtual channel 1"
        )
    # Python raises an error for numbers of more than 4300 digits.
    return name, int(number) if len(number) < 10 else MAX_VC + 1


UNKNOWN = -2
"""A switch, port or channel that the network does not have."""
_AMBIGUOUS = -3
"""A text that describes one channel and is also the name of another channel's link."""


def parse_hops(rows: Rows, topology: Topology) -> dict[int, tuple[str, int]]:
    """Return name and virtual channel of each distinct cell that is a hop, by cell: B, 1 of B@1.

    Raises
    ------
    InputError
        If a cell can mean two things, as B@1 does beside switches B and B@1, or if its virtual
        channel is above `MAX_VC`.
    """
    lookup = _text_numbers(rows, topology)
    hops = {}
    for cell in _distinct_hops(rows).tolist():
        text = rows.texts[cell]
        before_mark, _, number = text.rpartition(VC_MARK)
        # A text with @ may itself be a name of the network.
        if text not in lookup:
            name, vc = _split_hop(rows, cell)
        elif number.isdecimal() and before_mark in lookup:
            raise InputError(
                f"{rows.hop_location(cell)}: {text!r} is a switch and also {before_mark!r} on "
                f"virtual channel {number}; write {text}@0, or rename the switch"
            )
        else:
            name, vc = text, 0
        if lookup.get(name) == _AMBIGUOUS:
            raise InputError(
                f"{rows.hop_location(cell)}: {name!r} is the number or the ends of a "
                "channel and the name of another link; rename the link, or give ports instead"
            )
        if vc > MAX_VC:
            raise InputError(
                f"{rows.hop_location(cell)}: the virtual channel of {text!r} is above {MAX_VC}"
            )
        hops[cell] = name, vc
    return hops


def hop_text(rows: Rows, cell: int) -> str:
    """Return the text of the hop at position `cell` of ``rows.cells``."""
    return rows.texts[int(rows.cells[cell])]


def look_up_ends(rows: Rows, cells: Int32Array, topology: Topology) -> Ends:
    """Return the endpoint, and perhaps the terminal, that each row names as an end of its routes.

    `cells` is the column of that end: ``rows.source`` or ``rows.target``.

    Returns
    -------
    ends : Ends
        The terminal is −1 also if the cell names the only terminal of a switch.

    Raises
    ------
    InputError
        If a cell names neither a switch with terminals nor a terminal, or could mean either.
    """
    switch_names = topology.switch_names
    endpoints = topology.endpoints.tolist()
    endpoint_numbers = {switch_names[switch]: n for n, switch in enumerate(endpoints)}
    terminal_numbers = {name: t for t, name in enumerate(topology.terminal_names) if name}
    endpoint = np.full(len(rows.texts), UNKNOWN, np.int32)
    terminal = np.full(len(rows.texts), -1, np.int32)
    for cell, row in first_rows(cells):
        text = rows.texts[cell]
        if text in terminal_numbers:
            number = terminal_numbers[text]
            endpoint[cell] = topology.terminal_endpoint[number]
            # A name of a switch and of a terminal is clear if the terminal is the only one of this
            # switch. The only terminal needs no number, because −1 means all terminals.
            is_only_one = topology.demand[endpoint[cell]] == 1
            same_as_switch = is_only_one and endpoint_numbers.get(text) == endpoint[cell]
            if text in switch_names and not same_as_switch:
                raise InputError(
                    f"{rows.location(row)}: {text!r} is a switch and also a terminal of the "
                    "network; rename one of them"
                )
            if not is_only_one:
                terminal[cell] = number
        elif text in endpoint_numbers:
            endpoint[cell] = endpoint_numbers[text]
        elif text in switch_names:
            raise InputError(
                f"{rows.location(row)}: {text!r} has no terminals; routes join switches with "
                "terminals"
            )
        else:
            raise _unknown_name_error(rows, row, cell, topology)
    return Ends(endpoint[cells], terminal[cells])


def first_rows(column: Int32Array) -> Iterator[tuple[int, int]]:
    """Yield each distinct cell of a column, and the first row that has it."""
    cells, rows = np.unique(column, return_index=True)
    yield from zip(cells.tolist(), rows.tolist(), strict=True)


def _unknown_name_error(rows: Rows, row: int, cell: int, topology: Topology) -> InputError:
    """Return the error that no switch has the name in a cell of a row."""
    examples = " and ".join(map(repr, topology.switch_names[:2]))
    return InputError(
        f"{rows.location(row)}: {rows.texts[cell]!r} is not in the network, whose switches have "
        f"names such as {examples}"
    )


def look_up_switches(rows: Rows, cells: Int32Array, topology: Topology) -> Int32Array:
    """Return the switch that each row names in a column, such as ``rows.source``.

    Raises
    ------
    InputError
        If the network has no such switch.
    """
    known = {name: switch for switch, name in enumerate(topology.switch_names)}
    switch = np.full(len(rows.texts), UNKNOWN, np.int32)
    for cell, row in first_rows(cells):
        if rows.texts[cell] not in known:
            raise _unknown_name_error(rows, row, cell, topology)
        switch[cell] = known[rows.texts[cell]]
    return switch[cells]


def walk_hops(
    rows: Rows,
    topology: Topology,
    source: Int32Array,
    target: Int32Array,
    vcs: int,
) -> tuple[Int8Array, Int64Array, HopChannels]:
    """Find the channel of each hop of all walks, from switch to switch, and the first faults.

    Parameters
    ----------
    rows : Rows
    topology : Topology
    source, target : int32 array
        Switches at both ends of each of `Rows.walks`.
    vcs : int
        Virtual channels of a channel.

    Returns
    -------
    fault : int8 array
        First fault of each walk: a constant of `routelab.kernels.route_list`, `WHOLE` for none.
    fault_cell : int64 array
        Position of the faulty hop in `Rows.cells`; behind the last hop if only the end is wrong.
    hops : HopChannels
        Behind the first fault of a walk, its channels are arbitrary.

    Raises
    ------
    InputError
        If several channels fit a hop, or its text can mean two things.
    """
    # 1. For each text that is a hop: the number of the switch, port, channel or name of a link that
    #    it means (`number`), and the virtual channel that it states (`vc`). Both arrays have an
    #    entry for each of `rows.texts`, like the three conditions of step 2.
    first, end, row = rows.walks()
    lookup = _text_numbers(rows, topology)
    number = np.full(len(rows.texts), UNKNOWN, np.int32)
    vc = np.zeros(len(rows.texts), np.int32)
    for cell, (name, vc_of_hop) in parse_hops(rows, topology).items():
        number[cell], vc[cell] = lookup.get(name, UNKNOWN), vc_of_hop
    # 2. What a channel must have to be the hop, one of three conditions by the form: its target
    #    (switches: `hop_switch`), its label, which is the output port (ports: `hop_label`), or its
    #    own number (links: `hop_link`). Names of links are labels, too: as with ports, several
    #    channels of the network have the same one, but usually only one that leaves a switch.
    any_channel = np.full(len(rows.texts), -1, np.int32)  # −1: a condition that all channels meet
    hop_switch = number if rows.form == "switches" else any_channel
    hop_label = number if rows.form == "ports" else any_channel
    hop_link = number if rows.form == "links" else any_channel
    labels = topology.source_port
    if rows.form == "links" and topology.channel_names:
        labels = _link_name_numbers(topology)
        # `_channel_text_numbers` numbers the names of links behind the channels: with C channels,
        # C is name 0. A hop has one of the two conditions.
        is_name = number >= topology.num_channels
        hop_link = np.where(is_name, any_channel, number)
        hop_label = np.where(is_name, number - topology.num_channels, -1).astype(np.int32)
    # 3. Follow the hops. A channel that is not the only one must be an error, not a choice.
    start = np.concatenate((np.zeros(1, np.int64), np.cumsum(end - first)))
    hop_channel, hop_vc = np.empty(start[-1], np.int32), np.empty(start[-1], np.int16)
    out_start, out_channel = topology.outgoing
    fault, fault_hop = follow_hops(
        first=first,
        end=end,
        source=source,
        target=target,
        cells=rows.cells,
        hop_switch=hop_switch,
        hop_label=hop_label,
        hop_link=hop_link,
        hop_vc=vc,
        vcs=vcs,
        out_start=out_start,
        out_channel=out_channel,
        channel_target=topology.channel_target,
        channel_label=labels,
        path_start=start,
        hop_channel=hop_channel,
        path_vc=hop_vc,
    )
    several = np.flatnonzero(fault == SEVERAL)
    if several.size:
        walk = int(several[0])
        cell = int(first[walk] + fault_hop[walk])
        raise InputError(
            f"{rows.location(row[walk])}: the hop {hop_text(rows, cell)!r} may be "
            "one of several links; give ports or links instead"
        )
    return fault, first + fault_hop, HopChannels(start, hop_channel, hop_vc)


def _link_name_numbers(topology: Topology) -> Int32Array:
    """Return the number of the name of each channel's link, by first use; int32, shape (C,)."""
    numbers: dict[str, int] = {}
    names = topology.channel_names
    return frozen_array([numbers.setdefault(name, len(numbers)) for name in names], np.int32)


def _text_numbers(rows: Rows, topology: Topology) -> dict[str, int]:
    """Return the numbers of all switches, ports or channels by their texts, as `rows.form` says."""
    if rows.form == "switches":
        return {name: switch for switch, name in enumerate(topology.switch_names)}
    if rows.form == "ports":
        if topology.num_channels and topology.source_port.min() < 0:
            raise InputError(
                f"{rows.path}: the hops are ports, and the network does not number its ports"
            )
        return {str(port): port for port in np.unique(topology.source_port).tolist()}
    return _channel_text_numbers(topology)


def _channel_text_numbers(topology: Topology) -> dict[str, int]:
    """Return the numbers of all channels by their texts.

    A channel is known by its number and, if no other has the same, by its `Topology.channel_name`,
    such as ``A>B``. Names of links, which several channels may have, get the numbers from C on, in
    the order of `_link_name_numbers`. A name such as ``3`` that only channel 3 has is this channel;
    if another channel has it, it is `_AMBIGUOUS`.
    """
    names = [topology.channel_name(channel) for channel in range(topology.num_channels)]
    occurrences = Counter(names)
    unique = {name: channel for channel, name in enumerate(names) if occurrences[name] == 1}
    lookup = {**{str(channel): channel for channel in range(len(names))}, **unique}
    if topology.channel_names:
        channels_of_name: dict[str, set[int]] = {}
        for channel, name in enumerate(topology.channel_names):
            channels_of_name.setdefault(name, set()).add(channel)
        for number, (name, channels) in enumerate(channels_of_name.items(), len(names)):
            if name not in lookup:
                lookup[name] = number
            elif channels != {lookup[name]}:
                lookup[name] = _AMBIGUOUS
        lookup.pop("", None)  # Links without a name.
    return lookup


# --- writing ---------------------------------------------------------------------------------


def hop_cell(name: str, vc: int) -> str:
    """Return the cell of a hop; virtual channel 0 is left out unless `name` has an @ of its own."""
    return csv_cell(f"{name}{VC_MARK}{vc}" if vc or VC_MARK in name else name)


def hop_cells(names: list[str], channel: Int32Array, vc: Int16Array) -> list[str]:
    """Return the cells of hops; `names` are the texts of all channels."""
    return [hop_cell(names[c], v) for c, v in zip(channel.tolist(), vc.tolist(), strict=True)]


def csv_cell(text: str) -> str:
    """Return a text as a cell of CSV."""
    text = str(escape_cell(text))
    # Quote what a reader would take for a separator, a comment, or blanks around the cell.
    if (
        any(mark in text for mark in ',;\t"\r\n')
        or text.startswith(COMMENT)
        or text != text.strip()
    ):
        return '"' + text.replace('"', '""') + '"'
    return text


def channel_texts(topology: Topology, form: Form | None) -> tuple[Form, list[str]]:
    """Return how hops are written, and the text of each channel.

    `form` None selects the first form that tells all channels apart. With names of links, a channel
    may have no clear text, for example if its number is the name of another link, its ends are also
    those of a parallel link, and the name of its link is the number of another channel. Readers
    refuse such a text, so these routes cannot be read back.
    """
    source, target = topology.channel_source.tolist(), topology.channel_target.tolist()
    ports = topology.source_port.tolist()
    if form is None:
        form = "links"
        if len(set(zip(source, target, strict=True))) == len(source):
            form = "switches"
        elif len(set(zip(source, ports, strict=True))) == len(ports) and min(ports) >= 0:
            form = "ports"
    if form == "switches":
        return form, [topology.switch_names[switch] for switch in target]
    if form == "ports":
        return form, [str(port) for port in ports]
    numbers = [str(channel) for channel in range(topology.num_channels)]
    if not topology.channel_names:
        return form, numbers
    # A number that is also the name of a link has two readings; then the ends are written or, if
    # they have two readings, too, the name of the link.
    lookup = _channel_text_numbers(topology)
    texts = []
    for channel, number in enumerate(numbers):
        ends = topology.channel_name(channel)
        clear_texts = [text for text in (number, ends) if lookup.get(text) == channel]
        texts.append(clear_texts[0] if clear_texts else topology.channel_names[channel])
    return form, texts
