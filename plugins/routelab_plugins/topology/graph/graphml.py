"""A reader of GraphML that records line numbers.

It uses the expat parser, not networkx, which creates nodes that edges name by mistake, merges nodes
of equal names, and does not report lines. Source of the format: *GraphML Primer*,
http://graphml.graphdrawing.org/primer/graphml-primer.html.
"""

from __future__ import annotations

from xml.parsers import expat

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
    reader = _Reader(file)
    try:
        reader.parser.Parse(content, True)
    except expat.ExpatError as error:
        raise InputError(
            f"{file}, line {error.lineno}: not well-formed XML: {expat.ErrorString(error.code)}"
        ) from None
    reader.network.check_ends()
    return reader.network


class _Reader:
    """Handlers of expat's events, which fill `network`."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.network = Network()
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._add_text
        self._open: list[str] = []
        self._space = ""
        self._graphs = 0
        self._key_names: dict[str, str] = {}
        self._defaults: dict[str, dict[str, str]] = {"node": {}, "edge": {}}
        self._key: dict[str, str] = {}
        self._element: dict[str, str] = {}
        self._place = ""
        self._data: dict[str, str] = {}
        self._data_name = ""
        self._text: list[str] = []

    def _here(self) -> str:
        return f"{self.file}, line {self.parser.CurrentLineNumber}"

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        """Begin an element; the parser's handler."""
        space, _, name = tag.rpartition(" ")
        if not self._open:
            if name != "graphml":
                raise InputError(f"{self._here()}: the root is <{name}>, expected <graphml>")
            self._space = space
        # elements of other namespaces (drawings) are ignored
        name = name if space == self._space else ""
        parent = self._open[-1] if self._open else ""
        self._open.append(name)
        self._text = []
        if name == "hyperedge":
            raise InputError(f"{self._here()}: hyperedges are not supported; use edges")
        if name == "graph":
            self._start_graph(parent, attributes)
        elif name == "key":
            self._key = attributes
            self._key_names[attributes.get("id", "")] = attributes.get("attr.name", "")
        elif name in ("node", "edge") and parent == "graph":
            self._element, self._place, self._data = attributes, self._here(), {}
        elif name == "data":
            key = attributes.get("key", "")
            self._data_name = self._key_names.get(key, key)

    def _start_graph(self, parent: str, attributes: dict[str, str]) -> None:
        """Take the direction of a graph's edges; refuse a second graph."""
        self._graphs += 1
        if parent != "graphml" or self._graphs > 1:
            raise InputError(
                f"{self._here()}: a second or nested graph; leave one graph in the file"
            )
        default = attributes.get("edgedefault", "undirected")
        if default not in ("directed", "undirected"):
            raise InputError(
                f"{self._here()}: edgedefault is {default!r}, expected directed or undirected"
            )
        self.network.directed = default == "directed"

    def _add_text(self, text: str) -> None:
        self._text.append(text)

    def _end(self, _tag: str) -> None:
        """End an element, and store what it holds; the parser's handler."""
        name = self._open.pop()
        parent = self._open[-1] if self._open else ""
        text = "".join(self._text).strip()
        if name == "default" and parent == "key":
            for domain in ("node", "edge"):
                if self._key.get("for", "all") in (domain, "all"):
                    self._defaults[domain][self._key.get("attr.name", "")] = text
        elif name == "data" and parent in ("node", "edge"):
            self._data[self._data_name] = text
        elif name == "node" and parent == "graph":
            self._add_node()
        elif name == "edge" and parent == "graph":
            self._add_edge()

    def _add_node(self) -> None:
        """Declare the node that has just ended."""
        data = self._defaults["node"] | self._data
        terminals = data.get("terminals")
        self.network.declare(
            Node(
                self._element.get("id", ""),
                self._place,
                label=" ".join(data.get("label", "").split()),
                terminals=None
                if terminals is None
                else whole_number(terminals, "terminals", self._place, MAX_TERMINALS),
                guid=data.get("guid", ""),
                host=host_kind(data.get("kind") or "switch", self._place),
            )
        )

    def _add_edge(self) -> None:
        """Add the edge that has just ended."""
        data = self._defaults["edge"] | self._data
        for end in ("source", "target"):
            if not self._element.get(end):
                raise InputError(f"{self._place}: an edge has no {end}")
        directed = self._element.get("directed")
        if directed is not None and directed.strip() not in _BOOLEANS:
            raise InputError(
                f"{self._place}: directed is {directed!r}, expected true, false, 1 or 0"
            )
        self.network.edges.append(
            Edge(
                self._element["source"],
                self._element["target"],
                self._place,
                capacity=quantity(data.get("capacity", 1), "capacity", self._place, zero=False),
                latency=quantity(data.get("latency", 0), "latency", self._place, zero=True),
                directed=None if directed is None else _BOOLEANS[directed.strip()],
                source_port=port(data.get("source_port"), "source_port", self._place),
                target_port=port(data.get("target_port"), "target_port", self._place),
                key=self._element.get("id", ""),
            )
        )
