"""Reader of fabrics: output of `ibnetdiscover`, with and without ``-p``, and files of ibsim.

Plain output has a record for each node: a line with its kind, number of ports, identity and
description, then a line for each port with a cable (manual page ibnetdiscover(8), "Topology file
format"). Files of ibsim are the same without LIDs and speeds; what else they may have is in
`routelab.toolkit.infiniband.ibsim`. With ``-p`` there is one line for each port
(`routelab.toolkit.infiniband.port_lines`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from routelab.api.errors import InputError
from routelab.toolkit.infiniband.fabric import Fabric, NodeKind
from routelab.toolkit.infiniband.fabric_builder import FabricBuilder, Key, NodeRecord, PortRecord
from routelab.toolkit.infiniband.ibsim import IbsimState
from routelab.toolkit.infiniband.port_lines import is_port_line, read_port_lines
from routelab.toolkit.infiniband.text_lines import TextFile, shorten

_ID = r'"(?P<identity>[^"]+)"'
_GUID_ID = re.compile(r"[SHR]-(?P<guid>[0-9a-fA-F]{1,16})")
_IDENTITY = re.compile(
    r"(?:vendid|devid|sysimgguid)=0x[0-9a-fA-F]+"
    r"|(?:switch|ca|rt|host)guid=0x(?P<guid>[0-9a-fA-F]{1,16})(?:\([0-9a-fA-F]{1,16}\))?"
    r"|DR path .*"
)
_NODE = re.compile(
    rf"(?P<kind>Switch|Ca|Hca|Rt|Router)[ \t]+(?P<num_ports>[0-9]{{1,5}})[ \t]+{_ID}"
    r"(?:[ \t]*#[ \t]*(?P<comment>.*))?[ \t]*"
)
_SWITCH_TAIL = re.compile(
    r'"(?P<name>.*)"(?:[ \t]+(?:base|enhanced))?[ \t]+port 0[ \t]+lid (?P<lid>[0-9]{1,5})'
    r"[ \t]+lmc (?P<lmc>[0-9]{1,2}).*"
)
_NAME_TAIL = re.compile(r'"(?P<name>.*)".*')
_PORT = re.compile(
    r"\[(?P<port>[0-9]{1,5})\](?:\[ext [0-9]+\])?(?:\((?P<guid>[0-9a-fA-F]{1,16})\))?"
    rf"[ \t]*{_ID}(?:[ \t]*\[(?P<peer_port>[0-9]{{1,5}})\])?(?:\[ext [0-9]+\])?"
    r"(?:\((?P<peer_guid>[0-9a-fA-F]{1,16})\))?"
    r"(?P<options>(?:[ \t]+[ws]=[0-9]+)*)(?:[ \t]*#[ \t]*(?P<comment>.*))?[ \t]*"
)
_OWN_LID = re.compile(r'lid (?P<lid>[0-9]{1,5})[ \t]+lmc (?P<lmc>[0-9]{1,2})[ \t]+(?P<rest>".*)')
_PEER_TAIL = re.compile(r'".*"[ \t]+lid (?P<lid>[0-9]{1,5})(?:[ \t]+(?P<rate>.*))?')

_KINDS: dict[str, NodeKind] = {
    "Switch": "switch",
    "Ca": "ca",
    "Hca": "ca",
    "Rt": "router",
    "Router": "router",
}
_LETTERS = {"switch": "S", "ca": "H", "router": "R"}
"""First letter of an identity of ibnetdiscover, such as ``S-0002c90000000001``."""


def read_fabric(path: Path) -> Fabric:
    """Read a fabric from a file.

    Parameters
    ----------
    path : Path
        Output of ``ibnetdiscover`` or ``ibnetdiscover -p``, or a network file of ibsim.

    Raises
    ------
    InputError
        If the file cannot be read or its content is wrong; names the file and the line.
    """
    return parse_fabric(TextFile.read(path))


def parse_fabric(text: TextFile) -> Fabric:
    """Read a fabric from lines; see `read_fabric`."""
    content = (line for line in text.lines if line.strip() and not line.startswith("#"))
    first_line = next(content, None)
    if first_line is None:
        raise InputError(f"{text.name}: has no nodes; expected the output of ibnetdiscover")
    builder = FabricBuilder(text)
    if is_port_line(first_line):
        read_port_lines(text, builder)
    else:
        _read_records(text, builder)
    return builder.build()


def has_records(path: Path) -> bool:
    """Return whether a file has a line about a node or port, and so is a fabric and no edge list.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    return any(
        _NODE.fullmatch(line) or _IDENTITY.fullmatch(line) or is_port_line(line)
        for line in TextFile.read(path).lines
    )


@dataclass
class _LinesAbove:
    """Numbers of the lines above a record, and the GUID that they name for its node; 0 if none."""

    guid: int = 0
    lines: list[int] = field(default_factory=list)


