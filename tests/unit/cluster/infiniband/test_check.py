"""Checks of forwarding tables: every fault is found, and what is found agrees with naive walks."""

from __future__ import annotations

import random
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from routelab.api import InputError
from routelab.api.errors import MissingInputError
from routelab.cluster.infiniband.check import check_fabric, find_faults
from routelab.cluster.infiniband.credit_loops import find_credit_loops
from routelab.cluster.infiniband.inputs import (
    FabricTables,
    Service,
    read_fabric_tables,
    read_levels,
    service_of,
)
from routelab.cluster.infiniband.interrupted_pairs import pairs_over_links
from routelab.cluster.infiniband.texts import check_lines
from routelab.cluster.infiniband.walk import fates_of, host_routes
from routelab.toolkit.infiniband import (
    TextFile,
    entries_of,
    parse_lane_tables,
    parse_service_levels,
)

sys.path.insert(0, str(Path(__file__).parent))

from fabric_twin import FabricTwin, groups_that_wait
from mutations import MUTATIONS, mutate

DATA = Path(__file__).parents[3] / "data" / "infiniband"
FABRIC, LFTS = DATA / "fabric.topo", DATA / "opensm-lfts.dump"
GOOD = read_fabric_tables(FABRIC, LFTS)
FATES = ("arrives", "lost", "loops")


def with_ports(ports: np.ndarray) -> FabricTables:
    """Return the fabric with other ports; int16, shape (S, T + S)."""
    table = np.full((len(ports), GOOD.addresses.lids.max() + 1), -1, dtype=np.int16)
    table[:, GOOD.addresses.lids] = ports
    return replace(GOOD, entries=entries_of(GOOD.topology, GOOD.addresses, table))


def twin_of(tables: FabricTables) -> FabricTwin:
    node = {f"0x{tables.fabric.nodes[i].guid:016x}": i for i in tables.fabric.switches}
    ports = {
        (node[guid], int(lid)): int(tables.entries.ports[switch, column])
        for switch, guid in enumerate(tables.addresses.switch_guids)
        for column, lid in enumerate(tables.addresses.lids)
    }
    return FabricTwin(tables.fabric, ports)


def nodes_of(tables: FabricTables) -> list[int]:
    """Return the node of each switch."""
    node = {f"0x{tables.fabric.nodes[i].guid:016x}": i for i in tables.fabric.switches}
    return [node[guid] for guid in tables.addresses.switch_guids]


def local_lids(tables: FabricTables) -> dict[str, list[int]]:
    """Return the LIDs that each switch delivers, by its GUID."""
    return {
        guid: tables.addresses.lids[tables.ends == switch].tolist()
        for switch, guid in enumerate(tables.addresses.switch_guids)
    }


@st.composite
def changed_tables(draw) -> FabricTables:
    """Tables of the fabric with some random entries."""
    ports = GOOD.entries.ports.copy()
    switches, columns = ports.shape
    place = st.tuples(st.integers(0, switches - 1), st.integers(0, columns - 1))
    for where in draw(st.lists(place, max_size=25)):
        ports[where] = draw(st.integers(-1, 6))
    return with_ports(ports)


@settings(max_examples=40, deadline=None)
@given(changed_tables())
def test_fates_losses_and_loads_are_those_of_single_packets(tables):
    fates, loops = fates_of(tables)
    twin, nodes = twin_of(tables), nodes_of(tables)
    lids = tables.addresses.lids.tolist()
    looping = set()
    for source in (lid for lid in lids if twin.is_switch(twin.owner[lid][0])):
        switch = nodes.index(twin.owner[source][0])
        for column, lid in enumerate(lids):
            end, _ = twin.walk(source, lid)
            assert FATES[fates[switch, column]] == end
            looping |= {column} if end == "loops" else set()
    assert {destination for loop in loops for destination in loop.destinations} == looping
    for loop in loops:
        targets = tables.topology.channel_target[list(loop.channels)].tolist()
        sources = tables.topology.channel_source[list(loop.channels)].tolist()
        assert targets == [*sources[1:], sources[0]]
        assert len(set(sources)) == len(sources)

    table, topology = host_routes(tables), tables.topology
    loads = twin.loads()
    ends = zip(topology.channel_source.tolist(), topology.source_port.tolist(), strict=True)
    places = [(nodes[switch], port) for switch, port in ends]
    expected = [sum(loads[places[channel]] for channel in link) for link in topology.links.tolist()]
    assert pairs_over_links(table).tolist() == expected


