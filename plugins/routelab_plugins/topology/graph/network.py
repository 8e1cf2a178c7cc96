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
"""Largest number of keys or columns of one sort that a note names."""

_UNWRITABLE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
"""Control characters, halves of characters and what is no character: no XML holds them."""


@dataclass(frozen=True)
class Node:
    """A switch or a host in the file, at `place`; missing values are None."""

    key: str
    place: str
    label: str = ""
    terminals: int | None = None
    guid: str = ""
    host: bool = False


@dataclass(frozen=True)
class Edge:
    """A link in the file; `directed` is None for the file's default.

    Missing ports are −1; `key` and `name` distinguish parallel links. `bubble`, `buffer` and `ring`
    are the flow control of both directions; see `routelab.api.Topology`.
    """

    source: str
    target: str
    place: str
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

    `unread` has the keys or columns with values that the network does not use, by their sort
    (such as ``node key``), and `notes` what else a user should know about how the file was read.
    """

    directed: bool = False
    multigraph: bool = False
    nodes: dict[str, Node] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)
    unread: dict[str, dict[str, None]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add_unread(self, sort: str, names: Iterable[str]) -> None:
        """Add keys or columns that are not read, each once."""
        if new := dict.fromkeys(names):
            self.unread.setdefault(sort, {}).update(new)

    def declare(self, node: Node) -> None:
        """Add a node that must be new.

        Raises
        ------
        InputError
            If it has no name, or the name of another node, or characters that no export holds.
        """
        if not node.key:
            raise InputError(f"{node.place}: a node has no name")
        if odd := _UNWRITABLE.search(node.key) or _UNWRITABLE.search(node.label):
            raise InputError(
                f"{node.place}: the name {odd.string!r} has the character {odd[0]!r}, which "
                "exports cannot hold; remove it"
            )
        if node.key in self.nodes:
            raise InputError(
                f"{node.place}: node {node.key!r} was already named at "
                f"{self.nodes[node.key].place}; give every node a unique name"
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
                        f"{edge.place}: an edge leads to node {end!r}, which is not declared"
                    )

    def declare_ends(self) -> None:
        """Add the ends of all edges as nodes: in order of number if all names are numbers.

        Other names stay in the order in which they appear.
        """
        places = {
            end: edge.place for edge in reversed(self.edges) for end in (edge.target, edge.source)
        }
        names = list(
            dict.fromkeys(end for edge in self.edges for end in (edge.source, edge.target))
        )
        if all(name.isascii() and name.isdecimal() and len(name) <= 18 for name in names):
            names.sort(key=lambda name: (int(name), name))
        for name in names:
            self.declare(Node(name, places[name]))

    def names(self) -> list[str]:
        """Name every switch by its label if no other switch has that name, else by its key."""
        count = Counter(node.label for node in self.nodes.values())
        return [
            node.label
            if node.label
            and count[node.label] == 1
            and (node.label == node.key or node.label not in self.nodes)
            else node.key
            for node in self.nodes.values()
        ]


def whole_number(value: Any, what: str, place: str, limit: int) -> int:
    """Read a whole number from 0 to `limit` (inclusive).

    Raises
    ------
    InputError
        If `value` is not one.
    """
    number = _number(value)
    if number is None or not number.is_integer() or not 0 <= number <= limit:
        raise InputError(f"{place}: {what} is {value!r}, expected a whole number from 0 to {limit}")
    return int(number)


def quantity(value: Any, what: str, place: str, *, zero: bool) -> float:
    """Read a finite positive number, or zero where that is allowed.

    Raises
    ------
    InputError
        If `value` is not one.
    """
    number = _number(value)
    if number is None or not math.isfinite(number) or number < 0 or (number == 0 and not zero):
        kind = "number that is not negative" if zero else "positive number"
        raise InputError(f"{place}: {what} is {value!r}, expected a {kind}")
    return number


def terminal_count(values: Mapping[str, Any], place: str) -> int | None:
    """Read the number of terminals of a switch, ``terminals`` or ``endpoints``; None if missing.

    Raises
    ------
    InputError
        If a value is not a number of terminals, or the two differ.
    """
    counts = {
        key: whole_number(values[key], key, place, MAX_TERMINALS)
        for key in ("terminals", "endpoints")
        if values.get(key) is not None
    }
    if len(set(counts.values())) > 1:
        raise InputError(
            f"{place}: terminals is {counts['terminals']} and endpoints {counts['endpoints']}; "
            "they mean the same, leave one of them out"
        )
    return next(iter(counts.values()), None)


def host_kind(value: Any, place: str) -> bool:
    """Read whether a node is a host.

    Raises
    ------
    InputError
        If `value` is none of `KINDS`.
    """
    kind = _plain_kind(value)
    if kind not in KINDS:
        raise InputError(
            f"{place}: kind is {value!r}, expected switch or host (or router, endpoint, terminal)"
        )
    return KINDS[kind]


def _plain_kind(value: Any) -> str:
    return str(value or "").strip().lower()


def unread_keys(values: Mapping[str, Any], known: Collection[str] = ()) -> list[str]:
    """Return the keys of values that are present and not `known`."""
    return [key for key, value in values.items() if key not in known and value not in _ABSENT]


def kind_key(nodes: Iterable[Mapping[str, Any]]) -> str:
    """Return the key that tells switches from hosts.

    This is ``kind``. If no node has it, it is ``type``, which other programs write, but only if
    all its values are `KINDS`: a type may mean anything else.
    """
    types = set()
    for node in nodes:
        if node.get("kind"):
            return "kind"
        types.add(_plain_kind(node.get("type")))
    return "type" if types - {""} and types <= {"", *KINDS} else "kind"


def link_name(value: Any, place: str) -> str:
    """Read the name of a link; "" if missing.

    Raises
    ------
    InputError
        If it is not a text, or has characters that no export holds.
    """
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InputError(f"{place}: name is {value!r}, expected a text")
    name = " ".join(str(value).split())
    if odd := _UNWRITABLE.search(name):
        raise InputError(
            f"{place}: the name {name!r} has the character {odd[0]!r}, which exports cannot hold; "
            "remove it"
        )
    return name


def port(value: Any, what: str, place: str) -> int:
    """Read a port number; −1 if missing.

    Raises
    ------
    InputError
        If `value` is not a port number.
    """
    return -1 if value in (None, "") else whole_number(value, what, place, MAX_PORT)


def read_edge(values: Mapping[str, Any], source: str, target: str, place: str, **more: Any) -> Edge:
    """Read a link from its values by name; `EDGE_KEYS` are those that count.

    Raises
    ------
    InputError
        If a value is wrong.
    """
    flow_control, ring = values.get("flow_control"), values.get("ring", "")
    if flow_control not in (None, "plain", "bubble"):
        raise InputError(f"{place}: flow_control is {flow_control!r}, expected plain or bubble")
    buffer = whole_number(values.get("buffer", 0), "buffer", place, MAX_BUFFER)
    if "buffer" in values and not buffer:
        raise InputError(f"{place}: buffer is 0 packets; a channel needs room for at least one")
    if not isinstance(ring, str | int):
        raise InputError(f"{place}: ring is {ring!r}, expected a name or a number")
    return Edge(
        source,
        target,
        place,
        capacity=quantity(values.get("capacity", 1), "capacity", place, zero=False),
        latency=quantity(values.get("latency", 0), "latency", place, zero=True),
        source_port=port(values.get("source_port"), "source_port", place),
        target_port=port(values.get("target_port"), "target_port", place),
        bubble=-1 if flow_control is None else int(flow_control == "bubble"),
        buffer=buffer,
        ring=str(ring),
        name=link_name(values.get("name"), place),
        **more,
    )


def _number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        return read_number(value.strip()) if isinstance(value, str) else float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def topology_of(
    network: Network,
    path: Path,
    *,
    terminals: int,
    directed: bool | None,
    repeats: Literal["refuse", "parallel"] = "refuse",
) -> Topology:
    """Make the topology: an edge's channels follow one another, in the order of the file.

    Parameters
    ----------
    network : Network
    path : Path
        The file; its name becomes an attribute.
    terminals : int
        Terminals at each switch without such an attribute; not used if the file has hosts.
    directed : bool or None
        Whether all edges are directed; None: as declared in the file.
    repeats : {"refuse", "parallel"}
        Meaning of a link that is listed again.

    Raises
    ------
    InputError
        If there is no switch or no terminal, a rejected repeated link, or a host that
        is not linked to exactly one switch by one link.
    """
    # 1. Switches are numbered in the file's order, without the hosts between them.
    if not network.nodes:
        raise InputError(f"{path}: has no nodes and no edges")
    loops = [edge for edge in network.edges if edge.source == edge.target]
    if repeats == "refuse" and not network.multigraph:
        _refuse_repeats(network, directed)
    switches = [node for node in network.nodes.values() if not node.host]
    index = {node.key: number for number, node in enumerate(switches)}

    # 2. Channels. Links to hosts are none: they become terminals below.
    def channels() -> Iterator[tuple[Any, ...]]:
        """Yield source, target, ports and the other values of channels between switches."""
        for edge in network.edges:
            if edge.source == edge.target or not {edge.source, edge.target} <= index.keys():
                continue
            source, target = index[edge.source], index[edge.target]
            ports = edge.source_port, edge.target_port
            others = edge.capacity, edge.latency, edge.bubble, edge.buffer, edge.ring, edge.name
            yield source, target, *ports, *others
            is_directed = network.directed if edge.directed is None else edge.directed
            if not (is_directed if directed is None else directed):
                yield target, source, *ports[::-1], *others

    columns: list[Any] = [list(column) for column in zip(*channels(), strict=True)] or [[]] * 10
    names = dict(zip(network.nodes, network.names(), strict=True))
    # 3. Terminals: the hosts of the file. Only a file without any has numbers of terminals.
    if len(switches) < len(network.nodes):
        hosts = list(_hosts(network))
        terminal_columns: dict[str, Any] = {
            "terminal_switch": [index[switch] for _, switch, _ in hosts],
            "terminal_names": [names[host.key] for host, _, _ in hosts],
            "terminal_guids": [host.guid for host, _, _ in hosts],
            "terminal_port": [number for _, _, number in hosts],
        }
    else:
        at_switch = [terminals if s.terminals is None else s.terminals for s in switches]
        if not any(at_switch):
            raise InputError(f"{path}: no switch has a terminal; set terminals=1")
        terminal_columns = {"terminal_switch": np.repeat(np.arange(len(switches)), at_switch)}
    # 4. The topology, whose own checks know nothing of the file.
    notes = list(_notes(network, terminals, directed))
    try:
        return Topology.create(
            num_switches=len(switches),
            channel_source=columns[0],
            channel_target=columns[1],
            source_port=columns[2],
            target_port=columns[3],
            channel_capacity=columns[4],
            channel_latency=columns[5],
            channel_bubble=columns[6],
            channel_buffer=columns[7],
            channel_ring=ring_ids(columns[0], columns[1], columns[8]),
            channel_names=columns[9],
            switch_names=[names[switch.key] for switch in switches],
            switch_guids=[switch.guid for switch in switches],
            attributes={
                "file": path.name,
                "self_loops_dropped": len(loops),
                **({"file_notes": "; ".join(notes)} if notes else {}),
            },
            **terminal_columns,
        )
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _notes(network: Network, terminals: int, directed: bool | None) -> Iterator[str]:
    """Yield what the file or the parameters have that the network does not use."""
    for sort, keys in network.unread.items():
        more = [f"and {len(keys) - NAMED_KEYS} more"] if len(keys) > NAMED_KEYS else []
        plural = "s" if len(keys) > 1 else ""
        yield f"not read: {sort}{plural} {', '.join([*list(keys)[:NAMED_KEYS], *more])}"
    yield from network.notes
    hosts = {node.key for node in network.nodes.values() if node.host}
    host_links = [
        edge for edge in network.edges if not hosts.isdisjoint((edge.source, edge.target))
    ]
    if any((edge.capacity, edge.latency) != (1, 0) for edge in host_links):
        yield "not used: capacity and latency of links to hosts"
    if any(edge.bubble >= 0 or edge.buffer or edge.ring for edge in host_links):
        yield "not used: flow control of links to hosts"
    if hosts and terminals != 1:
        yield f"not used: terminals={terminals}, because the file has hosts"
    # A file may declare the lines of a drawing directed, without any meaning. Links to hosts and
    # links with a direction of their own say nothing about that.
    if directed is None and network.directed:
        links = {(edge.source, edge.target) for edge in network.edges if edge.directed is None}
        links = {ends for ends in links if hosts.isdisjoint(ends) and len(set(ends)) == 2}
        ways = {(edge.source, edge.target) for edge in network.edges}
        ways |= {(edge.target, edge.source) for edge in network.edges if edge.directed is False}
        one_way = [ends for ends in links if ends[::-1] not in ways]
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

    Links of different names are parallel, if both are listed from the same end. Else the second
    may also be the other direction of the first.

    Raises
    ------
    InputError
        Names both places.
    """
    places: dict[tuple[object, ...], str] = {}
    begins: dict[tuple[object, ...], tuple[str, str]] = {}
    for edge in network.edges:
        if edge.source == edge.target:
            continue
        # the two ends of a link without direction may be listed in any order
        one_way = network.directed if edge.directed is None else edge.directed
        ends = [(edge.source, edge.source_port), (edge.target, edge.target_port)]
        if not (one_way if directed is None else directed):
            ends.sort()
        unnamed = (*ends, edge.capacity, edge.latency, edge.directed, edge.key)
        link = (*unnamed, edge.name)
        # Another name from the same end is a parallel link. From the other end it may also be the
        # name that the same cable has there, and only the user knows.
        begin, place = begins.setdefault(unnamed, (edge.source, edge.place))
        if link not in places and begin != edge.source:
            raise InputError(
                f"{edge.place}: the link {edge.name!r} from {edge.source!r} to {edge.target!r} may "
                f"be the other direction of the link at {place}, or a link beside it; set "
                "directed=true if each line is one channel, or list parallel links from the same "
                "end"
            )
        if link in places:
            raise InputError(
                f"{edge.place}: the link between {edge.source!r} and {edge.target!r} was already "
                f"listed at {places[link]}; remove one, set repeats=parallel if there are two "
                "links, or directed=true if each line is one channel"
            )
        places[link] = edge.place


