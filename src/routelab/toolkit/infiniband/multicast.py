"""Multicast forwarding tables (MFTs), as OpenSM dumps them and ``ibroute`` prints them.

``opensm.mcfdbs`` has a table for each switch that forwards some group, and no line that ends a
table or the file. An entry lists all ports of a group (MLID) at the switch, 0 for the switch
itself: ``0xC001 : 0x001  0x004``. The manual page ibdmchk(1) calls the file ``-m``.

``ibroute -M``, ``dump_fts -M`` and ``dump_mfts`` print a table for each switch, which ends with its
number of entries. An entry has a column for each port, two characters wide, with an ``x`` for the
ports of the group. With the option ``-n`` it has a mask instead: 16 bits for ports 0 to 15, then
those of ports 16 to 31, and so on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from routelab.api.errors import InputError
from routelab.api.topology import Int32Array, frozen_array
from routelab.toolkit.infiniband.text_lines import (
    FIRST_MULTICAST_LID,
    LAST_MULTICAST_LID,
    MAX_PORT,
    REPLACED_COMMAND,
    TextFile,
    guid_text,
    shorten,
)

_SWITCH = re.compile(r"Switch 0x([0-9a-fA-F]{1,16})\s*")
_ENTRY = re.compile(r"0x([0-9a-fA-F]{4})[ \t]*:((?:[ \t]+0x[0-9a-fA-F]{3})*)[ \t]*")
_OTHER = re.compile(r"\s*|LID\s.*|#.*")

_PRINTED_SWITCH = re.compile(
    r"Multicast mlids \[.*\] of switch .*guid 0x([0-9a-fA-F]{1,16}) \(.*\):"
)
_COLUMNS = re.compile(r"0x([0-9a-fA-F]{4})((?: {6}[ x]*)?)")
_MASK = re.compile(r"0x([0-9a-fA-F]{4}) {6}((?:[0-9a-fA-F]{4})+)\s*")
_END = re.compile(r"([0-9]+) (valid )?mlids dumped\s*")
_PRINTED_OTHER = re.compile(rf"\s*| *(?:Ports:)?[ 0-9]*| MLid.*|{REPLACED_COMMAND}|#.*")
CELLS = 6
"""Spaces before the column of port 0."""
PORTS_OF_MASK = 16
"""Ports that each part of a mask has."""


@dataclass(frozen=True, eq=False)
class MulticastTables:
    """Multicast forwarding tables of switches, as a list of the ports of all entries.

    Attributes
    ----------
    switch_guids : tuple of str
        Switches with a table; others forward no group.
    entries : int32 array, shape (N, 3)
        Switch, MLID and port.
    """

    switch_guids: tuple[str, ...]
    entries: Int32Array


def read_multicast_tables(path: Path) -> MulticastTables:
    """Read multicast forwarding tables: ``opensm.mcfdbs``, or output of ``ibroute -M``.

    An empty file has no group: OpenSM writes that if there is none.

    Raises
    ------
    InputError
        If the file cannot be read or its content is wrong; names the file and the line.
    """
    return parse_multicast_tables(TextFile.read(path))


def parse_multicast_tables(text: TextFile) -> MulticastTables:
    """Read multicast forwarding tables from lines; see `read_multicast_tables`."""
    if any(_PRINTED_SWITCH.fullmatch(line) for line in text.lines):
        return _printed_tables(text)
    found = _Tables(text)
    for number, line in enumerate(text.lines, 1):
        if entry := _ENTRY.fullmatch(line):
            ports = [int(port, 16) for port in entry[2].split()]
            if not ports:
                raise text.error(number, f"the entry of MLID 0x{entry[1].lower()} has no port")
            found.add_entry(number, int(entry[1], 16), ports)
        elif switch := _SWITCH.fullmatch(line):
            found.check_last()
            found.add_switch(number, switch[1])
        elif not _OTHER.fullmatch(line):
            raise _unknown_line(text, number)
    if not text.is_ended:
        raise text.error(len(text.lines), "the last line has no end; the file may be truncated")
    found.check_last()
    return found.tables()


def _printed_tables(text: TextFile) -> MulticastTables:
    """Read the output of ``ibroute -M``, of one switch or of several."""
    found = _Tables(text)
    is_open, listed, used = False, 0, 0
    for number, line in enumerate(text.lines, 1):
        if (entry := _printed_entry(line)) is not None:
            if not is_open:
                raise text.error(number, "an entry is outside the table of a switch")
            mlid, ports = entry
            listed, used = listed + 1, used + bool(ports)
            found.add_entry(number, mlid, ports)
        elif switch := _PRINTED_SWITCH.fullmatch(line):
            if is_open:
                break
            is_open, listed, used = True, 0, 0
            found.add_switch(number, switch[1])
        elif end := _END.fullmatch(line):
            if is_open and int(end[1]) != (used if end[2] else listed):
                raise text.error(
                    number,
                    f"the table of switch {found.last} has {used if end[2] else listed} entries, "
                    f"the line says {end[1]}",
                )
            is_open = False
        elif not _PRINTED_OTHER.fullmatch(line):
            raise _unknown_line(text, number)
    if is_open:
        raise text.error(
            found.started[found.last],
            f"the table of switch {found.last} does not end with a line 'N mlids dumped'; the file "
            "may be truncated",
        )
    return found.tables()


def _printed_entry(line: str) -> tuple[int, list[int]] | None:
    """Return the MLID and the ports of an entry; None if the line is none."""
    if found := _COLUMNS.fullmatch(line):
        cells = found[2][CELLS:]
        if "x" in cells[1::2]:
            return None
        return int(found[1], 16), [port for port, cell in enumerate(cells[::2]) if cell == "x"]
    if found := _MASK.fullmatch(line):
        parts = [int(found[2][at : at + 4], 16) for at in range(0, len(found[2]), 4)]
        bits = [part >> bit & 1 for part in parts for bit in range(PORTS_OF_MASK)]
        return int(found[1], 16), [port for port, bit in enumerate(bits) if bit]
    return None


def _unknown_line(text: TextFile, number: int) -> InputError:
    line = shorten(text.lines[number - 1])
    return text.error(number, f"{line} is not a line of a multicast forwarding table")


class _Tables:
    """Tables that are read line by line.

    Parameters
    ----------
    text : TextFile
    """

    def __init__(self, text: TextFile) -> None:
        self.text = text
        self.started: dict[str, int] = {}
        self.last = ""
        self.known: set[tuple[int, int]] = set()
        self.entries: list[tuple[int, int, int]] = []

    def add_switch(self, number: int, guid: str) -> None:
        """Begin the table of a switch."""
        self.last = guid_text(int(guid, 16))
        if self.last in self.started:
            line = self.started[self.last]
            raise self.text.error(number, f"switch {self.last} already has a table at line {line}")
        self.started[self.last] = number

    def add_entry(self, number: int, mlid: int, ports: list[int]) -> None:
        """Add the ports of a group to the last table."""
        if not self.started:
            raise self.text.error(number, "an entry is outside the table of a switch")
        if not FIRST_MULTICAST_LID <= mlid <= LAST_MULTICAST_LID:
            raise self.text.error(
                number, f"LID 0x{mlid:04x} is not a multicast LID (0xc000 to 0xfffe)"
            )
        if max(ports, default=0) > MAX_PORT:
            raise self.text.error(
                number, f"port {max(ports)} does not exist; ports are 0 to {MAX_PORT}"
            )
        if len(set(ports)) < len(ports):
            raise self.text.error(number, f"the entry of MLID 0x{mlid:04x} lists a port twice")
        switch = len(self.started) - 1
        if (switch, mlid) in self.known:
            raise self.text.error(
                number, f"MLID 0x{mlid:04x} is listed twice in the table of this switch"
            )
        self.known.add((switch, mlid))
        self.entries += [(switch, mlid, port) for port in ports]

    def check_last(self) -> None:
        """Raise an error if the last table has no entry: OpenSM leaves such tables out."""
        if self.started and (not self.entries or self.entries[-1][0] < len(self.started) - 1):
            raise self.text.error(
                self.started[self.last],
                f"the table of switch {self.last} has no entry; the file may be truncated",
            )

    def tables(self) -> MulticastTables:
        """Return all tables."""
        entries = np.array(self.entries, dtype=np.int32).reshape(-1, 3)
        return MulticastTables(tuple(self.started), frozen_array(entries, np.int32))
