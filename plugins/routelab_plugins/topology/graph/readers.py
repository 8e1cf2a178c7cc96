"""Readers of edge lists and node-link JSON, and the choice of a reader."""

from __future__ import annotations

import json
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

from routelab.api import InputError
from routelab.toolkit import unescape_cell
from routelab.toolkit.csv_cells import CsvReader
from routelab.toolkit.input_files import describe_binary, read_bytes
from routelab.toolkit.route_cells import FORMS as ROUTE_FORMS

from .graphml import read_graphml
from .network import (
    EDGE_KEYS,
    NODE_KEYS,
    Edge,
    Network,
    Node,
    find_kind_key,
    list_unread_keys,
    read_edge,
    read_is_host,
    read_terminal_count,
)

SUFFIXES = {
    ".txt": "edges",
    ".edges": "edges",
    ".edgelist": "edges",
    ".csv": "csv",
    ".graphml": "graphml",
    ".xml": "graphml",
    ".json": "json",
}
"""Format of each suffix."""


COLUMNS = ("source", "target", *EDGE_KEYS)
"""Columns of CSV that are read."""


def read_network(path: Path, file_format: str) -> Network:
    """Read a network from a file.

    Parameters
    ----------
    path : Path
    file_format : str
        ``"edges"``, ``"csv"``, ``"graphml"``, ``"json"``, or ``"auto"``: by the suffix.

    Raises
    ------
    InputError
        If the file cannot be read, its suffix is unknown, or its content is wrong; the text
        names the file, and the line where there is one.
    """
    if file_format == "auto":
        suffix = path.suffix.lower()
        if suffix not in SUFFIXES:
            raise InputError(
                f"{path}: the suffix {suffix!r} is not a known format (known: "
                f"{' '.join(SUFFIXES)}); set format=edges, csv, graphml or json"
            )
        file_format = SUFFIXES[suffix]
    try:
        content = read_bytes(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    description = describe_binary(content)
    # XML may be in UTF-16
    is_xml = file_format == "graphml" and content.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
    if description and not is_xml:
        raise InputError(f"{path}: the file is {description}")
    file = str(path)
    if file_format == "graphml":
        return read_graphml(content, file)
    readers: dict[str, Callable[[str, str], Network]] = {
        "edges": read_edges,
        "csv": read_csv,
        "json": read_node_link,
    }
    return readers[file_format](_decode(content, file), file)


def _decode(content: bytes, file: str) -> str:
    """Decode UTF-8, with or without a byte order mark, or name the first line with other bytes."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{file}, line {line}: not UTF-8 text; save the file in that encoding"
        ) from None


def read_edges(text: str, file: str) -> Network:
    """Read an edge list: two names per line; a weight or a dictionary after them is not read.

    A first line with the numbers of nodes and edges, as other programs write, is no edge.

    Raises
    ------
    InputError
        If a line has fewer or more items, there is no edge, or the first line may be an edge as
        well as these numbers.
    """
    network = Network()
    for number, line in enumerate(text.splitlines(), 1):
        words = re.sub(r"(^|\s)#.*", "", line).split()
        location = f"{file}, line {number}"
        if not words:
            continue
        if len(words) < 2 or not (len(words) == 2 or _is_ignorable(words[2:])):
            raise InputError(
                f"{location}: expected two names and at most a weight, got {line.strip()!r}; "
                "names with spaces need CSV, GraphML or JSON"
            )
        if len(words) > 2 and words[2:] != ["{}"]:
            network.add_unread("value", ["after the two names of a line"])
        network.edges.append(Edge(words[0], words[1], location))
    _drop_count_line(network)
    return _with_declared_ends(network, file)


def _drop_count_line(network: Network) -> None:
    """Remove the first edge if its two names are the numbers of nodes and of edges that follow.

    If the second name is the number of the edges that follow, the first name n decides:

        n < number of their nodes    an edge
        n > number of their nodes    an edge, with a note: there may be nodes without links
        n = number of their nodes    removed if no other edge has these names, or both are equal

    Raises
    ------
    InputError
        If n is the number of nodes, but another edge has one of the two names, which differ.
    """
    # Small numbers agree too easily: the path 2 1, 1 0 would be 2 nodes and 1 edge.
    if len(network.edges) < 4:
        return
    first, *others = network.edges
    names = {end for edge in others for end in (edge.source, edge.target)}
    num_nodes = int(first.source) if re.fullmatch("[0-9]{1,18}", first.source) else 0
    if num_nodes < len(names) or first.target != str(len(others)):
        return
    location, line = first.location.rpartition(", ")[2], f"'{first.source} {first.target}'"
    # as a link it would be a self-loop, or join two nodes that have no other link
    is_unlikely_link = first.source == first.target or names.isdisjoint(
        (first.source, first.target)
    )
    if num_nodes > len(names):
        network.notes.append(
            f"{location}, {line}, is read as a link; remove it if it has the numbers of nodes and "
            "links"
        )
    elif is_unlikely_link:
        network.edges = others
        network.notes.append(f"not read: {location}, {line}, the numbers of nodes and links")
    else:
        raise InputError(
            f"{first.location}: {line} may be a link, or the numbers of nodes and links; put # "
            "before the numbers, or list the link last"
        )


def _is_ignorable(words: list[str]) -> bool:
    """Return whether the words after two names are a number or a dictionary: ``{'w': 1}``."""
    if words[0].startswith("{"):
        return words[-1].endswith("}")
    return (
        len(words) == 1
        and re.fullmatch(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?", words[0]) is not None
    )


def read_csv(text: str, file: str) -> Network:
    """Read an edge list in CSV: columns source, target, and any of `EDGE_KEYS`.

    Capacity in multiples of the common unit, latency in seconds, ports as numbers, flow control
    ``plain`` or ``bubble``, buffers in packets; other columns are listed in `Network.unread`.

    Raises
    ------
    InputError
        If the header lacks a column or has it twice, or a row does not fit it or could be read in
        two ways.
    """
    network = Network()
    reader = CsvReader(file, iter(StringIO(text, newline=None)))
    header = _read_header(reader.header, f"{file}, line {reader.line}")
    for number, row in reader.rows():
        network.edges.append(_read_row(header, row, f"{file}, line {number}"))
        cells = dict(zip(header, row, strict=True))
        network.add_unread("column", list_unread_keys(cells, COLUMNS))
    return _with_declared_ends(network, file)


def _read_header(row: list[str], location: str) -> list[str]:
    """Return the names of the columns in lower case.

    Raises
    ------
    InputError
        If source or target is missing, a column occurs twice, or it is a header of routes.
    """
    header = [name.lower() for name in row]
    # the last column of a list of routes has one of these names
    if header[-1:] and header[-1] in ROUTE_FORMS:
        raise InputError(
            f"{location}: {','.join(row)!r} is the heading of a list of routes, not of links; "
            "`routelab prove` reads such lists"
        )
    for name in COLUMNS:
        needed = name in ("source", "target")
        if header.count(name) > 1 or (needed and name not in header):
            raise InputError(
                f"{location}: expected a header such as source,target,capacity,latency with each "
                f"column once, got {','.join(row)!r}"
            )
    return header


def _read_row(header: list[str], row: list[str], location: str) -> Edge:
    """Return the edge of one row of a CSV file."""
    if len(row) != len(header):
        raise InputError(f"{location}: {len(row)} cells under a header of {len(header)}")
    cells = {name: unescape_cell(cell) for name, cell in zip(header, row, strict=True)}
    for end in ("source", "target"):
        if not cells[end]:
            raise InputError(f"{location}: the edge has no {end}")
    filled = {name: cell for name, cell in cells.items() if cell}
    return read_edge(filled, cells["source"], cells["target"], location)


def _with_declared_ends(network: Network, file: str) -> Network:
    """Return the network, whose nodes are now the ends of its edges; refuse it without edges."""
    if not network.edges:
        raise InputError(f"{file}: has no edges")
    network.declare_ends()
    return network


def read_node_link(text: str, file: str) -> Network:
    """Read node-link JSON, as `networkx.node_link_data` gives it (``links`` or ``edges``).

    Nodes may have ``label``, ``terminals`` (or ``endpoints``), ``guid`` and ``kind`` (or ``type``:
    switch or host), edges those of `EDGE_KEYS`. If ``multigraph`` is true, equal edges are
    parallel links. Other keys are listed in `Network.unread`.

    Raises
    ------
    InputError
        If it is not JSON, not of that form, or an edge leads to a node that is not listed.
    """
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{file}, line {error.lineno}: not JSON: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file}: cannot be read as JSON: {error}") from None
    if not isinstance(document, dict):
        raise InputError(f"{file}: expected an object with nodes and links (node-link format)")
    directed = document.get("directed", False)
    if not isinstance(directed, bool):
        raise InputError(f"{file}: directed is {directed!r}, expected true or false")
    multigraph = document.get("multigraph", False)
    if not isinstance(multigraph, bool):
        raise InputError(f"{file}: multigraph is {multigraph!r}, expected true or false")
    network = Network(directed=directed, multigraph=multigraph)
    _, nodes = _find_objects(document, ("nodes",), file)
    links_key, edges = _find_objects(document, ("links", "edges"), file)
    top_level_keys = ("directed", "multigraph", "nodes", links_key)
    network.add_unread("top-level key", list_unread_keys(document, top_level_keys))
    kind_key = find_kind_key(node for _, node in nodes)
    for location, node in nodes:
        network.add_unread("node key", list_unread_keys(node, ("id", *NODE_KEYS, kind_key)))
        network.declare(
            Node(
                _read_name(node, "id", location),
                location,
                label=" ".join(str(node.get("label") or "").split()),
                terminals=read_terminal_count(node, location),
                guid=str(node.get("guid") or ""),
                host=read_is_host(node.get(kind_key) or "switch", location),
            )
        )
    # in a multigraph, the key of networkx numbers parallel edges
    edge_keys = (*COLUMNS, "key") if multigraph else COLUMNS
    for location, edge in edges:
        network.add_unread("edge key", list_unread_keys(edge, edge_keys))
        source, target = (_read_name(edge, end, location) for end in ("source", "target"))
        network.edges.append(read_edge(edge, source, target, location))
    network.check_ends()
    return network


def _find_objects(
    document: dict[str, Any], keys: tuple[str, ...], file: str
) -> tuple[str, list[tuple[str, dict[str, Any]]]]:
    """Return the first of the keys whose value is a list, and its objects with their locations."""
    for name in keys:
        entries = document.get(name)
        if isinstance(entries, list):
            break
    else:
        raise InputError(f"{file}: no list named {' or '.join(keys)} (node-link format)")
    for number, entry in enumerate(entries):
        if not isinstance(entry, dict):
            raise InputError(f"{file}, {name}[{number}]: expected an object, got {entry!r}")
    return name, [(f"{file}, {name}[{number}]", entry) for number, entry in enumerate(entries)]


def _read_name(entry: dict[str, Any], field: str, location: str) -> str:
    """Read a node's name; a list of coordinates (a tuple in JSON) becomes ``0.1``."""
    value = entry.get(field)
    parts = value if isinstance(value, list) and value else [value]
    if any(not isinstance(part, str | int | float) for part in parts):
        raise InputError(f"{location}: {field} is {value!r}, expected a name or a number")
    return ".".join(map(str, parts))
