"""Lines of ``ibnetdiscover -p``: one for each port, with the two ends of its cable.

A line has the kind of the node, its LID, the port, a GUID, width and speed. The GUID is that of the
node for a switch, else that of the port. If there is a cable, the same follows for its other end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from routelab.toolkit.infiniband.fabric import NodeKind
from routelab.toolkit.infiniband.fabric_builder import FabricBuilder, NodeRecord, PortRecord
from routelab.toolkit.infiniband.text_lines import TextFile

_END = r"(?:SW|CA|RT)[ \t]+[0-9]{1,5}[ \t]+[0-9]{1,5}[ \t]+0x[0-9a-fA-F]{1,16}"
"""One end of a cable: kind of the node, LID, port and GUID."""
_START = re.compile(r"(?:SW|CA|RT)[ \t]+[0-9]+[ \t]+[0-9]+[ \t]+0x")
_CABLE = re.compile(
    rf"(?P<end>{_END})[ \t]+(?P<width>\S+)[ \t]+(?P<speed>\S+(?: [^-]\S*)?)[ \t]+-[ \t]+"
    rf"(?P<peer>{_END})"
    r"[ \t]+\( '(?P<names>.*)' \)[ \t]*"
)
_FREE = re.compile(rf"(?P<end>{_END})[ \t]+\S+[ \t]+\S.*?[ \t]+'(?P<name>.*)'[ \t]*")
_BETWEEN_NAMES = "' - '"

_KINDS: dict[str, NodeKind] = {"SW": "switch", "CA": "ca", "RT": "router"}


def is_port_line(line: str) -> bool:
    """Return whether a line may be one of ``ibnetdiscover -p``."""
    return bool(_START.match(line))


@dataclass(frozen=True)
class _End:
    """One end of a cable: the port `number` of a node, and what the line says about them."""

    kind: NodeKind
    lid: int
    number: int
    guid: int


@dataclass(frozen=True)
class _Line:
    """A line: one end, and if there is a cable, its other end (`peer`) and its rate.

    `names` has the description of the node; with a cable, those of both nodes, as the line has
    them: ``a' - 'b``. `_node_names` separates them.
    """

    line_number: int
    end: _End
    names: str
    peer: _End | None = None
    rate: str = ""


def read_port_lines(text: TextFile, builder: FabricBuilder) -> None:
    """Read all lines of a file.

    Raises
    ------
    InputError
        If a line is none of ``ibnetdiscover -p``.
    """
    lines = list(_parse_lines(text))
    names = _node_names(lines)
    # The lines of a switch have its GUID, one line for each port; so its number of ports is the
    # highest of them. The line of an adapter has the GUID of the port and does not say to which
    # adapter it belongs: each port becomes a node of its own, which has ports up to this one.
    ports_of_switch: dict[int, set[int]] = {}
    for line in lines:
        if line.end.kind == "switch":
            ports_of_switch.setdefault(line.end.guid, set()).add(line.end.number)
    nodes: dict[int, NodeRecord] = {}
    for line in lines:
        end = line.end
        if end.guid not in nodes:
            is_switch = end.kind == "switch"
            nodes[end.guid] = NodeRecord(
                kind=end.kind,
                key=end.guid,
                guid=end.guid if is_switch else 0,
                name=names.get(end.guid, ""),
                num_ports=max(ports_of_switch.get(end.guid, {end.number})),
                lid=end.lid if is_switch else 0,
                line=line.line_number,
            )
            builder.add_node(nodes[end.guid])
        if line.peer is not None:
            builder.add_port(nodes[end.guid], _port_record(line, line.peer))


def _parse_lines(text: TextFile) -> Iterator[_Line]:
    """Yield the lines of ``ibnetdiscover -p``; those of free ports have no peer."""
    for line_number, line in enumerate(text.lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        if cable := _CABLE.fullmatch(line):
            rate = cable["width"] + cable["speed"]
            yield _Line(
                line_number=line_number,
                end=_read_end(cable["end"]),
                names=cable["names"],
                peer=_read_end(cable["peer"]),
                rate="" if "?" in rate else rate,
            )
        elif free_port := _FREE.fullmatch(line):
            yield _Line(
                line_number=line_number, end=_read_end(free_port["end"]), names=free_port["name"]
            )
        else:
            raise text.stray(line_number, "a line of ibnetdiscover -p; the file may be damaged")


def _read_end(text: str) -> _End:
    """Return an end from its four words, which match `_END`."""
    kind, lid, port, guid = text.split()
    return _End(kind=_KINDS[kind], lid=int(lid), number=int(port), guid=int(guid, 16))


def _port_record(line: _Line, peer: _End) -> PortRecord:
    """Return the port at the first end of a line; `peer` is the other end of its cable."""
    end = line.end
    # the GUID of a switch is that of the node, and its LID that of port 0
    return PortRecord(
        number=end.number,
        peer_key=peer.guid,
        peer_number=peer.number,
        guid=0 if end.kind == "switch" else end.guid,
        lid=0 if end.kind == "switch" else end.lid,
        peer_guid=0 if peer.kind == "switch" else peer.guid,
        peer_lid=peer.lid,
        rate=line.rate,
        line=line.line_number,
    )


def _node_names(lines: list[_Line]) -> dict[int, str]:
    """Return the description of each node.

    Descriptions may hold the text between two names, so a line may be read in several ways:
    ``a' - 'b' - 'c`` is ``a`` and ``b' - 'c``, or ``a' - 'b`` and ``c``. A node has the name that
    all of its lines allow; if several are left, the first. A line that allows none of the names
    left by earlier lines is ignored.
    """
    # A line without a cable has one name only, which is certain.
    allowed: dict[int, list[str]] = {}
    for line in lines:
        if line.peer is None:
            allowed[line.end.guid] = [line.names]
    for line in lines:
        if line.peer is None:
            continue
        pieces = line.names.split(_BETWEEN_NAMES)
        cuts = range(1, len(pieces))
        for guid, candidates in (
            (line.end.guid, [_BETWEEN_NAMES.join(pieces[:cut]) for cut in cuts]),
            (line.peer.guid, [_BETWEEN_NAMES.join(pieces[cut:]) for cut in cuts]),
        ):
            earlier = allowed.get(guid, candidates)
            common = [name for name in earlier if name in candidates]
            allowed[guid] = common or earlier
    return {guid: names[0] for guid, names in allowed.items() if names}
