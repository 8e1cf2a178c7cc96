"""Dumps of multicast forwarding tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from routelab.api import InputError
from routelab.toolkit.infiniband import (
    MulticastTables,
    TextFile,
    parse_multicast_tables,
    read_multicast_tables,
)

DUMP = Path(__file__).parents[3] / "data" / "infiniband" / "opensm.mcfdbs"


def test_a_dump_of_opensm_is_read():
    tables = read_multicast_tables(DUMP)
    assert tables.switch_guids == tuple(f"0x{0x200000 + number:016x}" for number in range(4))
    entries = tables.entries.tolist()
    assert len(entries) == 24
    assert [port for switch, mlid, port in entries if (switch, mlid) == (0, 0xC001)] == [1, 3, 4, 5]


def test_a_dump_without_groups_is_empty():
    tables = parse_multicast_tables(TextFile.of("mfts", ""))
    assert (tables.switch_guids, len(tables.entries)) == ((), 0)


def ports(tables: MulticastTables) -> dict[tuple[str, int], set[int]]:
    """Ports of each entry, by switch and MLID."""
    found: dict[tuple[str, int], set[int]] = {}
    for switch, mlid, port in tables.entries.tolist():
        found.setdefault((tables.switch_guids[switch], mlid), set()).add(port)
    return found


@pytest.mark.parametrize("file", ["dump_mfts.txt", "dump_mfts-n.txt"])
def test_printed_tables_are_those_that_opensm_dumped(file):
    """Columns and masks of switches with more than 16 ports."""
    dump = """\
Switch 0x0000000000200000
LID    : Out Port(s)
0xC001 : 0x010  0x012  0x014
0xC002 : 0x012  0x014

Switch 0x0000000000200001
LID    : Out Port(s)
0xC001 : 0x00C  0x021
0xC002 : 0x002  0x00C  0x021
"""
    expected = ports(parse_multicast_tables(TextFile.of("mfts", dump)))
    text = DUMP.with_name(file).read_text()
    assert ports(parse_multicast_tables(TextFile.of("mfts", text))) == expected
    stripped = "".join(f"{line.rstrip()}\n" for line in text.splitlines())
    assert ports(parse_multicast_tables(TextFile.of("mfts", stripped))) == expected
    # ibroute prints the tables one by one, with -a also MLIDs without ports
    _, head, *rest = text.partition("Multicast")[2].partition("Multicast")
    more = f"{head}{rest[0]}".replace("2 valid mlids", f"0xc003{50 * ' '}\n3 mlids")
    assert set(ports(parse_multicast_tables(TextFile.of("mfts", more)))) < set(expected)


PRINTED = "Multicast mlids [0xc000-0xc3ff] of switch Lid 2 guid 0x1 (s0):\n"
ENTRY = "0xc001      x   x \n"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (PRINTED + ENTRY, "mfts:1: the table of switch 0x0000000000000001 does not end with"),
        (PRINTED + ENTRY + PRINTED.replace("0x1", "0x2"), "mfts:1: .* does not end with"),
        (PRINTED + "2 valid mlids dumped \n", "mfts:2: .* has 0 entries, the line says 2"),
        (PRINTED + "0xc001       x\n", "mfts:2: '0xc001       x' is not a line of a multi"),
        (PRINTED + "0xc001      001\n", "mfts:2: '0xc001      001' is not a line of a multi"),
        (PRINTED + "0 mlids dumped\n" + ENTRY, "mfts:3: an entry is outside the table"),
        (PRINTED + "0x0001      0010\n", "mfts:2: LID 0x0001 is not a multicast LID"),
    ],
)
def test_wrong_printed_tables_are_refused(text, problem):
    with pytest.raises(InputError, match=f"^{problem}"):
        parse_multicast_tables(TextFile.of("mfts", text))


HEAD = "Switch 0x1\nLID    : Out Port(s)\n"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("0xC001 : 0x001 \n", "mfts:1: an entry is outside the table of a switch"),
        (HEAD + "0x0001 : 0x001 \n", "mfts:3: LID 0x0001 is not a multicast LID"),
        (HEAD + "0xFFFF : 0x001 \n", "mfts:3: LID 0xffff is not a multicast LID"),
        (HEAD + "0xC001 : 0x0FF \n", "mfts:3: port 255 does not exist"),
        (HEAD + "0xC001 : 0x001  0x001 \n", "mfts:3: the entry of MLID 0xc001 lists a port twice"),
        (HEAD + "0xC001 :\n", "mfts:3: the entry of MLID 0xc001 has no port"),
        (HEAD + "0xC001 : 0x001 \n0xC001 : 0x002 \n", "mfts:4: MLID 0xc001 is listed twice"),
        (HEAD + "0xC001 : 0x001 \n\n" + HEAD, "mfts:5: switch 0x0000000000000001 already has"),
        (HEAD + "0xC001 : 0x001  0x0", "mfts:3: '0xC001 : 0x001  0x0' is not a line of a multi"),
        (HEAD + "0xC001 : 0x001 ", "mfts:3: the last line has no end; the file may be truncated"),
        (HEAD, "mfts:1: the table of switch 0x0000000000000001 has no entry"),
        (HEAD + "\nSwitch 0x2\n", "mfts:1: the table of switch 0x0000000000000001 has no entry"),
    ],
)
def test_wrong_content_is_refused(text, problem):
    with pytest.raises(InputError, match=f"^{problem}"):
        parse_multicast_tables(TextFile.of("mfts", text))
