"""Networks for Slurm: trees of switches and blocks, in both forms."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from routelab.api import UnsupportedError
from routelab.stages.export import export_routes

DATA = Path(__file__).parents[3] / "data" / "infiniband"


def files_of(network: str, routing: str, export: str = "slurm-topology"):
    return export_routes(export, [network, routing]).files


def tree_of(conf: str) -> dict[str, list[str]]:
    """Return the members of each switch of a topology.conf."""
    found = {}
    for line in conf.splitlines():
        name, members = line.removeprefix("SwitchName=").split(" ")
        found[name] = members.partition("=")[2].split(",")
    return found


def test_a_fat_tree_has_leaves_pods_and_one_root():
    files = files_of("fat-tree~k=4,levels=3", "d-mod-k")
    tree = tree_of(files["topology.conf"])
    leaves = [name for name, members in tree.items() if members[0].startswith("t")]
    roots = set(tree) - {child for members in tree.values() for child in members}
    (root,) = roots
    pods = tree[root]
    # a 4-ary 3-tree: 4 pods of 4 leaves with 4 nodes each
    assert [len(tree[pod]) for pod in pods] == [4] * 4
    assert sorted(leaf for pod in pods for leaf in tree[pod]) == sorted(leaves)
    nodes = [node for leaf in leaves for node in tree[leaf]]
    assert sorted(nodes) == sorted(f"t{number}" for number in range(64))
    (network,) = yaml.safe_load(files["topology.yaml"])
    assert network["cluster_default"] is True
    assert {
        switch["switch"]: (switch.get("nodes") or switch["children"]).split(",")
        for switch in network["tree"]["switches"]
    } == tree


def test_blocks_are_the_switches_with_nodes():
    files = files_of("hamming~dims=2x2,terminals=3", "dfsssp", "slurm-topology~plugin=block")
    assert files["topology.conf"].splitlines() == [
        "BlockName=0.0 Nodes=t0,t1,t2",
        "BlockName=0.1 Nodes=t3,t4,t5",
        "BlockName=1.0 Nodes=t6,t7,t8",
        "BlockName=1.1 Nodes=t9,t10,t11",
        "BlockSizes=3",
    ]
    (network,) = yaml.safe_load(files["topology.yaml"])
    assert network["block"]["block_sizes"] == [3]
    assert network["block"]["blocks"][1] == {"block": "0.1", "nodes": "t3,t4,t5"}


def test_names_that_slurm_cannot_read_are_refused_and_adapters_are_left_out(tmp_path):
    with pytest.raises(UnsupportedError, match=r"no node name \"h2'\""):
        files_of(f"infiniband~file={DATA / 'fabric.topo'}", "dfsssp")
    plain = (DATA / "fabric.topo").read_text().replace("h2' - 'x", "h2 HCA-1")
    (tmp_path / "fabric.topo").write_text(plain)
    tree = tree_of(
        files_of(f"infiniband~file={tmp_path / 'fabric.topo'}", "dfsssp")["topology.conf"]
    )
    # h3 has two ports at two switches, and is one node; switches without a node are left out
    assert tree == {
        "s0": ["h0", "h1"],
        "s1_-_core": ["h2"],
        "s2": ["h3"],
        "level1_0": ["s0", "s1_-_core", "s2"],
    }
