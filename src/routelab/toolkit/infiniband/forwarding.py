"""Forwarding tables (LFTs): readers of the dumps that OpenSM and the tools print, and a writer.

Three forms are read, all with LIDs in hexadecimal and ports in decimal:

- ``opensm-lfts.dump``, which is the input of OpenSM's ``file`` engine, too: entries
  ``0x0019 002 # Channel Adapter portguid 0x...: 'name'`` below a line for each switch;
- output of ``ibroute``, ``dump_fts`` and ``dump_lfts``: entries
  ``0x0019 002 : (Channel Adapter portguid ...)``, with ``-n`` only ``0x0019 002``;
- ``opensm.fdbs``, the input of ``ibdmchk``, and ``ibdiagnet2.fdbs``: entries
  ``0x0019 : 002  : 01   : yes``.

As in the ``file`` engine, lines may be indented, and the line of a switch needs no name. Where an
entry names the GUID of its destination's port, the engine translates the LID to the present one of
that port (manual page opensm(8), "File Routing Algorithm").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from routelab.api.errors import InputError
from routelab.api.topology import Int16Array, frozen_array
from routelab.toolkit.infiniband.text_lines import (
    MAX_LID,
    REPLACED_COMMAND,
    TextFile,
    guid_text,
)

NO_PORT = 255
"""Port number with which switches mark an unused entry."""

_SWITCH = re.compile(
    r"Unicast lids .*? guid 0x([0-9a-fA-F]{1,16})(?:\s.*)?"
    r"|(?:dump_ucast_routes|osm_ucast_mgr_dump_ucast_routes): Switch 0x([0-9a-fA-F]{1,16})"
    r"|Switch 0x([0-9a-fA-F]{1,16})"
)
_ENTRY = re.compile(
    r"0x(?P<lid>[0-9a-fA-F]{1,4})[ \t]+(?::[ \t]*)?(?P<port>[0-9]{1,3}|UNREACHABLE)"
    r"(?:[ \t]*(?P<comment>[#:].*))?[ \t]*"
)
_PORT_GUID = re.compile(r"portguid 0x(?P<guid>[0-9a-fA-F]{1,16})")
_END = re.compile(r"(?P<number>[0-9]+) (?P<valid>valid )?lids dumped")
_PRIVATE = re.compile(r"PLFT_NUM:\s*0*[1-9][0-9]*")
_OTHER = re.compile(rf"|Lid  Out .*|Port .*|LID .*|PLFT_NUM:\s*0+|#.*|{REPLACED_COMMAND}")


@dataclass(frozen=True, eq=False)
class ForwardingTables:
    """Forwarding tables of switches.

    Attributes
    ----------
    switch_guids : tuple of str
    ports : int16 array, shape (S, L)
        Port that each switch sends packets for each LID to; 0 is the switch itself, −1 no entry.
    guid_of_lid : mapping of int to str
        GUID of the port at each LID, as far as the file names it.
    """

    switch_guids: tuple[str, ...]
    ports: Int16Array
    guid_of_lid: Mapping[int, str]

    def of_switches(self, guids: Sequence[str], file: str = "forwarding tables") -> Int16Array:
        """Return the tables in another order of the switches; int16, shape (len(guids), L).

        Raises
        ------
        InputError
            If a switch has no table, or a table is that of another switch.
        """
        row_of_guid = {guid: row for row, guid in enumerate(self.switch_guids)}
        missing = [guid for guid in guids if guid not in row_of_guid]
        if missing:
            raise InputError(f"{file}: {_shortened(missing)} without a table; it may be truncated")
        unknown = sorted(set(self.switch_guids) - set(guids))
        if unknown:
            raise InputError(f"{file}: tables of {_shortened(unknown)} that the fabric lacks")
        return frozen_array(self.ports[[row_of_guid[guid] for guid in guids]], np.int16)


def _shortened(guids: Sequence[str]) -> str:
    """Return a list of switches for messages: the first one, and how many more there are."""
    more = f" and {len(guids) - 1} more" if len(guids) > 1 else ""
    return f"switch {guids[0]}{more}"


def read_forwarding_tables(path: Path) -> ForwardingTables:
    """Read forwarding tables from a file of any of the three forms.

    Raises
    ------
    InputError
        If it cannot be read or its content is wrong; names the file and the line.
    """
    return parse_forwarding_tables(TextFile.read(path))


def parse_forwarding_tables(text: TextFile) -> ForwardingTables:
    """Read forwarding tables from lines; see `read_forwarding_tables`."""
    # 1. A second table of a switch. All lines are searched for it before any other error, which
    #    would not name the reason.
    lines = [line.strip() for line in text.lines]
    for line_number, line in enumerate(lines, 1):
        if _PRIVATE.fullmatch(line):
            raise text.missing_input(
                line_number,
                f"a switch has several forwarding tables ({line}), and the file "
                "does not say which of them a packet uses",
            )
    # 2. The head of a switch, its entries and, in two of the forms, an end.
    tables: dict[str, dict[int, int]] = {}
    guid_of_lid: dict[int, str] = {}
    first_line: dict[str, int] = {}
    ended: set[str] = set()
    current = ""  # GUID of the switch whose entries follow
    for line_number, line in enumerate(lines, 1):
        if entry := _ENTRY.fullmatch(line):
            if not current:
                raise text.error(line_number, "an entry is outside the table of a switch")
            _add_entry(text, line_number, entry, tables[current], guid_of_lid)
        elif head := _SWITCH.fullmatch(line):
            guid = head[1] or head[2] or head[3]  # each form of the line has a group of its own
            current = guid_text(int(guid, 16))
            if current in first_line:
                raise text.error(
                    line_number,
                    f"switch {current} already has a table at line {first_line[current]}",
                )
            first_line[current] = line_number
            tables[current] = {}
        elif end := _END.fullmatch(line):
            # "42 valid lids dumped" has the number of entries; without "valid", it is the top LID
            if end["valid"] and current and int(end["number"]) != len(tables[current]):
                raise text.error(
                    line_number,
                    f"the table of switch {current} has {len(tables[current])} entries, the line "
                    f"says {end['number']}",
                )
            ended.add(current)
            current = ""
        elif not _OTHER.fullmatch(line):
            raise text.stray(line_number, "a line of a forwarding table")
    if not tables:
        raise InputError(f"{text.name}: has no table of a switch")
    # 3. A table that was cut lacks the end that others have, or ends at an earlier LID.
    cut = [guid for guid in tables if guid not in ended]
    if ended and cut:
        raise text.error(
            first_line[cut[0]],
            f"the table of switch {cut[0]} does not end with a line 'N lids dumped'; the file may "
            "be truncated",
        )
    if not ended:
        _check_end(text, tables)
    # 4. One array for all switches.
    size = max((max(table, default=0) for table in tables.values()), default=0) + 1
    ports = np.full((len(tables), size), -1, dtype=np.int16)
    for row, table in enumerate(tables.values()):
        ports[row, list(table)] = list(table.values())
    return ForwardingTables(tuple(tables), frozen_array(ports, np.int16), guid_of_lid)


def _check_end(text: TextFile, tables: Mapping[str, Mapping[int, int]]) -> None:
    """Refuse a file that ends within a line or a table, in the form without 'lids dumped'."""
    if not text.is_ended:
        raise text.error(
            len(text.lines), "the file does not end with a line feed; it may be truncated"
        )
    # the tables of a subnet list the same LIDs, also those that are not in use
    *earlier_ends, last_end = (max(table, default=0) for table in tables.values())
    if earlier_ends and last_end < min(earlier_ends):
        raise text.error(
            len(text.lines),
            f"the last table ends at LID 0x{last_end:04x}, all others at "
            f"0x{min(earlier_ends):04x} or later; the file may be truncated",
        )


def _add_entry(
    text: TextFile,
    line_number: int,
    entry: re.Match[str],
    table: dict[int, int],
    guid_of_lid: dict[int, str],
) -> None:
    """Add a line's entry to the table of its switch, and the GUID it names to `guid_of_lid`."""
    lid = int(entry["lid"], 16)
    port = NO_PORT if entry["port"] == "UNREACHABLE" else int(entry["port"])
    if lid == 0 and port == NO_PORT:
        return  # ibroute -a also lists unused entries, even that of LID 0, which is no address
    if not 1 <= lid <= MAX_LID:
        raise text.error(line_number, f"LID 0x{lid:04x} is not a unicast LID (0x0001 to 0xbfff)")
    if port > NO_PORT:
        raise text.error(line_number, f"port {port} does not exist; ports are 0 to 254")
    if lid in table:
        raise text.error(
            line_number, f"LID 0x{lid:04x} is listed twice in the table of this switch"
        )
    # an unused entry is stored, too: it counts as a line of the table, and may not occur twice
    table[lid] = -1 if port == NO_PORT else port
    if named := _PORT_GUID.search(entry["comment"] or ""):
        guid = guid_text(int(named["guid"], 16))
        if guid_of_lid.setdefault(lid, guid) != guid:
            raise text.error(
                line_number, f"LID 0x{lid:04x} is that of {guid} here, of {guid_of_lid[lid]} before"
            )