# two switches do not deliver packets to hosts of their own, and one of them sends them on
ASTRAY = with_ports(
    np.array(
        [
            [0, 5, 1, 2, 3, 0, 1, 1, 3],
            [1, 2, 4, 3, 1, 2, 0, 3, 2],
            [1, 2, 1, 4, 0, 1, 1, 0, 2],
            [2, 2, 1, 1, 1, 2, 1, 1, 0],
        ],
        dtype=np.int16,
    )
)


@settings(max_examples=40, deadline=None)
@given(changed_tables(), st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
@example(ASTRAY, 0, False, False)
def test_credit_loops_are_the_cycles_of_single_packets(tables, seed, has_lanes, same):
    numbers = np.random.default_rng(seed)
    count = len(tables.addresses.lids)
    levels = numbers.integers(0, 3, (count, count)).astype(np.int8)
    lanes = numbers.choice([0, 0, 1, 15], (4, 7, 7, 16), p=[0.4, 0.2, 0.35, 0.05]).astype(np.int8)
    service = Service(levels, lanes if has_lanes else None)
    faults = find_faults(tables, service)
    twin, nodes = twin_of(tables), nodes_of(tables)
    column = {int(lid): place for place, lid in enumerate(tables.addresses.lids)}

    def level(source: int, target: int) -> int:
        return int(levels[column[source], column[target]])

    def lane(node: int, came: int, port: int, sl: int) -> int:
        return int(lanes[nodes.index(node), came, port, sl]) if has_lanes else sl

    edges = twin.dependencies(level, lane, same)
    verdict = faults.same_level_loops if same else faults.own_level_loops
    assert verdict is not None
    assert verdict.count == groups_that_wait(edges)
    among_hosts = find_credit_loops(
        tables, service, fates_of(tables)[0], same_level_replies=same, hosts_only=True
    )
    edges_of_hosts = twin.dependencies(level, lane, same, hosts_only=True)
    assert among_hosts.count == groups_that_wait(edges_of_hosts)
    if verdict.count:
        topology = tables.topology
        cycle = [
            (
                nodes[topology.channel_source[channel]],
                int(topology.source_port[channel]),
                lane_number,
            )
            for channel, lane_number in verdict.example
        ]
        assert set(zip(cycle, [*cycle[1:], cycle[0]], strict=True)) <= edges


@pytest.mark.parametrize("kind", MUTATIONS)
def test_a_thousand_damaged_dumps_are_found(kind, tmp_path):
    text, local, file = LFTS.read_text(), local_lids(GOOD), tmp_path / "lfts"
    for seed in range(1000 // len(MUTATIONS)):
        file.write_text(mutate(text, kind, random.Random(seed), local))
        if kind == "half a file":
            with pytest.raises(InputError, match=r"lfts:"):
                read_fabric_tables(FABRIC, file)
        else:
            assert find_faults(read_fabric_tables(FABRIC, file), Service()).texts, seed


def loop_entry(text: str, switch: int, lid: int, port: int) -> str:
    """Change the port of a LID in the table of a switch, by the switch's LID."""
    head, mark, rest = text.partition(f"of switch Lid {switch} ")
    return head + mark + re.sub(rf"(?m)^0x{lid:04x} \d+", f"0x{lid:04x} {port:03d}", rest, count=1)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            lambda text: loop_entry(text, 3, 0x84, 1),
            "packets for LID 0x0084 (host h3/1) loop: s0:2 -> s1 - <core>:1 -> s0",
        ),
        (
            lambda text: loop_entry(text, 2, 0x81, 5),
            "switch s0 does not deliver LID 0x0081 (host h0) to port 4: it sends it to port 5",
        ),
        (
            lambda text: loop_entry(text, 7, 0x82, 77),
            "switch s2 sends LID 0x0082 (host h1 mlx5_0) to port 77, which has no cable",
        ),
        (
            lambda text: re.sub(r"(?m)^0x0083 .*\n", "", text),
            "switch s1 - <core> does not deliver LID 0x0083 (host h2' - 'x) to port 4: it has no",
        ),
        (
            lambda text: re.sub(r"(?m)^0x0083 .*\n", "", text),
            "LID 0x0083 (host h2' - 'x) has no entry at 3 switches: s0, s2, s3",
        ),
    ],
)
def test_faults_are_named(change, sentence, tmp_path):
    (tmp_path / "lfts").write_text(change(LFTS.read_text()))
    faults = find_faults(read_fabric_tables(FABRIC, tmp_path / "lfts"), Service())
    assert any(text.startswith(sentence) for _, text in faults.texts)