def _read_records(text: TextFile, builder: FabricBuilder) -> None:
    """Add the nodes and ports of ibnetdiscover's output, or of a file of ibsim, to a fabric."""
    # Lines with GUIDs stand above the record of their node, those of ports below; an empty line
    # ends it. A setting of ibsim changes what the lines behind it mean, so they are read in order.
    above = _LinesAbove()
    ibsim = IbsimState(text)
    node: NodeRecord | None = None
    for line_number, line in enumerate(text.lines, 1):
        if not line.strip():
            node = None
        elif line.startswith("["):
            if node is None:
                raise text.error(line_number, "a port is outside the record of a node")
            builder.add_port(node, _read_port(text, line_number, line, node, ibsim))
        elif line.startswith("#"):
            continue
        elif record := _NODE.fullmatch(line):
            node = _read_node(text, line_number, record, above, ibsim)
            builder.add_node(node)
            above = _LinesAbove()
        elif record := _IDENTITY.fullmatch(line.strip()):
            node = None
            # "switchguid=0x..." is the GUID of the node below, and a setting of ibsim, too
            ibsim.read_setting(line_number, line.strip())
            if "=" in line:  # not a line "DR path ..."
                above.lines.append(line_number)
            if record["guid"]:
                above.guid = int(record["guid"], 16)
        elif ibsim.read_setting(line_number, line.strip()):
            node = None
        else:
            raise text.stray(line_number, "a line of ibnetdiscover; the file may be damaged")
    if above.lines:
        raise text.error(above.lines[-1], "the file ends before the record of this node")
    ibsim.set_rates(builder)


def _read_node(
    text: TextFile, line_number: int, record: re.Match[str], above: _LinesAbove, ibsim: IbsimState
) -> NodeRecord:
    """Return the node of a record's first line; `above` has the GUID in the lines before it."""
    kind, num_ports = _KINDS[record["kind"]], int(record["num_ports"])
    key = _key(record["identity"], ibsim)
    guid = ibsim.next_guid(kind, num_ports)
    # 1. Name and LID, from the comment. The key of a node is its GUID in ibnetdiscover's output, a
    #    text in a file of ibsim; there, the comment may be missing or any text.
    comment = record["comment"] or ""
    name, lid = "" if isinstance(key, int) else key, 0
    if kind == "switch" and (switch := _SWITCH_TAIL.fullmatch(comment)):
        name, lid = switch["name"], int(switch["lid"])
        _require_no_lmc(text, line_number, int(switch["lmc"]))
    elif described := _NAME_TAIL.fullmatch(comment):
        name = described["name"]
    elif comment.strip() and isinstance(key, str):
        name = comment.strip()
    elif comment.strip():
        raise text.error(
            line_number, f"{shorten(comment)} is not a description; the file may be damaged"
        )
    # 2. The GUID. Identities of ibnetdiscover contain it.
    if isinstance(key, int):
        letter = record["identity"][0]
        if letter != _LETTERS[kind]:
            raise text.error(
                line_number,
                f"a {record['kind']} has the id {letter}-..., expected {_LETTERS[kind]}-...",
            )
        if above.guid and above.guid != key:
            raise text.error(
                line_number, f"the id names GUID 0x{key:x}, the line above it GUID 0x{above.guid:x}"
            )
        guid = key
    return NodeRecord(
        kind=kind, key=key, guid=guid, name=name, num_ports=num_ports, lid=lid, line=line_number
    )


def _key(name: str, ibsim: IbsimState) -> Key:
    """Return the GUID in an identity of ibnetdiscover, or the identity of a node of ibsim."""
    identity = ibsim.identity(name)
    guid_id = _GUID_ID.fullmatch(identity)
    return int(guid_id["guid"], 16) if guid_id else identity


def _read_port(
    text: TextFile, line_number: int, line: str, node: NodeRecord, ibsim: IbsimState
) -> PortRecord:
    """Return the port of `node` on one line of its record."""
    cable = _PORT.fullmatch(line)
    if not cable:
        raise text.error(
            line_number, f"{shorten(line)} is not a port with a cable; the file may be damaged"
        )
    # 1. The comment behind the cable, in which ibnetdiscover names LIDs and the rate. For a port of
    #    an adapter it begins with the port's own LID; the other end follows. In a file of ibsim,
    #    where the key of a node is a text, it may be any text.
    comment = cable["comment"] or ""
    lid = peer_lid = 0
    rate = ""
    if own_lid := _OWN_LID.fullmatch(comment):
        lid, comment = int(own_lid["lid"]), own_lid["rest"]
        _require_no_lmc(text, line_number, int(own_lid["lmc"]))
    if peer := _PEER_TAIL.fullmatch(comment):
        peer_lid, rate = int(peer["lid"]), (peer["rate"] or "").split(" ")[0]
    elif comment.strip() and isinstance(node.key, int):
        raise text.error(line_number, f"{shorten(comment)} is not the other end of a cable")
    if node.kind == "switch" and lid:
        raise text.error(line_number, "a port of a switch has no LID; only its port 0 has")
    # 2. The GUID. ibsim numbers those of an adapter's ports from that of the adapter on.
    port, guid = int(cable["port"]), int(cable["guid"] or "0", 16)
    if isinstance(node.key, str) and node.kind != "switch" and node.guid:
        guid = guid or node.guid + port
    ibsim.add_port(node, port, line_number, cable["options"])
    return PortRecord(
        number=port,
        peer_key=_key(cable["identity"], ibsim),
        peer_number=int(cable["peer_port"] or "1"),
        guid=guid,
        lid=lid,
        peer_guid=int(cable["peer_guid"] or "0", 16),
        peer_lid=peer_lid,
        rate=rate,
        line=line_number,
    )


def _require_no_lmc(text: TextFile, line_number: int, lmc: int) -> None:
    if lmc:
        raise text.missing_input(
            line_number,
            f"the port has several LIDs (LMC {lmc}), whose routes are not examined; set lmc 0 in "
            "opensm.conf",
        )
