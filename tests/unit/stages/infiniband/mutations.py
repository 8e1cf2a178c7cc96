"""Damage to dumps of (multicast) forwarding tables, each kind of which is always a fault."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Mapping

from routelab.stages.infiniband.inputs import FabricTables

MUTATIONS = ("loop", "missing LID", "half a file", "swapped ports")

MULTICAST_MUTATIONS = ("loop", "missing entry", "missing port", "half a file", "swapped ports")

_ENTRY = re.compile(r"0x([0-9a-f]{4}) (\d{3}) (.*)")


def mutate(
    text: str, kind: str, numbers: random.Random, local: Mapping[str, Collection[int]]
) -> str:
    """Return a dump of OpenSM with one damage of a kind in `MUTATIONS`.

    ``loop``: the switch that delivers a LID sends its packets back to a neighbour that sends them
    there. ``swapped ports``: two LIDs of which a switch delivers at least one.

    Parameters
    ----------
    text : str
    kind : str
    numbers : random.Random
    local : mapping of str to collection of int
        LIDs that each switch delivers, by its GUID.
    """
    if kind == "half a file":
        return text[: numbers.randint(len(text) // 3, 2 * len(text) // 3)]
    lines = text.splitlines()
    entries: dict[tuple[str, int], tuple[int, int]] = {}
    switch = ""
    for place, line in enumerate(lines):
        if found := re.match(r"Unicast lids .* guid (0x[0-9a-f]+) ", line):
            switch = found[1]
        elif found := _ENTRY.fullmatch(line):
            entries[switch, int(found[1], 16)] = place, int(found[2])
    if kind == "missing LID":
        gone, _ = entries[numbers.choice(sorted(entries))]
        return "\n".join(lines[:gone] + lines[gone + 1 :]) + "\n"
    switches = sorted({switch for switch, _ in entries})
    own = numbers.choice(switches)
    ports = {lid: entry for (switch, lid), entry in entries.items() if switch == own}
    one = numbers.choice(sorted(local[own]))
    other = numbers.choice(sorted(set(ports) - set(local[own])))
    if kind == "loop":
        return "\n".join(_replace(lines, {ports[one][0]: ports[other][1]})) + "\n"
    swap = {ports[one][0]: ports[other][1], ports[other][0]: ports[one][1]}
    return "\n".join(_replace(lines, swap)) + "\n"


def _replace(lines: list[str], ports: dict[int, int]) -> list[str]:
    """Return the lines with other ports, by line."""
    return [
        re.sub(r"^(0x\w{4}) \d{3}", rf"\g<1> {ports[place]:03d}", line) if place in ports else line
        for place, line in enumerate(lines)
    ]


Cables = Mapping[tuple[str, int], tuple[str, int]]
"""GUID of a switch and port at the other end of each port with a cable to a switch."""


def cables_of(tables: FabricTables) -> Cables:
    """Return the other end of each port with a cable to a switch."""
    topology, guids = tables.topology, tables.addresses.switch_guids
    ends = zip(
        topology.channel_source.tolist(),
        topology.source_port.tolist(),
        topology.channel_target.tolist(),
        topology.target_port.tolist(),
        strict=True,
    )
    return {(guids[s], out): (guids[t], into) for s, out, t, into in ends}


def flip_port(text: str, numbers: random.Random) -> str:
    """Return a multicast dump with one port more or less in an entry; it may have no fault."""
    groups = _groups(text)
    ports = groups[numbers.choice(sorted(groups))]
    port = numbers.randrange(6)
    if port not in ports:
        ports.append(port)
    elif len(ports) > 1:
        ports.remove(port)
    return _multicast_text(groups)


def mutate_multicast(text: str, kind: str, numbers: random.Random, cables: Cables) -> str:
    """Return a multicast dump of OpenSM with one damage of a kind in `MULTICAST_MUTATIONS`.

    ``loop``: both ends of a further cable between switches of a group belong to the group.
    ``missing entry`` and ``missing port``: of a switch and cable that connect members.
    ``swapped ports``: a cable between switches of the group gives way to a free port.

    Parameters
    ----------
    text : str
        Each group with a cable between switches has members at both sides of it.
    kind : str
    numbers : random.Random
    cables : mapping of (str, int) to (str, int)
    """
    if kind == "half a file":
        # a dump without groups is empty, and the first line is
        return text[: numbers.randint(2, len(text) - 1)]
    groups = _groups(text)
    used = [
        (guid, mlid, port)
        for (guid, mlid), ports in groups.items()
        for port in ports
        if (guid, port) in cables
    ]
    guid, mlid, port = numbers.choice(used)
    if kind == "missing entry":
        del groups[guid, mlid]
    elif kind == "missing port":
        groups[guid, mlid].remove(port)
    elif kind == "swapped ports":
        ports = groups[guid, mlid]
        free = [other for other in range(1, 9) if other not in ports]
        ports[ports.index(port)] = numbers.choice(free)
    else:
        closing = [
            (mlid, here, there)
            for here, there in cables.items()
            for mlid in sorted({mlid for _, mlid in groups})
            if here[1] not in groups.get((here[0], mlid), [here[1]]) and (there[0], mlid) in groups
        ]
        mlid, here, there = numbers.choice(closing)
        for guid, port in (here, there):
            groups[guid, mlid].append(port)
    return _multicast_text(groups)


def _groups(text: str) -> dict[tuple[str, int], list[int]]:
    """Return the ports by GUID of a switch and MLID."""
    found, guid = {}, ""
    for line in text.splitlines():
        if line.startswith("Switch"):
            guid = line.split()[1]
        elif line.startswith("0x"):
            mlid, _, ports = line.partition(":")
            found[guid, int(mlid, 16)] = [int(port, 16) for port in ports.split()]
    return found


def _multicast_text(groups: Mapping[tuple[str, int], Collection[int]]) -> str:
    lines = []
    for switch in dict.fromkeys(guid for guid, _ in groups):
        lines += ["", f"Switch {switch}", "LID    : Out Port(s)"]
        for (guid, mlid), ports in groups.items():
            if guid == switch:
                text = "".join(f" 0x{port:03X} " for port in sorted(ports))
                lines.append(f"0x{mlid:04X} :{text}")
    return "\n".join(lines) + "\n"
