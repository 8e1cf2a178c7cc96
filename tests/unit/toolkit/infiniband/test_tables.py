"""Forwarding tables, service levels and SL2VL tables: all forms, both ways, and mistakes."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routelab.api import InputError
from routelab.toolkit.infiniband import (
    ForwardingTables,
    LaneTables,
    LidOwner,
    ServiceLevels,
    TextFile,
    parse_forwarding_tables,
    parse_lane_tables,
    parse_service_levels,
    read_forwarding_tables,
    read_lane_tables,
    write_forwarding_tables,
)

DATA = Path(__file__).parents[3] / "data" / "infiniband"
GUIDS = tuple(f"0x{0x200000 + switch:016x}" for switch in range(4))
LFTS = (DATA / "opensm-lfts.dump").read_text()
LANES = "0x0002c90000000201 5 1 0x01 0x23 0x45 0x67 0x89 0xab 0xcd 0xe7"
"""An example of the manual page of ibdmchk."""


def text(content: str) -> TextFile:
    return TextFile.of("file", content)


@pytest.mark.parametrize("form", ["opensm-lfts.dump", "dump_lfts.txt", "opensm.fdbs"])
def test_all_dumps_of_one_fabric_hold_the_same_tables(form):
    ports = read_forwarding_tables(DATA / form).of_switches(GUIDS)
    # ports of small.net: each switch delivers to its hosts and to itself
    expected = {
        0: {2: 0, 129: 4, 130: 5},
        1: {3: 0, 131: 4},
        2: {7: 0, 132: 4},
        3: {8: 0, 133: 4},
    }
    for switch, entries in expected.items():
        assert {lid: int(ports[switch, lid]) for lid in entries} == entries
    dump = read_forwarding_tables(DATA / "opensm-lfts.dump").of_switches(GUIDS)
    np.testing.assert_array_equal(ports[:, : dump.shape[1]], dump)
    assert (ports[:, dump.shape[1] :] == -1).all()
    assert np.flatnonzero((dump >= 0).all(axis=0)).tolist() == [2, 3, 7, 8, *range(129, 134)]


def test_tables_of_all_lids_are_read_as_those_of_valid_ones():
    """`dump_lfts -a` lists LID 0 and unused LIDs, and `dump_lfts` warns that it is old."""
    short = (DATA / "dump_lfts.txt").read_text()
    unused = "0x0000 255 : (path #0 - illegal port)\n"
    long = short.replace("     Info \n", f"     Info \n{unused}").replace(" valid lids", " lids")
    assert long.count(unused) == 4
    long += "\n*** WARNING ***: this command has been replaced by dump_fts\n\n\n"
    known, tables = (parse_forwarding_tables(text(content)) for content in (short, long))
    np.testing.assert_array_equal(tables.ports, known.ports)
    with pytest.raises(InputError, match="file:4: LID 0x0000 is not a unicast LID"):
        parse_forwarding_tables(text(long.replace("0x0000 255", "0x0000 004")))


def test_the_plain_table_of_ibdiagnet_is_read_and_private_tables_are_refused():
    plain = (DATA / "opensm.fdbs").read_text()
    numbered = re.sub(r"^LID ", "PLFT_NUM: 0\nLID ", plain, flags=re.M)
    assert numbered.count("PLFT_NUM") == 4
    known, tables = (parse_forwarding_tables(text(content)) for content in (plain, numbered))
    np.testing.assert_array_equal(tables.ports, known.ports)
    private = numbered.replace("PLFT_NUM: 0", "PLFT_NUM: 1")
    for content in (private, numbered + private):
        with pytest.raises(InputError, match=r"file:[0-9]+: not enough input: .*PLFT_NUM: 1"):
            parse_forwarding_tables(text(content))


def test_tables_are_read_as_opensm_loads_them():
    """Its ``file`` engine skips leading blanks, and needs the GUID in the line of a switch only."""
    bare = re.sub(r"^(Unicast lids .* guid 0x\w+) .*$", r"\1", LFTS, flags=re.M)
    assert bare.count("('") == 0
    known = parse_forwarding_tables(text(LFTS))
    for content in (bare, re.sub(r"^", "  \t", LFTS, flags=re.M)):
        tables = parse_forwarding_tables(text(content))
        assert tables.switch_guids == known.switch_guids
        np.testing.assert_array_equal(tables.ports, known.ports)


def test_written_tables_are_read_back_and_have_opensms_form():
    tables = parse_forwarding_tables(text(LFTS))
    names = dict(re.findall(r"(0x0[0-9a-f]{3}) \d+ # .*?: '(.*)'", LFTS))
    owners = {
        lid: LidOwner(
            "Switch" if lid < 100 else "Channel Adapter",
            tables.guid_of_lid[lid],
            names[f"0x{lid:04x}"],
        )
        for lid in sorted(tables.guid_of_lid)
    }
    switches = [
        next(owner for owner in owners.values() if owner.guid == guid)
        for guid in tables.switch_guids
    ]
    assert (
        "".join(f"{line}\n" for line in write_forwarding_tables(tables, switches, owners)) == LFTS
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("0x0003 001 #", "0x0002 001 #", "file:3: LID 0x0002 is listed twice"),
        ("0x0003 001 #", "0xf003 001 #", "file:3: LID 0xf003 is not a unicast LID"),
        ("0x0003 001 #", "0x0003 301 #", "file:3: port 301 does not exist"),
        ("0x0003 001 #", "0x0003 0o1 #", "file:3: .0x0003 0o1 # .* is not a line"),
        ("Lid 3 guid 0x0000000000200001", "Lid 3 guid 0x200000", "file:12: switch .* at line 1"),
        ("Unicast lids", "Multicast lids", "file:1: .* is not a line of a forwarding table"),
    ],
)
def test_mistakes_in_tables_are_named_with_their_line(old, new, message):
    with pytest.raises(InputError, match=message) as error:
        parse_forwarding_tables(text(LFTS.replace(old, new, 1)))
    assert "\n" not in str(error.value)


def test_truncated_tables_are_found():
    lines = LFTS.splitlines()
    for end in range(len(lines)):
        with pytest.raises(InputError, match=r"truncated|has no table|without a table"):
            parse_forwarding_tables(text("\n".join(lines[:end]))).of_switches(GUIDS, "file")
    with pytest.raises(InputError, match=r"switch 0x0{10}200004 without a table"):
        parse_forwarding_tables(text(LFTS)).of_switches([*GUIDS, "0x0000000000200004"])
    with pytest.raises(InputError, match="fabric lacks"):
        parse_forwarding_tables(text(LFTS)).of_switches(GUIDS[:3])


def test_dumps_without_end_lines_are_refused_wherever_they_are_cut():
    """``.fdbs`` files; a number that is cut (port 00 of 004) reads as another one."""
    content = (DATA / "opensm.fdbs").read_text()
    for cut in range(0, len(content), 7):
        with pytest.raises(InputError, match=r"truncated|has no table|without a table|not a line"):
            parse_forwarding_tables(text(content[:cut])).of_switches(GUIDS, "file")
    last_line = content.rstrip("\n").rfind("\n") + 1
    for cut in range(last_line, len(content)):
        with pytest.raises(InputError, match=r"file:[0-9]+: .*(truncated|not a line)"):
            parse_forwarding_tables(text(content[:cut]))
    parse_forwarding_tables(text(content))


@given(
    st.lists(st.lists(st.integers(-1, 254), min_size=6, max_size=6), min_size=1, max_size=4),
    st.text(max_size=9),
)
def test_any_tables_survive_their_file(rows, name):
    ports = np.array(rows, dtype=np.int16)
    ports[:, 0] = -1
    ports[:, 5] = 1  # the last LID is in use
    guids = tuple(f"0x{switch + 1:016x}" for switch in range(len(rows)))
    owners = {lid: LidOwner("Channel Adapter", f"0x{lid + 99:016x}", name) for lid in range(1, 6)}
    switches = [LidOwner("Switch", guid, name) for guid in guids]
    owners |= {9 + place: owner for place, owner in enumerate(switches)}
    wide = np.full((len(rows), 9 + len(rows)), -1, dtype=np.int16)
    wide[:, :6], wide[:, 9:] = ports, 0
    lines = write_forwarding_tables(ForwardingTables(guids, wide, {}), switches, owners)
    back = parse_forwarding_tables(text("\n".join(lines)))
    np.testing.assert_array_equal(back.of_switches(guids), wide)


def test_service_levels_have_the_form_of_ibdmchk():
    levels = parse_service_levels(text("0x0002c90000000099 154 0\n0x1 3 15\n0x1 4 2\n"))
    assert levels.source_guids == ("0x0002c90000000099", "0x0000000000000001")
    assert levels.levels[0, 154] == 0
    assert levels.levels[1, [3, 4, 5]].tolist() == [15, 2, -1]
    assert np.count_nonzero(levels.levels >= 0) == 3
    dump = 'Channel Adapter 0x0002c90000000099, base LID 13, "node"\n0x009A : 0\n'
    assert parse_service_levels(text(dump)).levels[0, 154] == 0


def test_lane_tables_have_both_forms_of_ibdmchk():
    tables = parse_lane_tables(text(LANES))
    lanes = tables.lanes["0x0002c90000000201"]
    assert lanes[5, 1].tolist() == [*range(15), 7]
    assert np.count_nonzero(lanes[:, :, 0] >= 0) == 1
    # OpenSM mapped SL to SL mod 8, because ibsim's ports have 8 data lanes
    opensm = read_lane_tables(DATA / "opensm-sl2vl.dump")
    assert set(GUIDS) <= set(opensm.lanes)
    for guid in GUIDS:
        known = opensm.lanes[guid][opensm.lanes[guid][:, :, 0] >= 0]
        assert len(known)
        assert (known == np.arange(16) % 8).all()


@pytest.mark.parametrize(
    ("parse", "content", "message"),
    [
        (parse_service_levels, "0x1 3 16", "file:1: SL 16 does not exist"),
        (parse_service_levels, "0x1 3 1\n0x1 3 2", "file:2: .* already has another SL"),
        (parse_service_levels, "0x1 0 1", "file:1: LID 0"),
        (parse_service_levels, "0x1 3", "file:1: .* is not a line"),
        (parse_service_levels, "0x0003 : 1", "file:1: .* before the first channel adapter"),
        (parse_service_levels, "\n", "file: has no service level"),
        (parse_lane_tables, LANES + "\n" + LANES, "file:2: .* second table for ports 5 to 1"),
        (parse_lane_tables, LANES.replace(" 5 1", " 5 255"), "file:1: port 255"),
        (parse_lane_tables, LANES.replace(" 0xe7", ""), "file:1: .* is not a line"),
        (parse_lane_tables, "0 1 :" + " 16" * 16, "file:1: .* before the first switch"),
        (parse_lane_tables, "", "file: has no SL2VL table"),
    ],
)
def test_mistakes_in_levels_and_lanes_are_named(parse, content, message):
    with pytest.raises(InputError, match=message) as error:
        parse(text(content))
    assert "\n" not in str(error.value)


SOURCES = {
    parse_forwarding_tables: LFTS,
    parse_service_levels: "0x1 3 15\n0x1 4 2\n0x2 9 0\n",
    parse_lane_tables: LANES,
}


@settings(max_examples=150)
@given(
    st.sampled_from(list(SOURCES)),
    st.integers(0, 10_000),
    st.text(st.characters(exclude_categories=()), max_size=6),
    st.integers(0, 6),
)
def test_changed_files_are_read_or_refused_in_one_sentence(parse, place, new, cut):
    source = SOURCES[parse]
    at = place % (len(source) + 1)
    try:
        tables = parse(text(source[:at] + new + source[at + cut :]))
    except InputError as error:
        message = str(error)
    else:
        assert isinstance(tables, ForwardingTables | ServiceLevels | LaneTables)
        return
    assert message.startswith("file")
    assert "\n" not in message