CLOCKWISE = {"s0": 1, "s1 - <core>": 3, "s2": 2, "s3": 2}
"""Ports to the next switch in the ring."""


def clockwise() -> FabricTables:
    """Tables that send everything round the ring in one direction."""
    ports = GOOD.entries.ports.copy()
    for switch, name in enumerate(GOOD.topology.switch_names):
        ports[switch, GOOD.ends != switch] = CLOCKWISE[name]
    return with_ports(ports)


def lane_lines(tables: FabricTables, lanes: str = "0x01 0x23 0x45 0x67 0x89 0xab 0xcd 0xe7"):
    """Return lines of SL2VL tables that are the same everywhere; VL = SL without `lanes`."""
    return [
        f"{guid} {came} {port} {lanes}"
        for guid in tables.addresses.switch_guids
        for came in range(6)
        for port in range(1, 6)
    ]


def lanes_of(lines: list[str]):
    return parse_lane_tables(TextFile.of("sl2vl", "\n".join(lines)))


def level_lines(tables: FabricTables) -> list[str]:
    """Return levels with which clockwise routes have no credit loop: hosts first, then switches.

    Neither the routes of the first two switches (SL 0) nor those of the others close the ring.
    """
    order = list(CLOCKWISE)
    rank = np.array([order.index(name) for name in tables.topology.switch_names])[tables.ends]
    return [
        f"{guid} {lid} {int(rank[source] >= 2)}"
        for source, guid in enumerate(tables.addresses.guids)
        for lid in tables.addresses.lids.tolist()
    ]


def levels_of(lines: list[str]):
    return parse_service_levels(TextFile.of("sls", "\n".join(lines)))


def assumptions(faults) -> list[str]:
    return [gap.assumption for gap in faults.gaps]


def test_service_levels_decide_whether_a_ring_has_a_credit_loop():
    tables = clockwise()
    one_lane = find_faults(tables, Service())
    assert (one_lane.texts, assumptions(one_lane)) == ((), ["all unicast traffic is on SL 0"])
    assert (one_lane.verdict, one_lane.assumed_verdict) == ("not enough input", "cycle")
    names = ["s0:1", "s1 - <core>:3", "s2:2", "s3:2"]
    words = [f"{name} on VL 0" for name in names]
    assert sorted(one_lane.possible_loop.split(" waits for ")[:-1]) == sorted(words)

    same_level = find_faults(tables, service_of(tables, 5, None))
    assert (same_level.possible_loop, same_level.verdict) == ("", "cycle")
    assert same_level.texts[0][1].count(" on VL 5") == 5

    levels, identity = levels_of(level_lines(tables)), lanes_of(lane_lines(tables))
    own = find_faults(tables, service_of(tables, levels, identity))
    assert (own.texts, own.possible, own.verdict) == ((), (), "proven")
    assert own.same_level_loops is not None
    assert own.same_level_loops.count > 0
    same = find_faults(tables, service_of(tables, levels, identity), "same")
    assert (same.verdict, [kind for kind, _ in same.texts]) == ("cycle", ["credit loop"])

    # a switch that maps both levels to VL 0 brings the credit loop back
    merged = lanes_of(lane_lines(tables, " ".join(["0x00"] * 8)))
    faults = find_faults(tables, service_of(tables, levels, merged))
    assert [kind for kind, _ in faults.texts] == ["credit loop"]
    dropped = lanes_of(lane_lines(tables, " ".join(["0xff"] * 8)))
    faults = find_faults(tables, service_of(tables, levels, dropped))
    assert [kind for kind, _ in faults.texts] == ["lane"]


