"""Damage to dumps of forwarding tables, each kind of which is always a fault."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Mapping

MUTATIONS = ("loop", "missing LID", "half a file", "swapped ports")

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
        if match := re.match(r"Unicast lids .* guid (0x[0-9a-f]+) ", line):
            switch = match[1]
        elif match := _ENTRY.fullmatch(line):
            entries[switch, int(match[1], 16)] = place, int(match[2])
    if kind == "missing LID":
        gone, _ = entries[numbers.choice(sorted(entries))]
        return "\n".join(lines[:gone] + lines[gone + 1 :]) + "\n"
    switches = sorted({switch for switch, _ in entries})
    own = numbers.choice(switches)
    ports = {lid: entry for (switch, lid), entry in entries.items() if switch == own}
    local_lid = numbers.choice(sorted(local[own]))
    other = numbers.choice(sorted(set(ports) - set(local[own])))
    if kind == "loop":
        return "\n".join(_replace(lines, {ports[local_lid][0]: ports[other][1]})) + "\n"
    swap = {ports[local_lid][0]: ports[other][1], ports[other][0]: ports[local_lid][1]}
    return "\n".join(_replace(lines, swap)) + "\n"


def _replace(lines: list[str], ports: dict[int, int]) -> list[str]:
    """Return the lines with other ports, by line."""
    return [
        re.sub(r"^(0x\w{4}) \d{3}", rf"\g<1> {ports[place]:03d}", line) if place in ports else line
        for place, line in enumerate(lines)
    ]
