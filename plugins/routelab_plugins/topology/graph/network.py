"""Content of a file of any format, and conversion to a topology."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from routelab.api import InputError, Topology
from routelab.api.number_texts import read_number
from routelab.toolkit.rings import ring_ids

MAX_TERMINALS = 10_000
"""Largest number of terminals at one switch; more are regarded as a mistake."""

MAX_BUFFER = 1_000_000
"""Largest number of packets in a buffer; more are regarded as a mistake."""

MAX_PORT = 65_535
"""Largest number of a port."""

NODE_KEYS = ("label", "terminals", "endpoints", "guid")
"""Values of nodes that are read beside the name and the kind; SST has ``endpoints``."""

KINDS = {
    "switch": False,
    "router": False,
    "host": True,
    "endpoint": True,
    "terminal": True,
}
"""Whether a node of each kind is a host."""

EDGE_KEYS = (
    "name",
    "capacity",
    "latency",
    "source_port",
    "target_port",
    "flow_control",
    "buffer",
    "ring",
)
"""Values of edges that are read beside the ends."""

_ABSENT: tuple[Any, ...] = (None, "", {}, [])
"""Values of keys that a program writes although there is nothing to say."""

NAMED_KEYS = 8
"""Largest number of keys or columns of one category that a note names."""

_UNWRITABLE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
"""Control characters, halves of characters and what is no character: no XML holds them."""


@dataclass(frozen=True)
class Node:
    """A switch or a host in the file.

    `key` is its name in the file (GraphML, JSON: id), to which edges refer. `location` is its place
    in the file, for messages: ``net.csv, line 3``. Missing values are None or "".
    """

    key: str
    location: str
    label: str = ""
    terminals: int | None = None
    guid: str = ""
    host: bool = False


@dataclass(frozen=True)
class Edge:
    """A link in the file.

    `location` is its place in the file, for messages: ``net.csv, line 3``. `directed` is whether it
    is one channel instead of two; None: as the file or the user says. Missing ports are −1; `key`
    and `name` distinguish parallel links. The flow control of both directions (see
    `routelab.api.Topology`) is `bubble` (1: bubble, 0: plain, −1: not declared), `buffer` (packets,
    0: not declared) and `ring` (name of the ring, "" if it is in none).
    """

    source: str
    target: str
    location: str
    capacity: float = 1.0
    latency: float = 0.0
    directed: bool | None = None
    source_port: int = -1
    target_port: int = -1
    key: str = ""
    bubble: int = -1
    buffer: int = 0
    ring: str = ""
    name: str = ""


@dataclass
class Network:
    """A file's content: nodes by key, in order, and edges, which may repeat in a multigraph.

    `unread` has what is in the file but not used: names of keys or columns by category, such as
    ``{"node key": {"colour": None}}``. The inner dictionaries are sets that keep the order. `notes`
    has what else a user should know about how the file was read.
    """

    directed: bool = False
    multigraph: bool = False
    nodes: dict[str, Node] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)
    unread: dict[str, dict[str, None]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add_unread(self, category: str, names: Iterable[str]) -> None:
        """Add names of keys or columns to `unread`, each once."""
        if new := dict.fromkeys(names):
            self.unread.setdefault(category, {}).update(new)

    def declare(self, node: Node) -> None:
        """Add a node that must be new.

        Raises
        ------
        InputError
            If it has no name, or the name of another node, or characters that no export holds.
        """
        if not node.key:
            raise InputError(f"{node.location}: a node has no name")
        if odd := _UNWRITABLE.search(node.key) or _UNWRITABLE.search(node.label):
            raise InputError(
                f"{node.location}: the name {odd.string!r} has the character {odd[0]!r}, which "
                "exports cannot hold; remove it"
            )
        if node.key in self.nodes:
            raise InputError(
                f"{node.location}: node {node.key!r} was already named at "
                f"{self.nodes[node.key].location}; give every node a unique name"
            )
        self.nodes[node.key] = node

    def check_ends(self) -> None:
        """Require every edge's ends to be declared.

        Raises
        ------
        InputError
            If an end is not declared.
        """
        for edge in self.edges:
            for end in (edge.source, edge.target):
                if end not in self.nodes:
                    raise InputError(
                        f"{edge.location}: an edge leads to node {end!r}, which is not declared"
                    )

    def declare_ends(self) -> None:
        """Add the ends of all edges as nodes, in the order in which they first appear.

        If all names are numbers, nodes are in the order of these.
        """
        first_location: dict[str, str] = {}
        for edge in self.edges:
            for end in (edge.source, edge.target):
                first_location.setdefault(end, edge.location)
        names = list(first_location)
        if all(name.isascii() and name.isdecimal() and len(name) <= 18 for name in names):
            # 1 and 01 are two names of one number
            names.sort(key=lambda name: (int(name), name))
        for name in names:
            self.declare(Node(name, first_location[name]))

    def names(self) -> list[str]:
        """Name every node by its label if no other node has that label or key, else by its key."""
        label_count = Counter(node.label for node in self.nodes.values())
        names = []
        for node in self.nodes.values():
            is_key_of_other = node.label != node.key and node.label in self.nodes
            is_unique = label_count[node.label] == 1 and not is_key_of_other
            names.append(node.label if node.label and is_unique else node.key)
        return names


def read_whole_number(value: Any, what: str, location: str, *, limit: int) -> int:
    """Read a whole number from 0 to `limit` (inclusive).

    Raises
    ------
    InputError
        If `value` is not one.
    """
    number = _parse_number(value)
    if number is None or not number.is_integer() or not 0 <= number <= limit:
        raise InputError(
            f"{location}: {what} is {value!r}, expected a whole number from 0 to {limit}"
        )
    return int(number)


def read_quantity(value: Any, what: str, location: str, *, allow_zero: bool) -> float:
    """Read a finite positive number, or zero if that is allowed.

    Raises
    ------
    InputError
        If `value` is not one.
    """
    number = _parse_number(value)
    if (
        number is None
        or not math.isfinite(number)
        or number < 0
        or (number == 0 and not allow_zero)
    ):
        kind = "number that is not negative" if allow_zero else "positive number"
        raise InputError(f"{location}: {what} is {value!r}, expected a {kind}")
    return number


def read_terminal_count(values: Mapping[str, Any], location: str) -> int | None:
    """Read the number of terminals of a switch, ``terminals`` or ``endpoints``; None if missing.

    Raises
    ------
    InputError
        If a value is not a number of terminals, or the two differ.
    """
    counts = {
        key: read_whole_number(values[key], key, location, limit=MAX_TERMINALS)
        for key in ("terminals", "endpoints")
        if values.get(key) is not None
    }
    if len(set(counts.values())) > 1:
        raise InputError(
            f"{location}: terminals is {counts['terminals']} and endpoints {counts['endpoints']}; "
            "they mean the same, leave one of them out"
        )
    return next(iter(counts.values()), None)


def read_is_host(value: Any, location: str) -> bool:
    """Read whether a node is a host from its kind, such as ``host`` or ``router``.

    Raises
    ------
    InputError
        If `value` is none of `KINDS`.
    """
    kind = _plain_kind(value)
    if kind not in KINDS:
        raise InputError(
            f"{location}: kind is {value!r}, expected switch or host (or router, endpoint, "
            "terminal)"
        )
    return KINDS[kind]


def _plain_kind(value: Any) -> str:
    """Return a kind in lower case; "" if it is missing."""
    return str(value or "").strip().lower()


def list_unread_keys(values: Mapping[str, Any], known: Collection[str] = ()) -> list[str]:
    """Return the keys of values that are present and not `known`."""
    return [key for key, value in values.items() if key not in known and value not in _ABSENT]


def find_kind_key(nodes: Iterable[Mapping[str, Any]]) -> str:
    """Return the key of nodes that says which are switches and which hosts: ``kind`` or ``type``.

    Other programs write ``type``, which may also mean anything else. So it counts only if no node
    has a kind and all types are `KINDS`.
    """
    types = set()
    for node in nodes:
        if node.get("kind"):
            return "kind"
        types.add(_plain_kind(node.get("type")))
    types.discard("")  # of nodes without a type
    return "type" if types and types <= KINDS.keys() else "kind"


def read_link_name(value: Any, location: str) -> str:
    """Read the name of a link; "" if missing.

    Raises
    ------
    InputError
        If it is not a text, or has characters that no export holds.
    """
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InputError(f"{location}: name is {value!r}, expected a text")
    name = " ".join(str(value).split())
    if odd := _UNWRITABLE.search(name):
        raise InputError(
            f"{location}: the name {name!r} has the character {odd[0]!r}, which exports cannot "
            "hold; remove it"
        )
    return name


def read_port(value: Any, what: str, location: str) -> int:
    """Read a port number; −1 if missing.

    Raises
    ------
    InputError
        If `value` is not a port number.
    """
    return -1 if value in (None, "") else read_whole_number(value, what, location, limit=MAX_PORT)


def read_edge(
    values: Mapping[str, Any],
    source: str,
    target: str,
    location: str,
    *,
    directed: bool | None = None,
    key: str = "",
) -> Edge:
    """Return the link between two nodes that has the `EDGE_KEYS` among `values`.

    Raises
    ------
    InputError
        If a value is wrong.
    """
    flow_control, ring = values.get("flow_control"), values.get("ring", "")
    if flow_control not in (None, "plain", "bubble"):
        raise InputError(f"{location}: flow_control is {flow_control!r}, expected plain or bubble")
    buffer = read_whole_number(values.get("buffer", 0), "buffer", location, limit=MAX_BUFFER)
    # A topology has 0 where no buffer is declared, so a declared 0 would be lost.
    if "buffer" in values and not buffer:
        raise InputError(f"{location}: buffer is 0 packets; a channel needs room for at least one")
    if isinstance(ring, bool) or not isinstance(ring, str | int):
        raise InputError(f"{location}: ring is {ring!r}, expected a name or a number")
    return Edge(
        source,
        target,
        location,
        capacity=read_quantity(values.get("capacity", 1), "capacity", location, allow_zero=False),
        latency=read_quantity(values.get("latency", 0), "latency", location, allow_zero=True),
        source_port=read_port(values.get("source_port"), "source_port", location),
        target_port=read_port(values.get("target_port"), "target_port", location),
        bubble=-1 if flow_control is None else int(flow_control == "bubble"),
        buffer=buffer,
        ring=str(ring),
        name=read_link_name(values.get("name"), location),
        directed=directed,
        key=key,
    )


def _parse_number(value: Any) -> float | None:
    """Return a number or the number that a text spells; None for everything else."""
    if isinstance(value, bool):
        return None
    try:
        return read_number(value.strip()) if isinstance(value, str) else float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def build_topology(
    network: Network,
    path: Path,
    *,
    terminals: int,
    directed: bool | None,
    repeats: Literal["refuse", "parallel"] = "refuse",
) -> Topology:
    """Return the topology of a file's content; the two channels of an edge follow one another.

    Parameters
    ----------
    network : Network
    path : Path
        The file; its name becomes an attribute.
    terminals : int
        Terminals at each switch whose node has no number of its own; not used if the file has
        hosts.
    directed : bool or None
        Whether all edges are directed; None: as declared in the file.
    repeats : {"refuse", "parallel"}
        A link that is listed again is a mistake, or a parallel link.

    Raises
    ------
    InputError
        If there is no switch or no terminal, a rejected repeated link, or a host that
        is not linked to exactly one switch by one link.
    """
    # 1. Switches are numbered in the file's order, without the hosts between them. Equal edges of a
    #    multigraph are parallel links, not mistakes.
    if not network.nodes:
        raise InputError(f"{path}: has no nodes and no edges")
    self_loops = [edge for edge in network.edges if edge.source == edge.target]
    if repeats == "refuse" and not network.multigraph:
        _refuse_repeats(network, directed)
    switches = [node for node in network.nodes.values() if not node.host]
    index = {node.key: number for number, node in enumerate(switches)}

    # 2. Channels between switches. Links to hosts become terminals below.
    def channel_values() -> Iterator[tuple[Any, ...]]:
        """Yield the ten values of each channel; the columns below name them."""
        for edge in network.edges:
            joins_switches = {edge.source, edge.target} <= index.keys()
            if edge.source == edge.target or not joins_switches:
                continue
            source, target = index[edge.source], index[edge.target]
            # the values that both directions of the link have
            common = edge.capacity, edge.latency, edge.bubble, edge.buffer, edge.ring, edge.name
            yield source, target, edge.source_port, edge.target_port, *common
            if not _is_directed(edge, network, directed):
                yield target, source, edge.target_port, edge.source_port, *common

    # ten columns, which are empty without channels: then `zip` yields none
    sources, targets, source_ports, target_ports, *common_columns = [
        list(column) for column in zip(*channel_values(), strict=True)
    ] or [[]] * 10
    capacities, latencies, bubbles, buffers, rings, link_names = common_columns
    names = dict(zip(network.nodes, network.names(), strict=True))
    # 3. Terminals: the hosts of the file. Only a file without any has numbers of terminals.
    if len(switches) < len(network.nodes):
        hosts = list(_hosts(network))
        terminal_columns: dict[str, Any] = {
            "terminal_switch": [index[switch] for _, switch, _ in hosts],
            "terminal_names": [names[host.key] for host, _, _ in hosts],
            "terminal_guids": [host.guid for host, _, _ in hosts],
            "terminal_port": [port for _, _, port in hosts],
        }
    else:
        counts = [terminals if s.terminals is None else s.terminals for s in switches]
        if not any(counts):
            raise InputError(f"{path}: no switch has a terminal; set terminals=1")
        terminal_columns = {"terminal_switch": np.repeat(np.arange(len(switches)), counts)}
    # 4. The topology. Errors that its own checks find get the name of the file.
    notes = list(_notes(network, terminals, directed))
    try:
        return Topology.create(
            num_switches=len(switches),
            channel_source=sources,
            channel_target=targets,
            source_port=source_ports,
            target_port=target_ports,
            channel_capacity=capacities,
            channel_latency=latencies,
            channel_bubble=bubbles,
            channel_buffer=buffers,
            channel_ring=ring_ids(sources, targets, rings),
            channel_names=link_names,
            switch_names=[names[switch.key] for switch in switches],
            switch_guids=[switch.guid for switch in switches],
            attributes={
                "file": path.name,
                "self_loops_dropped": len(self_loops),
                **({"file_notes": "; ".join(notes)} if notes else {}),
            },
            **terminal_columns,
        )
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _is_directed(edge: Edge, network: Network, directed: bool | None) -> bool:
    """Return whether an edge is one channel: by the parameter, its own mark, or the file's."""
    if directed is not None:
        return directed
    return network.directed if edge.directed is None else edge.directed


