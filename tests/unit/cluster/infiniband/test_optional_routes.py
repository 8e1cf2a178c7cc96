"""Switches without hosts need no routes to each other: spines of a tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from routelab.cluster.infiniband.check import find_faults
from routelab.cluster.infiniband.inputs import FabricTables, Service, read_fabric_tables

PEERS = {1: ["H11:1", "S3:1", "S4:1"], 2: ["H12:1", "S3:2", "S4:2"]}
PEERS |= {3: ["S1:2", "S2:2"], 4: ["S1:3", "S2:3"]}
"""Other end of each port: leaves 1 and 2 with a host each, spines 3 and 4."""
PORTS = {
    1: {1: 0, 11: 1, 2: 2, 12: 2, 3: 2, 4: 3},
    2: {2: 0, 12: 1, 1: 2, 11: 2, 3: 2, 4: 3},
    3: {3: 0, 1: 1, 11: 1, 2: 2, 12: 2},
    4: {4: 0, 1: 1, 11: 1, 2: 2, 12: 2},
}
"""Port by switch and LID."""


def tree(folder: Path, ports: dict[int, dict[int, int]]) -> FabricTables:
    fabric, lfts = [], []
    for switch, peers in PEERS.items():
        fabric.append(f'Switch\t8 "S-{switch:x}"\t# "s{switch}" base port 0 lid {switch} lmc 0')
        for port, peer in enumerate(peers, 1):
            node, other = peer[1:].split(":")
            guid = f"({int(node) + 100:x})" if peer[0] == "H" else ""
            end = f'"{peer[0]}-{int(node):x}"[{other}]{guid}'
            fabric.append(f'[{port}]\t{end}\t# "x" lid {node} 4xSDR')
        fabric.append("")
        lfts.append(f"Unicast lids [0-12] of switch Lid {switch} guid 0x{switch:x} ('s'):")
        lfts += [f"0x{lid:04x} {port:03d}" for lid, port in ports[switch].items()]
        lfts.append(f"{len(ports[switch])} valid lids dumped")
    for host, leaf in ((11, 1), (12, 2)):
        fabric += [f'Ca\t1 "H-{host:x}"\t# "h{host}"']
        fabric += [
            f'[1]({host + 100:x})\t"S-{leaf:x}"[1]\t# lid {host} lmc 0 "s" lid {leaf} 4xSDR',
            "",
        ]
    (folder / "fabric").write_text("\n".join(fabric) + "\n")
    (folder / "lfts").write_text("\n".join(lfts) + "\n")
    return read_fabric_tables(folder / "fabric", folder / "lfts")


def test_spines_need_no_routes_to_each_other(tmp_path):
    faults = find_faults(tree(tmp_path, PORTS), Service())
    assert (faults.texts, faults.unreachable.any()) == ((), False)
    assert faults.unneeded.sum() == 2


@pytest.mark.parametrize(
    ("switch", "change", "sentence"),
    [
        (3, {4: 7}, "switch s3 sends LID 0x0004 (switch s4) to port 7, which has no cable"),
        (3, {12: None}, "LID 0x000c (host h12) has no entry at 1 switches: s3"),
        (1, {4: None}, "LID 0x0004 (switch s4) has no entry at 1 switches: s1"),
        (4, {4: None}, "switch s4 does not deliver LID 0x0004 (switch s4) to port 0: it has no"),
    ],
)
def test_other_missing_and_wrong_entries_are_faults(switch, change, sentence, tmp_path):
    changed = {lid: change.get(lid, port) for lid, port in (PORTS[switch] | change).items()}
    known = {lid: port for lid, port in changed.items() if port is not None}
    faults = find_faults(tree(tmp_path, PORTS | {switch: known}), Service())
    assert any(text.startswith(sentence) for _, text in faults.texts)