@pytest.mark.parametrize(
    ("first", "dropped"),
    [
        # s3 to its host h3/2 (LID 0x0085), from any port; then only from the host h0 of s0 to h1
        ("0x0000000000200003 . 4 ", 8),
        ("0x0000000000200000 4 5 ", 1),
        # adapter of h0: to 4 hosts and 4 switches
        ("0x0000000000100001 0 0 ", 8),
    ],
)
def test_packets_may_be_dropped_on_the_first_and_the_last_hop(first, dropped):
    lines = [*lane_lines(GOOD, "0x00 " * 8), "0x0000000000100001 0 0 " + "0x00 " * 8]
    assert find_faults(GOOD, service_of(GOOD, None, lanes_of(lines))).own_level_loops.dropped == 0
    changed = [
        line.replace(" 0x00", " 0xf0", 1) if re.match(first, line) else line for line in lines
    ]
    assert changed != lines
    faults = find_faults(GOOD, service_of(GOOD, 0, lanes_of(changed)))
    assert (faults.own_level_loops.dropped, faults.verdict) == (dropped, "broken")
    assert [kind for kind, _ in faults.texts] == ["lane"]
    # other levels are delivered
    assert find_faults(GOOD, service_of(GOOD, 1, lanes_of(changed))).verdict == "proven"


def test_without_lanes_the_verdict_of_several_levels_is_an_assumption():
    tables = clockwise()
    levels = levels_of(level_lines(tables))
    for replies, assumed in (("own", "proven"), ("same", "cycle")):
        faults = find_faults(tables, service_of(tables, levels, None), replies)
        assert assumptions(faults) == ["VL = SL"]
        assert (faults.verdict, faults.assumed_verdict) == ("not enough input", assumed)
    # OpenSM's default maps SL 15 to VL 7
    faults = find_faults(tables, service_of(tables, 15, None))
    assert (faults.verdict, faults.assumed_verdict) == ("not enough input", "broken")
    # tables that are safe on one lane are safe on all
    faults = find_faults(GOOD, service_of(GOOD, levels, None))
    assert (faults.verdict, faults.gaps) == ("proven", ())


def test_lanes_without_levels_prove_nothing_about_other_levels():
    """SL 0 leaves VL 0 after the first hop, SL 1 does not."""
    ring = list(CLOCKWISE)
    names = GOOD.topology.switch_names
    ports = GOOD.entries.ports.copy()
    for switch, name in enumerate(names):
        across = names.index(ring[(ring.index(name) + 2) % 4])
        ports[switch, GOOD.ends == across] = CLOCKWISE[name]
    tables = with_ports(ports)
    lanes = lanes_of(
        [
            line.replace(" 0x00", " 0x10", 1) if line.split()[1] in "123" else line
            for line in lane_lines(tables, " ".join(["0x00"] * 8))
        ]
    )
    verdicts = [find_faults(tables, service_of(tables, level, lanes)) for level in (0, 1, None)]
    assert [faults.verdict for faults in verdicts] == ["proven", "cycle", "not enough input"]
    assert verdicts[2].assumed_verdict == "proven"