def _notes(network: Network, terminals: int, directed: bool | None) -> Iterator[str]:
    """Yield notes for the user: what the file or the parameters have that the network lacks."""
    for category, keys in network.unread.items():
        more = [f"and {len(keys) - NAMED_KEYS} more"] if len(keys) > NAMED_KEYS else []
        plural = "s" if len(keys) > 1 else ""
        yield f"not read: {category}{plural} {', '.join([*list(keys)[:NAMED_KEYS], *more])}"
    yield from network.notes
    hosts = {node.key for node in network.nodes.values() if node.host}
    host_links = [
        edge for edge in network.edges if not hosts.isdisjoint((edge.source, edge.target))
    ]
    # Links to hosts become terminals, which have none of these values: report others than defaults.
    if any((edge.capacity, edge.latency) != (1, 0) for edge in host_links):
        yield "not used: capacity and latency of links to hosts"
    if any(edge.bubble >= 0 or edge.buffer or edge.ring for edge in host_links):
        yield "not used: flow control of links to hosts"
    if hosts and terminals != 1:
        yield f"not used: terminals={terminals}, because the file has hosts"
    # A program may declare the lines of a drawing directed, without any meaning. So report links
    # that lead one way only. Links to hosts, links that say themselves whether they are directed,
    # and self-loops are no sign of such a drawing.
    if directed is None and network.directed:
        links = {(edge.source, edge.target) for edge in network.edges if edge.directed is None}
        links = {ends for ends in links if hosts.isdisjoint(ends) and ends[0] != ends[1]}
        channels = {(edge.source, edge.target) for edge in network.edges}
        channels |= {(edge.target, edge.source) for edge in network.edges if edge.directed is False}
        one_way = [ends for ends in links if ends[::-1] not in channels]
        if one_way:
            names = dict(zip(network.nodes, network.names(), strict=True))
            source, target = (names[end] for end in min(one_way))
            yield (
                f"the file declares its links directed, and {len(one_way)} of {len(links)} lead "
                f"one way only (such as {source} to {target}); set directed=false if they are "
                "lines of a drawing"
            )