def _hosts(network: Network) -> Iterator[tuple[Node, str, int]]:
    """Iterate over hosts with the key of their switch and the port there, in the file's order.

    Raises
    ------
    InputError
        If a host is not linked to exactly one switch by one link, or a switch has another number
        of terminals than of hosts.
    """
    links: dict[str, list[tuple[str, int, bool]]] = {}
    for edge in network.edges:
        for host, peer, number, out in (
            (edge.source, edge.target, edge.target_port, True),
            (edge.target, edge.source, edge.source_port, False),
        ):
            if network.nodes[host].host:
                links.setdefault(host, []).append((peer, number, out))
    hosts_at = Counter(peer for ends in links.values() for peer in {peer for peer, _, _ in ends})
    for node in network.nodes.values():
        if not node.host:
            if node.terminals not in (None, hosts_at[node.key]):
                raise InputError(
                    f"{node.place}: node {node.key!r} has a number of terminals, but the file "
                    f"also has hosts, {hosts_at[node.key]} of them at this node; leave the number "
                    "out"
                )
            continue
        host_links = links.get(node.key, [])
        # in a directed network a link may consist of two edges, one each way
        two_ways = len(host_links) == 2 and host_links[0][2] != host_links[1][2]
        if len({peer for peer, _, _ in host_links}) != 1 or (len(host_links) > 1 and not two_ways):
            raise InputError(
                f"{node.place}: host {node.key!r} has {len(host_links)} links, expected one, "
                "to a switch"
            )
        if network.nodes[host_links[0][0]].host:
            raise InputError(f"{node.place}: host {node.key!r} is linked to another host")
        yield node, host_links[0][0], max(number for _, number, _ in host_links)