def test_missing_levels_of_hosts_leave_the_verdict_open():
    tables = clockwise()
    lines, identity = level_lines(tables), lanes_of(lane_lines(tables))
    count, hosts = len(tables.ends), tables.topology.num_terminals
    at, lids = tables.topology.terminal_switch, tables.addresses.lids.tolist()
    source, target = 0, int(np.flatnonzero(at != at[0])[0])
    gone = [line for at, line in enumerate(lines) if at != source * count + target]
    faults = find_faults(tables, service_of(tables, levels_of(gone), identity))
    assert (faults.unlisted, assumptions(faults)) == ((1, 0), ["these pairs use SL 0"])
    assert (faults.verdict, faults.assumed_verdict) == ("not enough input", "proven")
    # what the file has is a fault anyhow
    merged = lanes_of(lane_lines(tables, " ".join(["0x00"] * 8)))
    faults = find_faults(tables, service_of(tables, levels_of(gone), merged))
    assert (faults.unlisted, faults.verdict) == ((1, 0), "cycle")
    # with more missing pairs, SL 0 closes the ring
    gone = [line for line in lines if line.endswith(" 0")]
    faults = find_faults(tables, service_of(tables, levels_of(gone), identity))
    assert (faults.verdict, faults.assumed_verdict) == ("not enough input", "cycle")
    # no level of these tables closes a credit loop
    faults = find_faults(GOOD, service_of(GOOD, levels_of(gone), identity))
    assert faults.verdict == "proven"

    # OpenSM's engines choose levels of hosts only
    among_hosts = [
        line
        for at, line in enumerate(lines)
        if at // count < hosts and int(line.split()[1]) in lids[:hosts]
    ]
    faults = find_faults(tables, service_of(tables, levels_of(among_hosts), identity))
    assert faults.unlisted[0] == 0 < faults.unlisted[1]
    assert (faults.verdict, faults.gaps, faults.texts) == ("proven", (), ())
    assert "would close a credit loop" in faults.remarks[0]


def test_levels_name_nodes_or_ports():
    by_port = "\n".join(f"{guid} 3 1" for guid in GOOD.addresses.guids)
    by_node = "\n".join(f"0x{node.guid:016x} 3 1" for node in GOOD.fabric.nodes if node.guid)
    for content in (by_port, by_node):
        service = service_of(GOOD, parse_service_levels(TextFile.of("sls", content)), None)
        column = GOOD.addresses.lids.tolist().index(3)
        assert service.levels is not None
        assert (service.levels[:, column] == 1).all()
        assert (np.delete(service.levels, column, axis=1) == -1).all()
    levels = parse_service_levels(TextFile.of("sls", "0x9 3 1"))
    with pytest.raises(InputError, match=r"sls: the fabric has no port or node with GUID 0x0+9$"):
        service_of(GOOD, levels, None, "sls")


def test_a_policy_of_opensm_has_service_levels_too(tmp_path):
    policy = """\
port-groups
    port-group
        name: some
        port-guid: 0x100021
    end-port-group
end-port-groups
qos-levels
    qos-level
        name: DEFAULT
        sl: 2
    end-qos-level
    qos-level
        name: other
        sl: 5
    end-qos-level
end-qos-levels
qos-match-rules
    qos-match-rule
        source: some
        qos-level-name: other
    end-qos-match-rule
end-qos-match-rules
"""
    (tmp_path / "policy").write_text(policy)
    service = service_of(GOOD, read_levels(tmp_path / "policy"), None)
    assert service.levels is not None
    source = GOOD.addresses.terminal_guids.index("0x0000000000100021")
    expected = np.full_like(service.levels, 2)
    expected[source] = 5
    np.testing.assert_array_equal(service.levels, expected)


def test_incomplete_lane_tables_are_refused():
    def lanes(content: str):
        return service_of(GOOD, None, parse_lane_tables(TextFile.of("sl2vl", content)))

    some = " ".join(["0x00"] * 8)
    with pytest.raises(InputError, match="no SL2VL table of switch 0x0000000000200001"):
        lanes(f"{GOOD.addresses.switch_guids[0]} 1 2 {some}")
    content = "\n".join(f"{guid} 9 9 {some}" for guid in GOOD.addresses.switch_guids)
    with pytest.raises(InputError, match=r"none for input port \d and output port \d of switch s"):
        find_faults(GOOD, lanes(content))


def test_files_of_different_times_are_refused(tmp_path):
    text = LFTS.read_text().replace("portguid 0x0000000000100021", "portguid 0x0000000000100011")
    (tmp_path / "lfts").write_text(text)
    with pytest.raises(InputError, match="write both files at the same time"):
        read_fabric_tables(FABRIC, tmp_path / "lfts")