def _refuse_repeats(network: Network, directed: bool | None) -> None:
    """Refuse a link that is listed again with the same properties.

    If only the names differ:

        a,b,cable1 and a,b,cable2    two parallel links
        a,b,p1 and b,a,p2            refused: two parallel links, or one with a name at each end

    Raises
    ------
    InputError
        Names both lines.
    """
    location_of_link: dict[tuple[object, ...], str] = {}
    # source and location of the first link with the same properties, whatever its name
    first_listed: dict[tuple[object, ...], tuple[str, str]] = {}
    for edge in network.edges:
        if edge.source == edge.target:
            continue
        ends = [(edge.source, edge.source_port), (edge.target, edge.target_port)]
        if not _is_directed(edge, network, directed):
            # either end may be listed first
            ends.sort()
        properties = (*ends, edge.capacity, edge.latency, edge.directed, edge.key)
        link = (*properties, edge.name)
        first_source, first_location = first_listed.setdefault(
            properties, (edge.source, edge.location)
        )
        # The same properties with another name, and listed from the other end: only the user knows
        # whether this is another link.
        if link not in location_of_link and first_source != edge.source:
            raise InputError(
                f"{edge.location}: the link {edge.name!r} from {edge.source!r} to {edge.target!r} "
                f"may be the other direction of the link at {first_location}, or a link beside it; "
                "set directed=true if each line is one channel, or list parallel links from the "
                "same end"
            )
        if link in location_of_link:
            raise InputError(
                f"{edge.location}: the link between {edge.source!r} and {edge.target!r} was "
                f"already listed at {location_of_link[link]}; remove one, set repeats=parallel if "
                "there are two links, or directed=true if each line is one channel"
            )
        location_of_link[link] = edge.location


