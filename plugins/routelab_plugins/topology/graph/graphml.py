"""A reader of GraphML.

It does not use networkx, which creates nodes that edges name by mistake and merges nodes of equal
names. Source of the format: *GraphML Primer*,
http://graphml.graphdrawing.org/primer/graphml-primer.html.
"""

from __future__ import annotations

from xml.etree import ElementTree as ET

from routelab.api import InputError

from .network import (
    MAX_TERMINALS,
    Edge,
    Network,
    Node,
    host_kind,
    port,
    quantity,
    whole_number,
)

_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
"""Forms of a truth value in XML Schema (xs:boolean), the type of ``directed``."""


def read_graphml(content: bytes, file: str) -> Network:
    """Read the graph of a GraphML file.

    Nodes may have data named ``label``, ``terminals``, ``guid`` and ``kind`` (switch or host),
    edges ``capacity``, ``latency``, ``source_port`` and ``target_port``.

    Raises
    ------
    InputError
        If it is not well-formed XML, not GraphML, or uses nested graphs or hyperedges.
    """
    try:
        root = ET.fromstring(content)
    except ET.ParseError as error:
        raise InputError(f"{file}: not well-formed XML: {error}") from None
    # elements of other namespaces (drawings) are ignored
    name = root.tag.rpartition("}")[2]
    space = root.tag.removesuffix(name)
    if name != "graphml":
        raise InputError(f"{file}: the root is <{name}>, expected <graphml>")
    graph = root.find(f"{space}graph")
    if graph is None or len(list(root.iter(f"{space}graph"))) > 1:
        raise InputError(f"{file}: expected one graph in <graphml>, none in another")
    if graph.find(f"{space}hyperedge") is not None:
        raise InputError(f"{file}: hyperedges are not supported; use edges")
    default = graph.get("edgedefault", "undirected")
    if default not in ("directed", "undirected"):
        raise InputError(f"{file}: edgedefault is {default!r}, expected directed or undirected")
    network = Network(directed=default == "directed")
    data = _Data(root, space)
    for number, node in enumerate(graph.findall(f"{space}node"), 1):
        network.declare(_node(node, data.of(node, "node"), f"{file}, node {number}"))
    for number, edge in enumerate(graph.findall(f"{space}edge"), 1):
        network.edges.append(_edge(edge, data.of(edge, "edge"), f"{file}, edge {number}"))
    network.check_ends()
    return network


class _Data:
    """Names and default values of the data of nodes and edges."""

    def __init__(self, root: ET.Element, space: str) -> None:
        self._space = space
        self._names: dict[str, str] = {}
        self._defaults: dict[str, dict[str, str]] = {"node": {}, "edge": {}}
        for key in root.findall(f"{space}key"):
            name = self._names[key.get("id", "")] = key.get("attr.name", "")
            default = key.find(f"{space}default")
            for domain in ("node", "edge"):
                if default is not None and key.get("for", "all") in (domain, "all"):
                    self._defaults[domain][name] = _text(default)

    def of(self, element: ET.Element, domain: str) -> dict[str, str]:
        """Return the data of a node or edge by name."""
        keys = {item.get("key", ""): _text(item) for item in element.findall(f"{self._space}data")}
        own = {self._names.get(key, key): text for key, text in keys.items()}
        return self._defaults[domain] | own


def _text(element: ET.Element) -> str:
    return (element.text or "").strip()


def _node(element: ET.Element, data: dict[str, str], place: str) -> Node:
    terminals = data.get("terminals")
    return Node(
        element.get("id", ""),
        place,
        label=" ".join(data.get("label", "").split()),
        terminals=None
        if terminals is None
        else whole_number(terminals, "terminals", place, MAX_TERMINALS),
        guid=data.get("guid", ""),
        host=host_kind(data.get("kind") or "switch", place),
    )


def _edge(element: ET.Element, data: dict[str, str], place: str) -> Edge:
    for end in ("source", "target"):
        if not element.get(end):
            raise InputError(f"{place}: an edge has no {end}")
    directed = element.get("directed")
    if directed is not None and directed.strip() not in _BOOLEANS:
        raise InputError(f"{place}: directed is {directed!r}, expected true, false, 1 or 0")
    return Edge(
        element.get("source", ""),
        element.get("target", ""),
        place,
        capacity=quantity(data.get("capacity", 1), "capacity", place, zero=False),
        latency=quantity(data.get("latency", 0), "latency", place, zero=True),
        directed=None if directed is None else _BOOLEANS[directed.strip()],
        source_port=port(data.get("source_port"), "source_port", place),
        target_port=port(data.get("target_port"), "target_port", place),
        key=element.get("id", ""),
    )
