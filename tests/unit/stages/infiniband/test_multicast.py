"""Checks of multicast groups agree with single copies, and find every damage of a dump."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from routelab.api import InputError
from routelab.stages.infiniband.check import check_fabric, find_faults
from routelab.stages.infiniband.columns import CHECK
from routelab.stages.infiniband.inputs import Service, read_fabric_tables
from routelab.stages.infiniband.multicast import (
    MulticastGroups,
    find_multicast_faults,
    groups_of,
)
from routelab.stages.infiniband.texts import check_lines
from routelab.toolkit.infiniband import (
    MulticastTables,
    read_multicast_tables,
)

sys.path.insert(0, str(Path(__file__).parent))

from fabric_twin import FabricTwin, MulticastTwin, groups_that_wait
from mutations import MULTICAST_MUTATIONS, cables_of, mutate_multicast

DATA = Path(__file__).parents[3] / "data" / "infiniband"
FABRIC, LFTS, MFTS = DATA / "fabric.topo", DATA / "opensm-lfts.dump", DATA / "opensm.mcfdbs"
TABLES = read_fabric_tables(FABRIC, LFTS)
GUIDS = TABLES.addresses.switch_guids
NODES = [
    {f"0x{TABLES.fabric.nodes[i].guid:016x}": i for i in TABLES.fabric.switches}[guid]
    for guid in GUIDS
]


def groups_with(entries: list[tuple[int, int, int]]) -> MulticastGroups:
    """Return groups by switch, MLID and port."""
    table = np.array(entries, dtype=np.int32).reshape(-1, 3)
    return groups_of(TABLES, MulticastTables(GUIDS, table), "mfts")


def dumped(text: str, folder: Path) -> MulticastGroups:
    file = folder / "mfts"
    file.write_text(text)
    return groups_of(TABLES, read_multicast_tables(file), "mfts")


PORT_SETS = st.sets(st.integers(0, 6), min_size=1)
"""Ports of an entry: those of switches in the fabric, and 6, which has no cable."""
TREES = {
    # s0 - s1 - s2 and s0 - s3, with all hosts
    0xC001: [(0, {1, 3, 4, 5}), (1, {1, 3, 4}), (2, {1, 4}), (3, {2, 4})],
    0xC002: [(0, {2, 4}), (1, {2, 3}), (2, {1, 2}), (3, {1, 4})],
    0xC003: [(0, {4, 5})],
}


@st.composite
def some_groups(draw) -> list[tuple[int, int, int]]:
    """Three groups, with some other entries at some switches."""
    ports = {
        (switch, mlid): set(of_switch) for mlid, tree in TREES.items() for switch, of_switch in tree
    }
    place = st.tuples(st.integers(0, len(GUIDS) - 1), st.sampled_from(sorted(TREES)))
    for where in draw(st.lists(place, max_size=4, unique=True)):
        ports[where] = draw(PORT_SETS)
    return [(s, mlid, port) for (s, mlid), ones in ports.items() for port in sorted(ones)]


def twin_of(entries: list[tuple[int, int, int]]) -> MulticastTwin:
    ports: dict[tuple[int, int], set[int]] = {}
    for switch, mlid, port in entries:
        ports.setdefault((NODES[switch], mlid), set()).add(port)
    lids = TABLES.addresses.lids.tolist()
    routes = {
        (NODES[switch], lid): int(TABLES.entries.ports[switch, column])
        for switch in range(len(GUIDS))
        for column, lid in enumerate(lids)
    }
    return MulticastTwin(FabricTwin(TABLES.fabric, routes), ports)


@settings(max_examples=100, deadline=None)
@given(some_groups())
def test_faulty_groups_are_those_of_single_copies(entries):
    groups, twin = groups_with(entries), twin_of(entries)
    found = find_multicast_faults(groups)
    for group, mlid in enumerate(groups.mlids.tolist()):
        assert found.is_faulty[group] == twin.is_faulty(mlid)
        assert found.has_loop[group] == twin.loops(mlid)
    for loop in found.loops:
        topology = TABLES.topology
        targets = topology.channel_target[list(loop)].tolist()
        sources = topology.channel_source[list(loop)].tolist()
        assert targets == [*sources[1:], sources[0]]
    assert len(found.loops) == np.count_nonzero(found.has_loop)


# copies that never arrive: of a group that is not a tree, and behind a lane that drops them
NOT_A_TREE = {
    0xC001: [(0, {1, 3, 4, 5}), (1, {1, 3, 4}), (2, {1, 4}), (3, {2, 4})],
    0xC002: [(0, {2, 4}), (1, {2, 3}), (2, {1, 2}), (3, {1, 4})],
    0xC003: [(0, {1}), (3, {0, 1, 2}), (2, {0, 1, 2})],
}
DROPPED = {
    0xC001: [(0, {1, 3, 4, 5}), (1, {1, 3, 4}), (2, {0}), (3, {1})],
    0xC002: [(0, {0}), (1, {2, 3}), (2, {1, 2}), (3, {1, 4})],
    0xC003: [(0, {0})],
}
FEW, MANY = (0.6, 0.35, 0.05), (0.45, 0.3, 0.25)
"""Shares of lanes 0, 1 and 15, which drops packets."""


def entries_of(trees: dict[int, list[tuple[int, set[int]]]]) -> list[tuple[int, int, int]]:
    return [(s, mlid, p) for mlid, tree in trees.items() for s, of in tree for p in sorted(of)]


@settings(max_examples=60, deadline=None)
@given(
    some_groups(),
    st.integers(0, 2**32 - 1),
    st.sampled_from([None, FEW, MANY]),
    st.integers(0, 2),
)
@example(entries_of(NOT_A_TREE), 32767, FEW, 0)
@example(entries_of(DROPPED), 3341, MANY, 2)
def test_credit_loops_are_the_cycles_of_all_packets(entries, seed, shares, own_level):
    numbers = np.random.default_rng(seed)
    count = len(TABLES.addresses.lids)
    levels = numbers.integers(0, 2, (count, count)).astype(np.int8)
    lanes = numbers.choice([0, 1, 15], (4, 7, 7, 16), p=shares or FEW).astype(np.int8)
    groups, twin = groups_with(entries), twin_of(entries)
    service = Service(levels, lanes if shares else None, multicast_level=own_level)
    found = find_faults(TABLES, service, groups=groups)
    column = {int(lid): place for place, lid in enumerate(TABLES.addresses.lids)}

    def level(source: int, target: int) -> int:
        return int(levels[column[source], column[target]])

    def lane(node: int, came: int, port: int, one: int) -> int:
        return int(lanes[NODES.index(node), came, port, one]) if shares else one

    unicast = twin.fabric.dependencies(level, lane)
    edges = set(unicast)
    for mlid in TREES:
        if not twin.loops(mlid):
            edges |= twin.dependencies(mlid, lane, own_level)
    assert found.own.count == groups_that_wait(edges)
    remark = "Without multicast there is no credit loop." in found.remarks
    assert remark == (groups_that_wait(edges) > 0 and groups_that_wait(unicast) == 0)


@pytest.mark.parametrize("kind", MULTICAST_MUTATIONS)
def test_a_thousand_damaged_dumps_are_found(kind, tmp_path):
    text, ends = MFTS.read_text(), cables_of(TABLES)
    for seed in range(1000 // len(MULTICAST_MUTATIONS)):
        try:
            damaged = mutate_multicast(text, kind, random.Random(seed), ends)
            found = find_multicast_faults(dumped(damaged, tmp_path))
        except InputError:
            assert kind == "half a file"
        else:
            assert found.texts, seed
            assert (kind == "loop") <= bool(found.loops), seed


ONE_SIDED = "switch s0 sends MLID 0xc000 to port {}, but switch {} at the other end {}"


@pytest.mark.parametrize(
    ("entries", "sentence"),
    [
        (
            [(0, {1, 2, 4}), (1, {1, 2, 4})],
            "copies of MLID 0xc000 loop: s0:1 -> s1 - <core>:2 -> s0",
        ),
        ([(0, {4, 6})], "switch s0 sends MLID 0xc000 to port 6, which has no cable"),
        (
            [(0, {1, 4}), (1, {4})],
            ONE_SIDED.format(1, "s1 - <core>", "does not send it back to port 1"),
        ),
        ([(0, {3, 4})], ONE_SIDED.format(3, "s3", "has no entry for it")),
        (
            [(0, {4}), (1, {0, 4}), (3, {4})],
            "no cables of MLID 0xc000 connect host h0 and switch s1 - <core>",
        ),
    ],
)
def test_faults_are_named(entries, sentence):
    groups = groups_with([(s, 0xC000, port) for s, ports in entries for port in sorted(ports)])
    assert find_faults(TABLES, Service(), groups=groups).texts == (("multicast", sentence),)


@pytest.mark.parametrize("level", [0, 3])
def test_a_lane_without_credits_drops_copies(level):
    lanes = np.zeros((4, 7, 7, 16), dtype=np.int8)
    lanes[0, 4, 1, level] = 15
    groups = groups_with([(0, 0xC000, 1), (0, 0xC000, 4), (1, 0xC000, 1), (1, 0xC000, 4)])
    levels = np.ones((len(TABLES.ends),) * 2, dtype=np.int8)
    service = Service(levels, lanes, multicast_level=level)
    found = find_faults(TABLES, service, groups=groups)
    text = f"1 multicast entries drop copies: SL {level} leads to VL 15"
    assert found.texts == (("lane", text),)


def test_a_check_reports_groups(tmp_path):
    found = check_fabric(FABRIC, LFTS, multicast_file=MFTS, bound_seconds=5)
    assert list(found.facts) == [column.name for column in CHECK]
    names = ("verdict", "multicast", "multicast_groups", "faulty_groups")
    assert [found.facts[name] for name in names] == ["safe", "trees", 4, 0]
    assert "Multicast: the entries of all 4 groups form trees." in list(check_lines(found))

    (tmp_path / "mfts").write_text(MFTS.read_text().replace("0xC003 : 0x002", "0xC003 : 0x001"))
    found = check_fabric(FABRIC, LFTS, multicast_file=tmp_path / "mfts", bound_seconds=5)
    assert [found.facts[name] for name in names] == ["faulty", "faulty", 4, 1]
    lines = list(check_lines(found))
    assert "Multicast: the entries of 1 of 4 groups do not form a tree." in lines
    assert "Faults of multicast groups: 2" in lines


def test_tables_of_another_fabric_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"mfts: has a table of switch 0x0+77, which the fabric"):
        dumped(MFTS.read_text().replace("200003", "000077"), tmp_path)
