"""An InfiniBand fabric: switches, channel adapters and routers, and the cables between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from routelab.toolkit.infiniband.rates import link_bytes_per_second

NodeKind = Literal["switch", "ca", "router"]


@dataclass(frozen=True)
class Port:
    """A port with a cable.

    Attributes
    ----------
    number : int
    peer : tuple of (int, int)
        Index of the node at the other end in `Fabric.nodes`, and its port.
    guid, lid : int
        Of a port of a channel adapter or router; 0 if unknown, and for external ports of switches.
    width : int
        Lanes; 0 if unknown.
    speed : str
        Name of the speed, e.g. ``"EDR"``; "" if unknown.
    line : int
        Line of the file.
    """

    number: int
    peer: tuple[int, int]
    guid: int = 0
    lid: int = 0
    width: int = 0
    speed: str = ""
    line: int = 0

    @property
    def bytes_per_second(self) -> float:
        """Data rate in one direction; 0 if unknown."""
        return link_bytes_per_second(self.width, self.speed)


@dataclass(frozen=True)
class Node:
    """A switch, channel adapter or router.

    Attributes
    ----------
    kind : {"switch", "ca", "router"}
    guid : int
        Node GUID; 0 if unknown (the form ``-p`` lists those of switches only).
    name : str
        Description.
    num_ports : int
        External ports, with and without a cable.
    lid : int
        LID of port 0 of a switch; 0 if unknown.
    ports : dict of int to Port
        Ports with a cable, by number.
    line : int
        Line of the file.
    """

    kind: NodeKind
    guid: int
    name: str
    num_ports: int
    lid: int = 0
    ports: dict[int, Port] = field(default_factory=dict)
    line: int = 0


@dataclass(frozen=True)
class Fabric:
    """All nodes of a file, in its order; every cable is listed from both ends.

    Attributes
    ----------
    file : str
    nodes : tuple of Node
    """

    file: str
    nodes: tuple[Node, ...]

    @cached_property
    def switches(self) -> tuple[int, ...]:
        """Indices of the switches in `nodes`."""
        return tuple(i for i, node in enumerate(self.nodes) if node.kind == "switch")

    @cached_property
    def end_ports(self) -> tuple[tuple[int, int], ...]:
        """Node and port of each port of channel adapters and routers that has a cable."""
        return tuple(
            (i, number)
            for i, node in enumerate(self.nodes)
            if node.kind != "switch"
            for number in sorted(node.ports)
        )

    @cached_property
    def num_router_ports(self) -> int:
        """Number of ports of routers that have a cable."""
        return sum(len(node.ports) for node in self.nodes if node.kind == "router")

    @cached_property
    def free_ports(self) -> int:
        """Number of switch ports without a cable (or whose link is down)."""
        return sum(self.nodes[i].num_ports - len(self.nodes[i].ports) for i in self.switches)

    def lids(self) -> Iterator[tuple[int, int, int]]:
        """Iterate over (LID, node, port) of all known LIDs; port 0 is a switch itself."""
        for i, node in enumerate(self.nodes):
            if node.kind == "switch":
                if node.lid:
                    yield node.lid, i, 0
            else:
                yield from ((p.lid, i, p.number) for p in node.ports.values() if p.lid)
