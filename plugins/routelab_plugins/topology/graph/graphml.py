"""A reader of GraphML.

It does not use networkx, which creates nodes that edges name by mistake and merges nodes of equal
names. Source of the format: *GraphML Primer*,
http://graphml.graphdrawing.org/primer/graphml-primer.html.
"""

from __future__ import annotations

from xml.etree import ElementTree as ET

from routelab.api import InputError

from .network import (
    EDGE_KEYS,
    MAX_PORT,
    NODE_KEYS,
    Edge,
    Network,
    Node,
    find_kind_key,
    list_unread_keys,
    read_edge,
    read_is_host,
    read_port,
    read_terminal_count,
)

_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
"""Forms of a truth value in XML Schema (xs:boolean), the type of ``directed``."""

_PORTS = {"source_port": "sourceport", "target_port": "targetport"}
"""XML attributes with names of ports, which may be numbers, by the data that means the same."""


def read_graphml(content: bytes, file: str) -> Network:
    """Read the graph of a GraphML file.

    Nodes may have data named ``label``, ``terminals`` (or ``endpoints``), ``guid`` and ``kind`` (or
    ``type``: switch or host), edges those of `EDGE_KEYS`. The attributes ``sourceport`` and
    ``targetport`` are read as ports if all of the file's are numbers. Other data are
    listed in `Network.unread`.

    Raises
    ------
    InputError
        If it is not well-formed XML, not GraphML, or uses nested graphs or hyperedges.
    """
    try:
        root = ET.fromstring(content)
    except ET.ParseError as error:
        raise InputError(f"{file}: not well-formed XML: {error}") from None
    # Tags are {namespace}name. Elements of other namespaces (drawings) are ignored.
    name = root.tag.rpartition("}")[2]
    namespace = root.tag.removesuffix(name)
    if name != "graphml":
        raise InputError(f"{file}: the root is <{name}>, expected <graphml>")
    graph = root.find(f"{namespace}graph")
    if graph is None or len(list(root.iter(f"{namespace}graph"))) > 1:
        raise InputError(f"{file}: expected one graph in <graphml>, none in another")
    if graph.find(f"{namespace}hyperedge") is not None:
        raise InputError(f"{file}: hyperedges are not supported; use edges")
    default = graph.get("edgedefault", "undirected")
    if default not in ("directed", "undirected"):
        raise InputError(f"{file}: edgedefault is {default!r}, expected directed or undirected")
    network = Network(directed=default == "directed")
    data = _DataReader(root, namespace)
    network.add_unread("graph key", list_unread_keys(data.values(graph, "graph")))
    nodes = [(node, data.values(node, "node")) for node in graph.findall(f"{namespace}node")]
    kind_key = find_kind_key(values for _, values in nodes)
    for number, (node, values) in enumerate(nodes, 1):
        network.declare(
            _read_node(node, values, kind_key=kind_key, location=f"{file}, node {number}")
        )
        network.add_unread("node key", list_unread_keys(values, {*NODE_KEYS, kind_key}))
        if not values.get("label") and _has_drawn_label(node):
            network.add_unread("label", ["of nodes in the drawing"])
    edges = graph.findall(f"{namespace}edge")
    # Ports of GraphML have names, which are read if all of the file's are numbers. An edge may lack
    # a port: it counts as a number here.
    ports_are_numbers = all(
        _is_port_number(edge.get(attribute) or "0")
        for edge in edges
        for attribute in _PORTS.values()
    )
    for number, edge in enumerate(edges, 1):
        values, location = data.values(edge, "edge"), f"{file}, edge {number}"
        network.add_unread("edge key", list_unread_keys(values, EDGE_KEYS))
        if ports_are_numbers:
            _add_ports(values, edge, location)
        else:
            network.add_unread("edge attribute", sorted({*_PORTS.values()} & {*edge.keys()}))
        network.edges.append(_read_edge_element(edge, values, location))
        if _has_drawn_label(edge):
            network.add_unread("label", ["of edges in the drawing"])
    network.check_ends()
    return network


def _is_port_number(text: str) -> bool:
    is_number = text.isascii() and text.isdecimal() and len(text) < 10
    return is_number and int(text) <= MAX_PORT


def _add_ports(values: dict[str, str], edge: ET.Element, location: str) -> None:
    """Add the ports in an edge's XML attributes to its data; refuse other ports there."""
    for name, attribute in _PORTS.items():
        number = edge.get(attribute)
        if not number:
            continue
        if values.get(name) and read_port(values[name], name, location) != int(number):
            raise InputError(
                f"{location}: {name} is {values[name]!r} and {attribute} {number!r}; they mean the "
                "same, leave one of them out"
            )
        values[name] = number


def _has_drawn_label(element: ET.Element) -> bool:
    """Return whether yEd shows a text at a node or an edge."""
    return any(
        item.tag.endswith(("}NodeLabel", "}EdgeLabel")) and _text(item) for item in element.iter()
    )


class _DataReader:
    """Reads the data of nodes and edges, whose names and defaults are declared once for the file.

    Here the first edge has capacity 4, the second one capacity 1:

        <key id="d0" for="edge" attr.name="capacity"><default>1</default></key>
        <edge source="a" target="b"><data key="d0">4</data></edge>
        <edge source="b" target="c"/>
    """

    def __init__(self, root: ET.Element, namespace: str) -> None:
        self._namespace = namespace
        self._names: dict[str, str] = {}
        self._defaults: dict[str, dict[str, str]] = {"node": {}, "edge": {}}
        for key in root.findall(f"{namespace}key"):
            id_ = key.get("id", "")
            name = self._names[id_] = key.get("attr.name") or id_
            default = key.find(f"{namespace}default")
            for domain in ("node", "edge"):
                if default is not None and key.get("for", "all") in (domain, "all"):
                    self._defaults[domain][name] = _text(default)

    def values(self, element: ET.Element, domain: str) -> dict[str, str]:
        """Return the data of a node, an edge or the graph by name, with defaults."""
        by_id = {
            item.get("key", ""): _text(item) for item in element.findall(f"{self._namespace}data")
        }
        by_name = {self._names.get(id_, id_): text for id_, text in by_id.items()}
        return self._defaults.get(domain, {}) | by_name


def _text(element: ET.Element) -> str:
    return (element.text or "").strip()


def _read_node(element: ET.Element, data: dict[str, str], *, kind_key: str, location: str) -> Node:
    return Node(
        element.get("id", ""),
        location,
        label=" ".join(data.get("label", "").split()),
        terminals=read_terminal_count(data, location),
        guid=data.get("guid", ""),
        host=read_is_host(data.get(kind_key) or "switch", location),
    )


def _read_edge_element(element: ET.Element, data: dict[str, str], location: str) -> Edge:
    for end in ("source", "target"):
        if not element.get(end):
            raise InputError(f"{location}: an edge has no {end}")
    directed = element.get("directed")
    if directed is not None and directed.strip() not in _BOOLEANS:
        raise InputError(f"{location}: directed is {directed!r}, expected true, false, 1 or 0")
    return read_edge(
        data,
        element.get("source", ""),
        element.get("target", ""),
        location,
        directed=None if directed is None else _BOOLEANS[directed.strip()],
        key=element.get("id", ""),
    )
