"""adaptive-up: shortest routes of fat trees, adaptive on the way up.

A packet climbs by any upward channel, the one with the shortest queue first, until its switch is
above the destination. From there it descends by the only way that exists; where that has parallel
links, the shortest queue decides again. Petrini and Vanneschi, *k-ary n-trees*, IPPS 1997, doi
10.1109/IPPS.1997.580853; the adaptive routing that Gómez, Gilabert, Gómez, López and Duato,
*Deterministic versus Adaptive Routing in Fat-Trees*, IPDPS 2007, compare with.

Channels upwards depend on channels of higher levels and on channels downwards only, and these on
channels of lower levels. So one class of virtual channels is free of deadlock.
"""

from __future__ import annotations

import numpy as np
from typing_extensions import override

from routelab.api import (
    Capabilities,
    HopProgram,
    HopRoutingPlugin,
    Topology,
    UnsupportedError,
    pack_tables,
)
from routelab.toolkit.families.fat_trees import FatTree, read_fat_tree
from routelab_plugins import works

from .kernels import hop


class AdaptiveUp(HopRoutingPlugin):
    """Any way up to a switch above the destination, then the way down."""

    name = "adaptive-up"
    summary = "Adaptive routes up a fat tree by queue length, then the only route down"
    citations = (
        works.PETRINI1997("adaptive ascent and deterministic descent"),
        works.GOMEZ2007("comparison with deterministic routing"),
    )
    capabilities = Capabilities(
        families=("fat-tree",), minimal=True, multipath=True, tolerates_failures=False
    )
    proof = "acyclic"

    def supports(self, topology: Topology, virtual_channels: int) -> str | None:
        """Require a fat tree in which every way up leads to a way down."""
        try:
            tree = read_fat_tree(topology)
        except UnsupportedError as error:
            return str(error)
        return None if tree.whole else find_dead_end(topology, tree)

    @override
    def prepare(self, topology: Topology, virtual_channels: int) -> HopProgram:
        reason = self.supports(topology, virtual_channels)
        if reason is not None:
            raise UnsupportedError(reason)
        tree = read_fat_tree(topology)
        levels = range(tree.height)
        # A row for each level, with the columns that the kernel names: LEAVES, CHILD_LEAVES,
        # PARALLEL, DOWN_PORTS, ALL_PORTS. Level 0 has no children: its CHILD_LEAVES are never read.
        level_shapes = [
            (
                tree.leaves[level],
                tree.leaves[max(level - 1, 0)],
                tree.parallel[level],
                tree.down_ports(level),
                tree.down_ports(level) + tree.up_ports(level),
            )
            for level in levels
        ]
        # index // copies is the number of a switch's subtree among those of its level. Subtree 0
        # has the first `leaves` leaves, subtree 1 the next ones.
        copies, leaves = np.array(tree.copies), np.array(tree.leaves)
        first_leaf = tree.index // copies[tree.level] * leaves[tree.level]
        # all ports upwards, or the parallel links to one child
        most_candidates = max(max(tree.up_ports(level), tree.parallel[level]) for level in levels)
        return HopProgram(
            hop=hop,
            # in the order of the constants of the kernels
            tables=pack_tables(
                topology,
                [tree.out_channel.shape[1]],
                np.array(level_shapes),
                tree.level,
                first_leaf,
                tree.out_channel,
            ),
            vc_classes=1,
            candidates=most_candidates,
            by_occupancy=True,
            # `hop` depends on the switch and the target alone; the engine adds the occupancy
            fixed=True,
            # up to the top level and down again
            max_hops=2 * (tree.height - 1),
        )


def find_dead_end(topology: Topology, tree: FatTree) -> str | None:
    """Describe a switch of a damaged tree where a packet may find no channel; None if none exists.

    A packet climbs by any channel until its switch is above the destination in the whole tree. So
    each switch that it may climb to needs a path down to all leaves that should be below it.
    """
    # 1. By (switch, leaf): is the leaf below the switch in the whole tree, and does a path down to
    #    it exist? Paths are extended level by level, from the leaves up. The subtree of a switch
    #    has a number on its level, and each subtree has `leaves` consecutive leaves: with 2 leaves
    #    each, leaf 5 is in subtree 2.
    copies, leaves = np.array(tree.copies), np.array(tree.leaves)
    subtree = tree.index // copies[tree.level]
    ends = topology.endpoints  # the leaves with terminals
    is_below = subtree[:, None] == tree.index[ends] // leaves[tree.level][:, None]
    has_path_down = np.zeros_like(is_below)
    has_path_down[ends, np.arange(len(ends))] = True
    source, target = topology.channel_source, topology.channel_target
    is_up = tree.level[target] > tree.level[source]
    for level in range(1, tree.height):
        for channel in np.flatnonzero(~is_up & (tree.level[source] == level)):
            has_path_down[source[channel]] |= has_path_down[target[channel]]
    # 2. Climb from the leaves with terminals to all parents, as packets may do.
    is_reached = np.zeros(topology.num_switches, np.bool_)
    is_reached[ends] = True
    names = topology.switch_names
    for level in range(tree.height - 1):
        for switch in np.flatnonzero(is_reached & (tree.level == level)):
            must_climb = ~is_below[switch]  # by leaf: packets for it climb from this switch
            if not must_climb.any():
                continue
            parents = target[(source == switch) & is_up]
            if not len(parents):
                return f"switch {names[switch]} has lost all its links upwards"
            for parent in parents:
                # packets for these leaves turn down at the parent
                unreachable = np.flatnonzero(must_climb & is_below[parent] & ~has_path_down[parent])
                if unreachable.size:
                    leaf = names[ends[unreachable[0]]]
                    return (
                        f"packets for {leaf} may climb to {names[parent]}, which has no path down "
                        "to it: a link or a switch is missing"
                    )
            is_reached[parents] = True
    return None
