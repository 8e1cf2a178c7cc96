"""Exported tables in a simulated fabric: OpenSM loads them, the SA answers with their levels."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from service_level_lines import service_level_lines

from routelab.cluster.infiniband.inputs import read_fabric_tables, read_levels, service_of
from routelab.registry.instances import load
from routelab.routing.export import export_routes, table_of
from routelab.toolkit.infiniband import (
    ServiceLevels,
    TextFile,
    addresses_of,
    parse_fabric,
    parse_forwarding_tables,
    read_forwarding_tables,
    topology_of,
)
from routelab_plugins.export.opensm.reader import tables_of_files

ROOT = Path(__file__).parents[2]
SMALL = ROOT / "tests" / "data" / "infiniband" / "small.net"
MESH = ROOT / "config" / "networks" / "m8x8f6s1.net"


def written(network: str, routing: str, folder: Path, export: str = "opensm"):
    """Export routes into a folder; return the tables that its files hold."""
    texts = export_routes(export, [network, routing])
    folder.mkdir()
    for name, text in texts.items():
        (folder / name).write_text(text)
    topology = table_of([network, routing]).topology
    return tables_of_files(topology, addresses_of(topology), texts)


def loaded(simulate, folder: Path):
    """Return a fabric with the files of a folder, as its README says."""
    fabric = simulate(folder / "fabric.net")
    shutil.copy(folder / "guid2lid", fabric.folder / "cache" / "guid2lid")
    files = {"-U": "routelab.lft", "-Y": "qos-policy.conf"}
    named = [text for flag, name in files.items() for text in (flag, str(folder / name))]
    options = (folder / "opensm.conf").read_text()
    fabric.manage("-R", "file,no_fallback", "-Q", *named, options=options)
    return fabric


def sample_pairs(topology, lanes) -> list[tuple[int, int]]:
    """Return some pairs of terminals at different switches, with each level among them."""
    at = topology.terminal_switch
    sample = []
    for level in np.unique(lanes).tolist():
        terminals = lanes[at, : topology.num_terminals]
        pairs = np.argwhere((terminals == level) & (at[:, np.newaxis] != at))
        sample += pairs[:: max(1, len(pairs) // 4)].tolist()
    return [(source, target) for source, target in sample]


def answered_level(fabric, source: int, target: int) -> int:
    """Return the service level that the SA answers for a pair of LIDs."""
    answer = fabric.ask("saquery", "-p", "--src-to-dst", f"{source}:{target}")
    level = re.search(r"\bsl\.+0x([0-9a-fA-F]+)", answer)
    assert level is not None, answer
    return int(level[1], 16)


CASES = {
    "ring": (f"infiniband~file={SMALL}", "dfsssp", "opensm~vls=2,replies=own"),
    "mesh": (f"infiniband~file={MESH}", "dfsssp~routes=terminals", "opensm"),
    # trees that were grown inside words, one for each level
    "twisted": ("torus~dims=4x4x8,twist=XZ4+YZ4", "ib-balanced~vls=2", "opensm~vls=2,replies=own"),
    "tree": ("fat-tree~k=4,levels=3", "d-mod-k", "opensm~vls=1"),
}


@pytest.mark.parametrize("case", CASES)
def test_opensm_loads_every_entry_and_the_sa_answers_with_every_level(case, simulate, tmp_path):
    network, routing, export = CASES[case]
    tables = written(network, routing, tmp_path / "files", export)
    fabric = loaded(simulate, tmp_path / "files")
    assert "ERR" not in (fabric.folder / "log").read_text()
    topology, addresses = tables.topology, addresses_of(tables.topology)

    expected = read_forwarding_tables(tmp_path / "files" / "routelab.lft")
    dumped = read_forwarding_tables(fabric.folder / "opensm-lfts.dump")
    order = addresses.switch_guids
    np.testing.assert_array_equal(dumped.of_switches(order), expected.of_switches(order))
    # the switches themselves have the entries, too
    lid = int(addresses.switch_lids[0])
    answer = parse_forwarding_tables(TextFile.of("ibroute", fabric.ask("ibroute", str(lid))))
    np.testing.assert_array_equal(
        answer.ports[0], expected.of_switches(order)[0, : answer.ports.shape[1]]
    )

    for source, target in sample_pairs(topology, tables.lanes):
        level = answered_level(fabric, addresses.terminal_lids[source], addresses.lids[target])
        assert level == tables.lanes[topology.terminal_switch[source], target]
        if "replies=own" not in export:
            back = answered_level(fabric, addresses.lids[target], addresses.terminal_lids[source])
            assert back == level

    # ibdmchk proves all paths, with those levels, free of credit loops
    adapters = [f"0x{int(guid, 16) - 1:016x}" for guid in addresses.terminal_guids]
    levels = np.full((topology.num_terminals + topology.num_switches, addresses.lids.max() + 1), -1)
    lanes = np.concatenate((tables.lanes[topology.terminal_switch], tables.lanes))
    levels[:, addresses.lids] = lanes
    sources = (*adapters, *addresses.switch_guids)
    lines = service_level_lines(ServiceLevels(sources, levels.astype(np.int8)))
    (fabric.folder / "levels").write_text("".join(f"{line}\n" for line in lines))
    output = fabric.check_with_ibdmchk("-a", "-c", str(fabric.folder / "levels"))
    paths = topology.num_terminals + topology.num_switches
    assert f"Scanned:{paths * (paths - 1)} paths" in output
    assert "no credit loops found" in output, output[-2000:]


POLICY = """\
port-groups
    port-group
        name: Some Ports
        {}
    end-port-group
