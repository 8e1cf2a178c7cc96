"""Checks of the nodes and ports of a file, and the fabric that they form."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from routelab.api.errors import InputError
from routelab.toolkit.infiniband.fabric import Fabric, Node, NodeKind, Port
from routelab.toolkit.infiniband.rates import LANE_GBITS, WIDTHS
from routelab.toolkit.infiniband.text_lines import MAX_LID, MAX_PORT, TextFile, guid_text, shorten

Key = int | str
"""By what ports name a node: its GUID, or its identity in a file of ibsim."""

_RATE = re.compile(r"(?P<width>[0-9]{1,2})x(?P<speed>[A-Z]+[0-9]*)")


@dataclass(frozen=True)
class NodeRecord:
    """A node as a file lists it; its ports name it by `key`."""

    kind: NodeKind
    key: Key
    guid: int
    name: str
    num_ports: int
    lid: int
    line: int


@dataclass(frozen=True)
class PortRecord:
    """A port as a file lists it, with the port at the other end of its cable, the peer.

    `peer_key` names the node of the peer; `guid` and `lid` are those of this port, not of its node.
    What the file does not say is 0 or "".
    """

    number: int
    peer_key: Key
    peer_number: int
    guid: int
    lid: int
    peer_guid: int
    peer_lid: int
    rate: str
    line: int


@dataclass
class FabricBuilder:
    """Collects the nodes and ports of a file."""

    text: TextFile
    nodes: dict[Key, NodeRecord] = field(default_factory=dict)
    ports: dict[tuple[Key, int], PortRecord] = field(default_factory=dict)

    def add_node(self, node: NodeRecord) -> None:
        """Add a node.

        Raises
        ------
        InputError
            If its GUID is 0 or that of another node, or its LID or number of ports is impossible.
        """
        if not node.key:
            raise self.text.error(node.line, "the node has GUID 0")
        earlier_node = self.nodes.get(node.key)
        if earlier_node is not None:
            raise self.text.error(
                node.line,
                f"{_key_text(node.key)} was already used at line {earlier_node.line}; remove one "
                "of the two nodes",
            )
        if not 0 < node.num_ports <= MAX_PORT:
            raise self.text.error(
                node.line, f"the node has {node.num_ports} ports, expected 1 to {MAX_PORT}"
            )
        self._check_lid(node.lid, node.line)
        self.nodes[node.key] = node

    def add_port(self, node: NodeRecord, port: PortRecord) -> None:
        """Add a port of a node that was added before.

        Raises
        ------
        InputError
            If the port does not exist or was listed before, or its LID is impossible.
        """
        if not 1 <= port.number <= node.num_ports:
            raise self.text.error(
                port.line,
                f"port {port.number} does not exist; {shorten(node.name)} has ports 1 to "
                f"{node.num_ports}",
            )
        earlier_port = self.ports.get((node.key, port.number))
        if earlier_port is not None:
            raise self.text.error(
                port.line, f"port {port.number} was already listed at line {earlier_port.line}"
            )
        self._check_lid(port.lid, port.line)
        self._check_lid(port.peer_lid, port.line)
        self.ports[node.key, port.number] = port

    def build(self) -> Fabric:
        """Return the fabric.

        Raises
        ------
        InputError
            If a cable has one end only, a host is not linked to a switch, two ports share a GUID
            or LID, or there is no switch or no host.
        """
        index = {key: number for number, key in enumerate(self.nodes)}
        nodes = [
            Node(
                kind=node.kind,
                guid=node.guid,
                name=node.name,
                num_ports=node.num_ports,
                lid=node.lid,
                ports={},
                line=node.line,
            )
            for node in self.nodes.values()
        ]
        for (key, number), port in self.ports.items():
            peer_port = self._other_end(key, number, port)
            guid, lid = self._guid_and_lid(key, port, peer_port)
            width, speed = self._read_rate(port)
            if not speed:
                width, speed = self._read_rate(peer_port)
            nodes[index[key]].ports[number] = Port(
                number=number,
                peer=(index[port.peer_key], port.peer_number),
                guid=guid,
                lid=lid,
                width=width,
                speed=speed,
                line=port.line,
            )
        fabric = Fabric(self.text.name, tuple(nodes))
        self._check_hosts(fabric)
        self._check_unique(fabric)
        return fabric

    def _other_end(self, key: Key, number: int, port: PortRecord) -> PortRecord:
        """Return the port at the other end, which must lead back.

        Raises
        ------
        InputError
            If the node does not exist, or its port is not listed or leads elsewhere.
        """
        peer = self.nodes.get(port.peer_key)
        if peer is None:
            raise self.text.error(
                port.line,
                f"the cable leads to {_key_text(port.peer_key)}, which no node has; the file "
                "may be truncated",
            )
        peer_port = self.ports.get((port.peer_key, port.peer_number))
        end = f"port {port.peer_number} of {shorten(peer.name)}"
        if peer_port is None:
            raise self.text.error(
                port.line,
                f"the cable to {end} is not listed at that end (record at line {peer.line}); the "
                "file may be truncated",
            )
        if (peer_port.peer_key, peer_port.peer_number) != (key, number):
            raise self.text.error(
                port.line,
                f"the cable leads to {end}, but line {peer_port.line} says it leads elsewhere",
            )
        return peer_port

    def _guid_and_lid(self, key: Key, port: PortRecord, peer_port: PortRecord) -> tuple[int, int]:
        """Return GUID and LID of a port from its own line or that of the other end.

        They are 0 for ports of a switch: only its port 0 has a LID, the node's.

        Raises
        ------
        InputError
            If the two lines disagree.
        """
        # The line of the other end names this port as its peer.
        node = self.nodes[key]
        own_lid = node.lid if node.kind == "switch" else port.lid
        for kind, own_value, peer_value in (
            ("LID", own_lid, peer_port.peer_lid),
            ("GUID", port.guid, peer_port.peer_guid),
        ):
            # 0 stands for an unknown one
            if own_value and peer_value and own_value != peer_value:
                text = guid_text if kind == "GUID" else str
                raise self.text.error(
                    port.line,
                    f"port {port.number} of {shorten(node.name)} has {kind} {text(own_value)}, but "
                    f"{text(peer_value)} at line {peer_port.line}",
                )
        if node.kind == "switch":
            return 0, 0
        return port.guid or peer_port.peer_guid, port.lid or peer_port.peer_lid

    def _read_rate(self, port: PortRecord) -> tuple[int, str]:
        """Return lanes and speed of a port; 0 and "" if the file does not know them.

        Raises
        ------
        InputError
            If they are not among those of InfiniBand.
        """
        if not port.rate or "?" in port.rate or "undefined" in port.rate.lower():
            return 0, ""
        rate = _RATE.fullmatch(port.rate)
        if not rate or int(rate["width"]) not in WIDTHS or rate["speed"] not in LANE_GBITS:
            raise self.text.error(
                port.line,
                f"{shorten(port.rate)} is not a width and speed; expected e.g. 4xEDR, with speeds "
                f"{', '.join(LANE_GBITS)}",
            )
        return int(rate["width"]), rate["speed"]

    def _check_lid(self, lid: int, line: int) -> None:
        if lid > MAX_LID:
            raise self.text.error(line, f"LID {lid} does not exist; LIDs are 1 to {MAX_LID}")

    def _check_hosts(self, fabric: Fabric) -> None:
        """Refuse a fabric without switches or hosts, or with a host that lacks a switch."""
        if not fabric.switches:
            raise InputError(f"{fabric.file}: has no switch")
        if not fabric.end_ports:
            raise InputError(f"{fabric.file}: has no host with a cable")
        for node in fabric.nodes:
            if node.kind == "switch":
                continue
            if not node.ports:
                raise self.text.error(
                    node.line,
                    f"host {shorten(node.name)} has no cable to a switch; connect or remove it",
                )
            for port in node.ports.values():
                if fabric.nodes[port.peer[0]].kind != "switch":
                    raise self.text.error(
                        port.line,
                        f"host {shorten(node.name)} is linked to another host, not to a switch",
                    )

    def _check_unique(self, fabric: Fabric) -> None:
        """Refuse a GUID or a LID that two switches, two ports of hosts, or one of each have."""
        line_of_guid: dict[int, int] = {}
        line_of_lid: dict[int, int] = {}
        for node in fabric.nodes:
            addresses = (
                [(node.guid, node.lid, node.line)]
                if node.kind == "switch"
                else [(port.guid, port.lid, port.line) for port in node.ports.values()]
            )
            for guid, lid, line in addresses:
                for kind, text, value, line_of in (
                    ("GUID", guid_text(guid), guid, line_of_guid),
                    ("LID", str(lid), lid, line_of_lid),
                ):
                    # 0 stands for an unknown one. `setdefault` notes the line of a new value, and
                    # returns this line. If it returns another one, the switch or port there has
                    # the value, too.
                    if value and line_of.setdefault(value, line) != line:
                        raise self.text.error(
                            line,
                            f"{kind} {text} is already that of the port at line {line_of[value]}",
                        )


def _key_text(key: Key) -> str:
    """Return what names a node, for messages: its GUID, or its identity in a file of ibsim."""
    return f"GUID {guid_text(key)}" if isinstance(key, int) else f"node {shorten(key)}"