def test_lids_come_from_the_tables_where_the_fabric_has_none():
    tables = read_fabric_tables(DATA / "small.net", LFTS)
    np.testing.assert_array_equal(tables.entries.ports, GOOD.entries.ports)
    with pytest.raises(InputError, match="the LID of 's0' is unknown"):
        read_fabric_tables(DATA / "small.net", DATA / "opensm.fdbs")


def apart(folder: Path, *, entries: int) -> FabricTables:
    """Return two switches without a cable between them, two hosts each, as two planes have them.

    Parameters
    ----------
    entries : int
        Port for the LIDs of the other switch; −1 for no entry.
    """
    fabric, lfts = [], []
    for switch in (1, 2):
        fabric.append(f'Switch\t4 "S-{switch:016x}"\t# "s{switch}" base port 0 lid {switch} lmc 0')
        hosts = {port: 2 * switch + port for port in (1, 2)}
        fabric += [
            f'[{port}]\t"H-{lid + 16:016x}"[1]({lid + 32:x})\t# "h{lid}" lid {lid} 4xSDR'
            for port, lid in hosts.items()
        ]
        for port, lid in hosts.items():
            fabric += ["", f'Ca\t1 "H-{lid + 16:016x}"\t# "h{lid}"']
            fabric.append(
                f'[1]({lid + 32:x})\t"S-{switch:016x}"[{port}]\t# lid {lid} lmc 0 "s" lid {switch} '
                "4xSDR"
            )
        fabric.append("")
        own = {switch: 0, **{lid: port for port, lid in hosts.items()}}
        lfts.append(f"Unicast lids [0-6] of switch Lid {switch} guid 0x{switch:016x} ('s'):")
        ports = {lid: own.get(lid, entries) for lid in range(1, 7)}
        lfts += [f"0x{lid:04x} {port:03d}" for lid, port in ports.items() if port >= 0]
        lfts.append("6 lids dumped")
    (folder / "fabric.topo").write_text("\n".join(fabric) + "\n")
    (folder / "lfts").write_text("\n".join(lfts) + "\n")
    return read_fabric_tables(folder / "fabric.topo", folder / "lfts")


@pytest.mark.parametrize("entries", [-1, 3])
def test_separate_planes_need_no_routes_to_each_other(entries, tmp_path):
    tables = apart(tmp_path, entries=entries)
    assert find_faults(tables, Service()).texts == ()
    check = check_fabric(tmp_path / "fabric.topo", tmp_path / "lfts", bound_seconds=5)
    assert (check.verdict, check.facts["lost_pairs"], check.facts["cables"]) == ("proven", 0, 0)
    assert check.facts["max_load"] == check.facts["load_bound"] == 0
    assert (check.facts["worst_cable"], check.busiest) == ("", ())
    assert any("Busiest cable" in line for line in check_lines(check)) is False


def test_lids_that_the_fabric_lacks_leave_the_verdict_open(tmp_path):
    """A LID behind that of a host is a second one of LMC 1, or of a port that is gone."""
    content = re.sub(r"(?m)^0x0085 (\d+) .*", r"\g<0>\n0x0086 \1", LFTS.read_text())
    (tmp_path / "lfts").write_text(content.replace("133 lids dumped", "134 lids dumped"))
    tables = read_fabric_tables(FABRIC, tmp_path / "lfts")
    faults = find_faults(tables, Service())
    assert (faults.texts, faults.verdict, faults.assumed_verdict) == (
        (),
        "not enough input",
        "proven",
    )
    assert "(0x0086)" in faults.gaps[0].missing
    named = re.sub(r"(?m)^0x0085 (\d+) (.*)", r"\g<0>\n0x0086 \1 \2", LFTS.read_text())
    (tmp_path / "lfts").write_text(named.replace("133 lids", "134 lids"))
    with pytest.raises(MissingInputError, match="port 0x0000000000100032 has several LIDs"):
        read_fabric_tables(FABRIC, tmp_path / "lfts")
    several = FABRIC.read_text().replace("lid 133 lmc 0", "lid 133 lmc 1")
    (tmp_path / "fabric").write_text(several)
    with pytest.raises(MissingInputError, match="LMC 1"):
        read_fabric_tables(tmp_path / "fabric", LFTS)