end-port-groups
qos-match-rules
    qos-match-rule
        source: someports
        use: levels come below, and names have no case # and no blanks
        qos-level-name: one
    end-qos-match-rule
    qos-match-rule
        destination: "someports"
        qos-level-name: two
    end-qos-match-rule
end-qos-match-rules
qos-levels
    qos-level
        name: default
        sl: 0
    end-qos-level
    qos-level
        name: ONE
        sl: 1
        rate-limit: 5
    end-qos-level
    qos-level
        name: two
        sl: 0x2
    end-qos-level
end-qos-levels
"""


@pytest.mark.parametrize(
    "members",
    [
        'port-name: "h1 mlx5_0/P1", s2/p3',
        "node-type: switch",
        "port-guid: 0x100021-0x100032, 2097152",
    ],
)
def test_policies_agree_with_the_answers_of_the_sa(members, simulate, tmp_path):
    (tmp_path / "policy").write_text(POLICY.format(members))
    fabric = simulate(SMALL)
    fabric.manage("-R", "minhop,no_fallback", "-Q", "-Y", str(tmp_path / "policy"))
    tables = read_fabric_tables(SMALL, fabric.folder / "opensm-lfts.dump")
    levels = service_of(tables, read_levels(tmp_path / "policy"), None).levels
    assert set(np.unique(levels)) == {0, 1, 2}
    lids = tables.addresses.lids.tolist()
    for source, target in np.argwhere(~np.eye(len(lids), dtype=np.bool_))[::2].tolist():
        assert answered_level(fabric, lids[source], lids[target]) == levels[source, target]


def test_ibdmchk_finds_credit_loops_without_the_levels(simulate, tmp_path):
    written(*CASES["mesh"][:2], tmp_path / "files")
    fabric = loaded(simulate, tmp_path / "files")
    assert "credit loops in routing" in fabric.check_with_ibdmchk()


@pytest.mark.parametrize("form", [(), ("-p",)])
def test_a_live_fabric_is_read_as_its_network_file(form, simulate):
    fabric = simulate(MESH)
    fabric.manage("-o")
    text = fabric.ask("ibnetdiscover", *form, host=0)
    live = topology_of(parse_fabric(TextFile.of("fabric.topo", text)))
    file = load("topology", f"infiniband~file={MESH}").build()
    for name in ("channel_source", "source_port", "terminal_switch", "terminal_port"):
        np.testing.assert_array_equal(getattr(live, name), getattr(file, name))
    assert live.terminal_guids == file.terminal_guids
    assert sorted(live.attributes["lids"].values()) == list(range(1, 129))
