"""slurm-topology: the network as Slurm's scheduler sees it, as a tree or as blocks.

Formats: manual pages topology.conf(5) and topology.yaml(5) of Slurm,
https://slurm.schedmd.com/topology.conf.html and https://slurm.schedmd.com/topology.yaml.html.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from routelab.api import (
    Capabilities,
    ExportPlugin,
    MachineSpeeds,
    Parameters,
    RouteTable,
    Topology,
    parameter,
)

CONF, YAML = "topology.conf", "topology.yaml"


class SlurmParameters(Parameters):
    """Slurm's plugin."""

    plugin: Literal["tree", "block"] = parameter(
        "tree",
        description="Slurm's plugin: topology/tree (switches above each other) or topology/block "
        "(a block for each switch with nodes)",
    )


@dataclass(frozen=True)
class Group:
    """A switch in Slurm's sense: some nodes, or some groups."""

    name: str
    nodes: tuple[str, ...] = ()
    children: tuple[str, ...] = ()


class SlurmTopology(ExportPlugin):
    """Writes the network in both forms; Slurm reads ``topology.yaml`` first.

    A node is a terminal, by the first word of its name; terminals of one node count once. Slurm's
    trees have one parent for each switch, networks have several. So a group above the switches with
    nodes is a part of the network that stays connected below a level: level n has the switches
    with at most n hops to the nearest node.
    """

    name = "slurm-topology"
    summary = "Network for Slurm's scheduler: topology.conf and topology.yaml"
    capabilities = Capabilities(multipath=True)
    Parameters = SlurmParameters

    def supports(self, table: RouteTable) -> str | None:
        """Require names that Slurm accepts."""
        for name in _node_names(table.topology):
            if not re.fullmatch(r"[A-Za-z0-9_.-]+", name):
                return f"Slurm accepts no node name {name!r}; use letters, digits, '_', '.' and '-'"
        return None

    def export(self, table: RouteTable, machine: MachineSpeeds) -> dict[str, str]:
        """Write both files."""
        groups = list(_groups(table.topology))
        tree = self.parameters.plugin == "tree"
        conf = _tree_conf(groups) if tree else _block_conf(groups)
        yaml = _tree_yaml(groups) if tree else _block_yaml(groups)
        return {
            CONF: "".join(f"{line}\n" for line in conf),
            YAML: "".join(f"{line}\n" for line in yaml),
        }


def _node_names(topology: Topology) -> list[str]:
    """Return the name of each terminal's node."""
    if topology.terminal_names and all(name.split() for name in topology.terminal_names):
        # the port of an adapter with several cables is appended to its name
        return [re.sub(r"/[0-9]+$", "", name).split()[0] for name in topology.terminal_names]
    return [f"t{terminal}" for terminal in range(topology.num_terminals)]


def _groups(topology: Topology) -> Iterator[Group]:
    """Yield switches with nodes, then the groups above them, level by level."""
    nodes: dict[int, list[str]] = {}
    known: set[str] = set()
    for name, switch in zip(_node_names(topology), topology.terminal_switch.tolist(), strict=True):
        if name not in known:
            known.add(name)
            nodes.setdefault(switch, []).append(name)
    taken: set[str] = set()
    below: dict[frozenset[int], str] = {}
    for switch in sorted(nodes):
        name = _unique(topology.switch_names[switch], taken)
        below[frozenset([switch])] = name
        yield Group(name, nodes=tuple(nodes[switch]))
    depth = _hops_from_nodes(topology)
    for level in range(int(depth.max()) + 1):
        parts = _parts(topology, depth <= level, sorted(nodes))
        above: dict[frozenset[int], str] = {}
        for part in parts:
            inside = [group for group in below if group <= part]
            if len(inside) == 1:
                above[part] = below[inside[0]]
                continue
            above[part] = _unique(f"level{level + 1}_{min(part)}", taken)
            yield Group(above[part], children=tuple(below[group] for group in inside))
        below = above


def _unique(name: str, taken: set[str]) -> str:
    """Return a name of a switch that Slurm accepts and no other has."""
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "_", name).strip("_") or "switch"
    found, number = plain, 1
    while found in taken:
        number += 1
        found = f"{plain}_{number}"
    taken.add(found)
    return found


def _hops_from_nodes(topology: Topology) -> np.ndarray:
    """Return hops to the nearest switch with terminals; int64, shape (S,). −1: none in reach."""
    hops = np.full(topology.num_switches, -1, dtype=np.int64)
    hops[topology.endpoints] = 0
    level = 0
    while (hops == level).any():
        reached = topology.channel_source[hops[topology.channel_target] == level]
        hops[reached[hops[reached] < 0]] = level + 1
        level += 1
    return hops


def _parts(topology: Topology, inside: np.ndarray, leaves: list[int]) -> list[frozenset[int]]:
    """Return the leaves of each connected part of the marked switches."""
    root = np.arange(topology.num_switches)
    ends = (topology.channel_source, topology.channel_target)
    both = inside[ends[0]] & inside[ends[1]]
    source, target = ends[0][both], ends[1][both]
    while (root[source] != root[target]).any():
        least = np.minimum(root[source], root[target])
        np.minimum.at(root, source, least)
        np.minimum.at(root, target, least)
    found: dict[int, list[int]] = {}
    for leaf in leaves:
        found.setdefault(int(root[leaf]), []).append(leaf)
    return [frozenset(part) for part in found.values()]


def _tree_conf(groups: list[Group]) -> Iterator[str]:
    for group in groups:
        kind, members = ("Nodes", group.nodes) if group.nodes else ("Switches", group.children)
        yield f"SwitchName={group.name} {kind}={','.join(members)}"


def _block_conf(groups: list[Group]) -> Iterator[str]:
    blocks = [group for group in groups if group.nodes]
    for block in blocks:
        yield f"BlockName={block.name} Nodes={','.join(block.nodes)}"
    yield f"BlockSizes={min(len(block.nodes) for block in blocks)}"


def _tree_yaml(groups: list[Group]) -> Iterator[str]:
    yield from ("- topology: network", "  cluster_default: true", "  tree:", "    switches:")
    for group in groups:
        yield f'      - switch: "{group.name}"'
        if group.nodes:
            yield f'        nodes: "{",".join(group.nodes)}"'
        else:
            yield f'        children: "{",".join(group.children)}"'


def _block_yaml(groups: list[Group]) -> Iterator[str]:
    blocks = [group for group in groups if group.nodes]
    yield from ("- topology: network", "  cluster_default: true", "  block:")
    yield "    block_sizes:"
    yield f"      - {min(len(block.nodes) for block in blocks)}"
    yield "    blocks:"
    for block in blocks:
        yield f'      - block: "{block.name}"'
        yield f'        nodes: "{",".join(block.nodes)}"'