def with_router(text: str, guid: str) -> str:
    """Return a fabric in which the channel adapter with this GUID is a router."""
    text = text.replace(f"H-{guid}", f"R-{guid}")
    text = re.sub(rf'(?m)^Ca(\t\d+ "R-{guid}")', r"Rt\1", text)
    return re.sub(rf"(?m)^caguid=0x0*{guid.lstrip('0')}\b", f"rtguid=0x{guid}", text)


def test_routers_are_no_hosts_unless_they_are_asked_for(tmp_path):
    file = tmp_path / "fabric.topo"
    file.write_text(with_router(FABRIC.read_text(), "0000000000100000"))
    without = check_fabric(file, LFTS, bound_seconds=5)
    whole = check_fabric(file, LFTS, routers=True, bound_seconds=5)
    hosts = check_fabric(FABRIC, LFTS, bound_seconds=5)
    names = ("hosts", "left_out", "routers", "worst_cable_pairs", "max_load_pairs")
    assert [whole.facts[name] for name in names] == [hosts.facts[name] for name in names]
    assert [without.facts[name] for name in names[:3]] == [4, 1, 1]
    assert without.facts["verdict"] == whole.facts["verdict"] == "proven"
    assert "End ports of routers: 1;" in "".join(check_lines(without))
    assert "routers" not in "".join(check_lines(whole))


def test_sentences_about_pairs_have_pairs_where_cables_differ_in_speed(tmp_path):
    """A ring of four with a cable of a fiftieth of the others' speed."""
    fabric, tables = [], []
    for s in range(4):
        after, before, lid = (s + 1) % 4, (s - 1) % 4, s + 11
        speeds = ["1xSDR" if switch == 0 else "4xEDR" for switch in (s, before)]
        fabric += [
            f'Switch\t4 "S-{s + 16:016x}"\t# "s{s}" base port 0 lid {s + 1} lmc 0',
            f'[1]\t"S-{after + 16:016x}"[2]\t# "s" lid {after + 1} {speeds[0]}',
            f'[2]\t"S-{before + 16:016x}"[1]\t# "s" lid {before + 1} {speeds[1]}',
            f'[3]\t"H-{s + 256:016x}"[1]({s + 512:x})\t# "h{s}" lid {lid} 4xEDR',
            "",
            f'Ca\t1 "H-{s + 256:016x}"\t# "h{s}"',
            f'[1]({s + 512:x})\t"S-{s + 16:016x}"[3]\t# lid {lid} lmc 0 "s" lid {s + 1} 4xEDR',
            "",
        ]
        # up to the greater number, down to the smaller: the cable from s3 to s0 is not used
        ports = {t: 1 if t > s else 2 for t in range(4) if t != s}
        tables += [
            f"Unicast lids [0-14] of switch Lid {s + 1} guid 0x{s + 16:016x} ('s{s}'):",
            *(f"0x{t + 1:04x} {ports.get(t, 0):03d}" for t in range(4)),
            *(f"0x{t + 11:04x} {ports.get(t, 3):03d}" for t in range(4)),
            "8 lids dumped",
        ]
    (tmp_path / "fabric.topo").write_text("\n".join(fabric) + "\n")
    (tmp_path / "lfts").write_text("\n".join(tables) + "\n")
    check = check_fabric(tmp_path / "fabric.topo", tmp_path / "lfts", bound_seconds=5)
    assert (check.facts["max_load"], check.facts["max_load_pairs"]) == (150, 3)
    assert [(cable.load, cable.pairs) for cable in check.busiest] == [
        *((150, 3), (150, 3)),
        *((4, 4), (4, 4), (3, 3), (3, 3), (0, 0), (0, 0)),
    ]
    pairs = [
        float(number)
        for line in check_lines(check)
        for number in re.findall(r"([\d.]+) pairs of hosts", line)
    ]
    assert pairs == [3, *(cable.pairs for cable in check.busiest), 8]