def _hosts(network: Network) -> Iterator[tuple[Node, str, int]]:
    """Iterate over hosts with the key of their switch and the port there, in the file's order.

    Raises
    ------
    InputError
        If a host is not linked to exactly one switch by one link, or a switch has another number
        of terminals than of hosts.
    """
    # 1. Links of each host: the peer, the port there, and whether the host is the edge's source.
    links: dict[str, list[tuple[str, int, bool]]] = {}
    for edge in network.edges:
        for host, peer, port, is_source in (
            (edge.source, edge.target, edge.target_port, True),
            (edge.target, edge.source, edge.source_port, False),
        ):
            if network.nodes[host].host:
                links.setdefault(host, []).append((peer, port, is_source))
    peers_of = {host: {peer for peer, _, _ in host_links} for host, host_links in links.items()}
    num_hosts = Counter(peer for peers in peers_of.values() for peer in peers)
    # 2. Check all nodes, and yield the hosts.
    for node in network.nodes.values():
        if not node.host:
            if node.terminals not in (None, num_hosts[node.key]):
                raise InputError(
                    f"{node.location}: node {node.key!r} has a number of terminals, but the file "
                    f"also has hosts, {num_hosts[node.key]} of them at this node; leave the number "
                    "out"
                )
            continue
        host_links = links.get(node.key, [])
        # in a directed network a link may consist of two edges, one each way
        directions = [is_source for _, _, is_source in host_links]
        is_one_link = len(host_links) == 1 or sorted(directions) == [False, True]
        peers = peers_of.get(node.key, set())
        if len(peers) != 1 or not is_one_link:
            raise InputError(
                f"{node.location}: host {node.key!r} has {len(host_links)} links, expected one, "
                "to a switch"
            )
        (peer,) = peers
        if network.nodes[peer].host:
            raise InputError(f"{node.location}: host {node.key!r} is linked to another host")
        # −1 is a missing port: one of two edges may have it
        yield node, peer, max(port for _, port, _ in host_links)