@dataclass(frozen=True)
class LidOwner:
    """Port with a LID, for comments in the tables: its kind, GUID and name."""

    kind: str
    guid: str
    name: str


def write_forwarding_tables(
    tables: ForwardingTables, switches: Sequence[LidOwner], owners: Mapping[int, LidOwner]
) -> Iterator[str]:
    """Yield the lines of tables for OpenSM's ``file`` engine, in the form of its dumps.

    Parameters
    ----------
    tables : ForwardingTables
    switches : sequence of LidOwner, length S
        In the order of the rows of `tables`.
    owners : mapping of int to LidOwner
        The port of each LID.
    """
    lid_of_guid = {owner.guid: lid for lid, owner in owners.items()}
    top_lid = tables.ports.shape[1] - 1
    comment = {
        lid: f"# {owner.kind} portguid {owner.guid}: '{plain_name(owner.name)}'"
        for lid, owner in owners.items()
    }
    for row, switch in enumerate(switches):
        yield (
            f"Unicast lids [0-{top_lid}] of switch Lid {lid_of_guid[switch.guid]} guid "
            f"{switch.guid} "
            f"('{plain_name(switch.name)}'):"
        )
        entries = tables.ports[row].tolist()
        for lid, text in comment.items():
            if entries[lid] >= 0:
                yield f"0x{lid:04x} {entries[lid]:03d} {text}"
        yield f"{top_lid} lids dumped"


def plain_name(name: str) -> str:
    """Return a name without control characters and line separators, for comments in files."""
    return "".join(character if character.isprintable() else "?" for character in name)
