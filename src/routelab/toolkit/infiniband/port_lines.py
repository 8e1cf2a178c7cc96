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

_END = r"(SW|CA|RT)[ \t]+([0-9]{1,5})[ \t]+([0-9]{1,5})[ \t]+0x([0-9a-fA-F]{1,16})"
_START = re.compile(r"(?:SW|CA|RT)[ \t]+[0-9]+[ \t]+[0-9]+[ \t]+0x")
_CABLE = re.compile(
    rf"{_END}[ \t]+(\S+)[ \t]+(\S+(?: [^-]\S*)?)[ \t]+-[ \t]+{_END}[ \t]+\( '(.*)' \)[ \t]*"
)
_FREE = re.compile(rf"{_END}[ \t]+(\S+)[ \t]+(\S.*?)[ \t]+'(.*)'[ \t]*")
_BETWEEN_NAMES = "' - '"

_KINDS: dict[str, NodeKind] = {"SW": "switch", "CA": "ca", "RT": "router"}


def is_port_line(line: str) -> bool:
    """Return whether a line may be one of ``ibnetdiscover -p``."""
    return bool(_START.match(line))


@dataclass(frozen=True)
class _End:
    kind: NodeKind
    lid: int
    number: int
    guid: int


@dataclass(frozen=True)
class _Line:
    """A line: one end, and the other one with the rate if there is a cable."""

    line: int
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
    lines = list(_lines(text))
    names = _names(lines)
    ports: dict[int, set[int]] = {}
    for line in lines:
        if line.end.kind == "switch":
            ports.setdefault(line.end.guid, set()).add(line.end.number)
    nodes: dict[int, NodeRecord] = {}
    for line in lines:
        end = line.end
        if end.guid not in nodes:
            count = max(ports.get(end.guid, {end.number}))
            node_guid, lid = (end.guid, end.lid) if end.kind == "switch" else (0, 0)
            nodes[end.guid] = NodeRecord(
                end.kind, end.guid, node_guid, names.get(end.guid, ""), count, lid, line.line
            )
            builder.add_node(nodes[end.guid])
        if line.peer is not None:
            builder.add_port(nodes[end.guid], _port(line, line.peer))


def _lines(text: TextFile) -> Iterator[_Line]:
    """Yield the lines of ``ibnetdiscover -p``; those of free ports have no peer."""
    for number, line in enumerate(text.lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        if cable := _CABLE.fullmatch(line):
            rate = "" if "?" in cable[5] + cable[6] else cable[5] + cable[6]
            ends = (
                _End(_KINDS[kind], int(lid), int(port), int(guid, 16))
                for kind, lid, port, guid in (cable.group(1, 2, 3, 4), cable.group(7, 8, 9, 10))
            )
            yield _Line(number, next(ends), cable[11], next(ends), rate)
        elif cable := _FREE.fullmatch(line):
            kind, lid, port, guid = cable.group(1, 2, 3, 4)
            end = _End(_KINDS[kind], int(lid), int(port), int(guid, 16))
            yield _Line(number, end, cable[7])
        else:
            raise text.stray(number, "a line of ibnetdiscover -p; the file may be damaged")


def _port(line: _Line, peer: _End) -> PortRecord:
    """Return the port at the first end of a line; `peer` is the other end of its cable."""
    end = line.end
    return PortRecord(
        number=end.number,
        peer_key=peer.guid,
        peer_number=peer.number,
        guid=0 if end.kind == "switch" else end.guid,
        lid=0 if end.kind == "switch" else end.lid,
        peer_guid=0 if peer.kind == "switch" else peer.guid,
        peer_lid=peer.lid,
        rate=line.rate,
        line=line.line,
    )


def _names(lines: list[_Line]) -> dict[int, str]:
    """Return the description of each node.

    Descriptions may hold the text between two names, so a line may be read in several ways. What
    all lines of a node allow is its name; of several, the first.
    """
    allowed: dict[int, list[str]] = {}
    for line in lines:
        if line.peer is None:
            allowed[line.end.guid] = [line.names]
    for line in lines:
        if line.peer is None:
            continue
        parts = line.names.split(_BETWEEN_NAMES)
        cuts = range(1, len(parts))
        for guid, candidates in (
            (line.end.guid, [_BETWEEN_NAMES.join(parts[:cut]) for cut in cuts]),
            (line.peer.guid, [_BETWEEN_NAMES.join(parts[cut:]) for cut in cuts]),
        ):
            common = [name for name in allowed.get(guid, candidates) if name in candidates]
            allowed[guid] = common or allowed.get(guid, candidates)
    return {guid: names[0] for guid, names in allowed.items() if names}
