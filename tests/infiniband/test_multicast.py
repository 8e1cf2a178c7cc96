"""Multicast groups that OpenSM forwards: they form trees, and ibdmchk finds the same loops."""

from __future__ import annotations

import random
import re
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from mutations import MULTICAST_MUTATIONS, cables_of, flip_port, mutate_multicast

from routelab.api import InputError
from routelab.stages.infiniband.check import find_faults
from routelab.stages.infiniband.inputs import FabricTables, Service, read_fabric_tables
from routelab.stages.infiniband.multicast import (
    MulticastGroups,
    find_multicast_faults,
    groups_of,
)
from routelab.toolkit.infiniband import (
    TextFile,
    parse_multicast_tables,
    read_multicast_tables,
)

JOIN = Path(__file__).with_name("join_groups.py")
ROOT = Path(__file__).parents[2]
MESH = ROOT / "config" / "networks" / "m8x8f6s1.net"
SMALL = ROOT / "tests" / "data" / "infiniband" / "small.net"
FULL, SENDS = 1, 4
SECONDS = 60


def joined(fabric, tables: FabricTables, members: Mapping[int, Sequence[str]]) -> MulticastGroups:
    """Join groups, given by their numbers; return them as soon as OpenSM forwards them.

    The last member of a group only sends; the first one creates the group.
    """
    lines = [
        f"{guid} {group} {FULL if place + 1 < len(guids) else SENDS}\n"
        for group, guids in members.items()
        for place, guid in enumerate(guids)
    ]
    (fabric.folder / "members").write_text("".join(lines))
    fabric.ask(sys.executable, "-I", "-S", str(JOIN), str(fabric.folder / "members"))
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        try:
            dump = read_multicast_tables(fabric.folder / "opensm.mcfdbs")
        except InputError:
            continue  # OpenSM is writing it
        groups = groups_of(tables, dump, "mfts")
        is_complete = (groups.host >= 0).sum() == len(lines)
        if is_complete and not find_multicast_faults(groups).texts:
            return groups
        time.sleep(0.05)
    raise RuntimeError("OpenSM does not forward the groups")


def test_groups_of_opensm_are_trees_and_may_close_credit_loops(simulate, tmp_path):
    """Up*/down* routes of unicast packets do not protect from the trees of multicast."""
    fabric = simulate(MESH)
    (tmp_path / "roots").write_text("0x0000000000200000\n")
    fabric.manage("-R", "updn,no_fallback", "-a", str(tmp_path / "roots"))
    (fabric.folder / "fabric.topo").write_text(fabric.ask("ibnetdiscover", host=0))
    tables = read_fabric_tables(fabric.folder / "fabric.topo", fabric.folder / "opensm-lfts.dump")
    numbers = random.Random(1)
    members = {group: numbers.sample(tables.addresses.terminal_guids, 4) for group in range(1, 9)}
    verdicts = []
    for count in (1, len(members)):
        groups = joined(fabric, tables, dict(list(members.items())[:count]))
        assert len(groups.mlids) == count
        found = find_faults(tables, Service(), groups=groups)
        assert found.texts == ()
        output = fabric.check_with_ibdmchk("-a", "-M")
        assert ("credit loops in routing" in output) == bool(found.undetermined)
        assert ("no credit loops found" in output) == (not found.undetermined)
        assert "no credit loops found" in fabric.check_with_ibdmchk("-a")
        verdicts.append(bool(found.undetermined))
    assert verdicts == [False, True]
    assert "Without multicast there is no credit loop." in found.remarks
    lids = map(str, tables.addresses.switch_lids.tolist())
    printed = [fabric.ask(*command) for command in (["dump_mfts"], ["dump_fts", "-M", "-n"])]
    printed.append("".join(fabric.ask("ibroute", "-M", lid) for lid in lids))
    for text in printed:
        again = groups_of(tables, parse_multicast_tables(TextFile.of("mfts", text)), "mfts")
        for field in ("mlids", "group", "switch", "port"):
            np.testing.assert_array_equal(getattr(again, field), getattr(groups, field))


NO_CABLE = "which has no cable"
"""Fault that ibdmchk does not look for."""


def groups_that_ibdmchk_refuses(output: str) -> set[int]:
    """Return the MLIDs that it reports loops, separate members or one-sided entries of."""
    section = output.partition("Scanning all multicast groups")[2].partition("\n-----")[0]
    first, *parts = section.split("Multicast Group:")
    assert first
    assert parts
    return {
        int(part.split()[0], 16)
        for part in parts
        if re.search(r"^-[EW]- (?!\d+ multicast group checks failed)", part, re.MULTILINE)
    }


def test_damaged_groups_are_those_that_ibdmchk_refuses(simulate):
    fabric = simulate(SMALL)
    fabric.manage("-R", "minhop,no_fallback")
    (fabric.folder / "fabric.topo").write_text(fabric.ask("ibnetdiscover", host=0))
    tables = read_fabric_tables(fabric.folder / "fabric.topo", fabric.folder / "opensm-lfts.dump")
    hosts = tables.addresses.terminal_guids
    joined(fabric, tables, {1: hosts, 2: [hosts[0], hosts[-1], hosts[2]], 3: [hosts[0], hosts[2]]})
    dump = fabric.folder / "opensm.mcfdbs"
    text, cables = dump.read_text(), cables_of(tables)
    damaged = [text]
    for seed in range(12):
        numbers = random.Random(seed)
        damaged += [
            mutate_multicast(text, kind, numbers, cables)
            for kind in MULTICAST_MUTATIONS
            if kind != "half a file"
        ]
        damaged += [flip_port(text, numbers) for _ in range(3)]
    faulty = 0
    for content in damaged:
        dump.write_text(content)
        groups = groups_of(tables, read_multicast_tables(dump), "mfts")
        found = find_multicast_faults(groups)
        named = " ".join(one for one in found.texts if NO_CABLE not in one)
        ours = {mlid for mlid in groups.mlids.tolist() if f"MLID 0x{mlid:04x}" in named}
        assert ours == groups_that_ibdmchk_refuses(fabric.check_with_ibdmchk()), content
        faulty += bool(ours)
    assert len(damaged) // 2 < faulty < len(damaged) - 5
