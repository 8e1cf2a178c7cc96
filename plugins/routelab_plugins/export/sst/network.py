"""network.graphml: the switches and links of a network, as SST imports them.

SST numbers routers by the order of the nodes, and endpoints by the order of the nodes, too. So
endpoint 0 need not be terminal 0: `terminals` has the terminals of a node in SST's order. SST reads
`endpoints` alone; the other attributes are for people, and for `read_graph`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TypeVar
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape

from routelab.api import InputError, Topology
from routelab.api.number_texts import read_integer

Value = TypeVar("Value")

_GRAPHML = "http://graphml.graphdrawing.org/xmlns"
_ATTRIBUTES = (
    ("node", "endpoints", "int"),
    ("node", "name", "string"),
    ("node", "terminals", "string"),
    ("node", "terminal_names", "string"),
    ("edge", "channel", "int"),
    ("edge", "opposite", "int"),
)
"""Part of the graph, name and type of each attribute. None may be called ``weight``, because SST
computes paths of shortest weight for its own messages before the run."""


def graph_lines(topology: Topology) -> Iterator[str]:
    """Yield the lines of the file; every channel has an opposite one."""
    yield "<?xml version='1.0' encoding='utf-8'?>"
    yield f'<graphml xmlns="{_GRAPHML}">'
    for part, name, kind in _ATTRIBUTES:
        yield f' <key id="{name}" for="{part}" attr.name="{name}" attr.type="{kind}"/>'
    yield ' <graph edgedefault="undirected">'
    terminals: list[list[int]] = [[] for _ in range(topology.num_switches)]
    for terminal, switch in enumerate(topology.terminal_switch.tolist()):
        terminals[switch].append(terminal)
    for switch, (name, own) in enumerate(zip(topology.switch_names, terminals, strict=True)):
        data = {"endpoints": str(len(own)), "name": name, "terminals": json.dumps(own)}
        if topology.terminal_names:
            names = [topology.terminal_names[terminal] for terminal in own]
            data["terminal_names"] = json.dumps(names)
        yield f'  <node id="n{switch}">{_data(data)}</node>'
    source, target = topology.channel_source.tolist(), topology.channel_target.tolist()
    for channel, opposite in topology.links.tolist():
        data = {"channel": str(channel), "opposite": str(opposite)}
        ends = f'source="n{source[channel]}" target="n{target[channel]}"'
        yield f"  <edge {ends}>{_data(data)}</edge>"
    yield " </graph>"
    yield "</graphml>"


def _data(values: dict[str, str]) -> str:
    # a carriage return would be read as a line feed
    texts = {key: escape(value, {"\r": "&#13;"}) for key, value in values.items()}
    return "".join(f'<data key="{key}">{text}</data>' for key, text in texts.items())


def read_graph(text: str) -> Topology:
    """Return the network of a file that `graph_lines` wrote.

    Raises
    ------
    InputError, ValueError, KeyError, TypeError, xml.etree.ElementTree.ParseError
        If it is damaged.
    """
    graph = ET.fromstring(text).find(f"{{{_GRAPHML}}}graph")
    if graph is None or graph.get("edgedefault") != "undirected":
        raise InputError("it has no undirected graph")
    # 1. Switches, in the order of their numbers, with terminals in any order.
    names: list[str] = []
    switch_of_terminal: dict[int, int] = {}
    name_of_terminal: dict[int, str] = {}
    for switch, node in enumerate(graph.findall(f"{{{_GRAPHML}}}node")):
        data = _values(node)
        if node.attrib["id"] != f"n{switch}":
            raise InputError(f"node {node.attrib['id']} stands where n{switch} is expected")
        names.append(data["name"])
        terminals = [int(terminal) for terminal in json.loads(data["terminals"])]
        if read_integer(data["endpoints"]) != len(terminals):
            raise InputError(
                f"node n{switch} has {data['endpoints']} endpoints, but {len(terminals)} terminals"
            )
        _add(switch_of_terminal, dict.fromkeys(terminals, switch), "terminal")
        if "terminal_names" in data:
            of_node = json.loads(data["terminal_names"])
            name_of_terminal |= zip(terminals, map(str, of_node), strict=True)
    # 2. Channels: an edge is a link, and has the numbers of both of its channels.
    ends: dict[int, tuple[int, int]] = {}
    number = {f"n{switch}": switch for switch in range(len(names))}
    for edge in graph.findall(f"{{{_GRAPHML}}}edge"):
        data = _values(edge)
        source, target = number[edge.attrib["source"]], number[edge.attrib["target"]]
        channels = {"channel": (source, target), "opposite": (target, source)}
        _add(ends, {read_integer(data[key]): pair for key, pair in channels.items()}, "channel")
    # 3. The network. Numbers came from the file, so there may be gaps among them.
    return Topology.create(
        family="sst",
        num_switches=len(names),
        switch_names=names,
        terminal_switch=_in_order(switch_of_terminal, "terminal"),
        terminal_names=_in_order(name_of_terminal, "name of terminal"),
        channel_source=[source for source, _ in _in_order(ends, "channel")],
        channel_target=[target for _, target in _in_order(ends, "channel")],
    )


def _values(element: ET.Element) -> dict[str, str]:
    """Return the attributes of a node or an edge by name."""
    return {data.attrib["key"]: data.text or "" for data in element}


def _add(values: dict[int, Value], new: dict[int, Value], noun: str) -> None:
    """Add values by number; refuse numbers that are there already."""
    twice = sorted(values.keys() & new.keys())
    if twice:
        raise InputError(f"{noun} {twice[0]} occurs twice")
    values |= new


def _in_order(values: dict[int, Value], noun: str) -> list[Value]:
    """Return values by number, 0, 1, ...; refuse gaps."""
    missing = next((number for number in range(len(values)) if number not in values), None)
    if missing is not None:
        raise InputError(f"{noun} {missing} is missing")
    return [values[number] for number in range(len(values))]
