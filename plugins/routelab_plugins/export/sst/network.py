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
    terminals_of_switch: list[list[int]] = [[] for _ in range(topology.num_switches)]
    for terminal, switch in enumerate(topology.terminal_switch.tolist()):
        terminals_of_switch[switch].append(terminal)
    for switch, terminals in enumerate(terminals_of_switch):
        values = {
            "endpoints": str(len(terminals)),
            "name": topology.switch_names[switch],
            "terminals": json.dumps(terminals),
        }
        if topology.terminal_names:
            names = [topology.terminal_names[terminal] for terminal in terminals]
            values["terminal_names"] = json.dumps(names)
        yield f'  <node id="n{switch}">{_data_elements(values)}</node>'
    source, target = topology.channel_source.tolist(), topology.channel_target.tolist()
    for channel, opposite in topology.links.tolist():
        values = {"channel": str(channel), "opposite": str(opposite)}
        ends = f'source="n{source[channel]}" target="n{target[channel]}"'
        yield f"  <edge {ends}>{_data_elements(values)}</edge>"
    yield " </graph>"
    yield "</graphml>"


def _data_elements(values: dict[str, str]) -> str:
    """Return the attributes of a node or an edge as XML elements ``<data key="name">``."""
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
        values = _attribute_values(node)
        if node.attrib["id"] != f"n{switch}":
            raise InputError(f"node {node.attrib['id']} stands where n{switch} is expected")
        names.append(values["name"])
        terminals = [int(terminal) for terminal in json.loads(values["terminals"])]
        if read_integer(values["endpoints"]) != len(terminals):
            raise InputError(
                f"node n{switch} has {values['endpoints']} endpoints, but "
                f"{len(terminals)} terminals"
            )
        _add_new(switch_of_terminal, dict.fromkeys(terminals, switch), "terminal")
        if "terminal_names" in values:
            terminal_names = json.loads(values["terminal_names"])
            name_of_terminal |= zip(terminals, map(str, terminal_names), strict=True)
    # 2. Channels: an edge is a link, and has the numbers of both of its channels.
    ends_of_channel: dict[int, tuple[int, int]] = {}
    switch_of_id = {f"n{switch}": switch for switch in range(len(names))}
    for edge in graph.findall(f"{{{_GRAPHML}}}edge"):
        values = _attribute_values(edge)
        source = switch_of_id[edge.attrib["source"]]
        target = switch_of_id[edge.attrib["target"]]
        channels = {
            read_integer(values["channel"]): (source, target),
            read_integer(values["opposite"]): (target, source),
        }
        if len(channels) < 2:
            raise InputError(f"channel {values['channel']} is its own opposite")
        _add_new(ends_of_channel, channels, "channel")
    # 3. The network. Numbers came from the file, so there may be gaps among them.
    terminal_switch = _in_order(switch_of_terminal, "terminal")
    terminal_names = _in_order(name_of_terminal, "name of terminal")
    ends = _in_order(ends_of_channel, "channel")
    return Topology.create(
        family="sst",
        num_switches=len(names),
        switch_names=names,
        terminal_switch=terminal_switch,
        terminal_names=terminal_names,
        channel_source=[source for source, _ in ends],
        channel_target=[target for _, target in ends],
    )


def _attribute_values(element: ET.Element) -> dict[str, str]:
    """Return the attributes of a node or an edge by name."""
    return {data.attrib["key"]: data.text or "" for data in element}


def _add_new(values: dict[int, Value], new: dict[int, Value], noun: str) -> None:
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
