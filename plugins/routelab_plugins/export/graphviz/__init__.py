"""graphviz: the network with the load of each link, as an undirected graph in the DOT language.

Format: *DOT Language*, https://graphviz.org/doc/info/lang.html. Draw it with
``neato -Tsvg network.dot -o network.svg``.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from routelab.api import Capabilities, ExportPlugin, MachineSpeeds, RouteTable
from routelab.metrics.load import channel_loads

FILE = "network.dot"


class Graphviz(ExportPlugin):
    """Writes one file: switches as boxes, terminals as ellipses, busy links in red."""

    name = "graphviz"
    summary = "Drawing for Graphviz: switches, terminals, ports, and links by load"
    capabilities = Capabilities(multipath=True)

    def export(self, table: RouteTable, machine: MachineSpeeds) -> dict[str, str]:
        """Write ``network.dot``."""
        return {FILE: "".join(f"{line}\n" for line in _lines(table))}


def _lines(table: RouteTable) -> Iterator[str]:
    topology = table.topology
    loads = channel_loads(table) / topology.channel_capacity
    most = float(loads.max(initial=0)) or 1.0
    yield from ("graph network {", "  overlap=false;", "  node [shape=box];")
    for switch, name in enumerate(topology.switch_names):
        yield f"  s{switch} [label={_quote(name)}];"
    for terminal, switch in enumerate(topology.terminal_switch.tolist()):
        yield f"  t{terminal} [shape=ellipse, label={_quote(topology.terminal_name(terminal))}];"
        port = int(topology.terminal_port[terminal])
        yield f"  s{switch} -- t{terminal}{f' [taillabel={port}]' if port >= 0 else ''};"
    for one, back in topology.links.tolist():
        ends = int(topology.channel_source[one]), int(topology.channel_target[one])
        ways = loads[[one, back]] if back >= 0 else loads[[one]]
        label = " / ".join(f"{load:.6g}" for load in ways)
        # hue, saturation, value: from grey to red
        share = float(np.max(ways)) / most
        colour = f"0.0 {share:.3f} {0.7 + 0.2 * share:.3f}"
        more = [f'label="{label}"', f'color="{colour}"', f"penwidth={1 + 3 * share:.2f}"]
        ports = int(topology.source_port[one]), int(topology.target_port[one])
        more += [
            f"{key}={port}"
            for key, port in zip(("taillabel", "headlabel"), ports, strict=True)
            if port >= 0
        ]
        if back < 0:
            more.append("dir=forward")
        yield f"  s{ends[0]} -- s{ends[1]} [{', '.join(more)}];"
    yield "}"


def _quote(text: str) -> str:
    """Return a text as a string of DOT, in which every backslash stands for itself."""
    plain = "".join(character if character.isprintable() else "?" for character in text)
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'
