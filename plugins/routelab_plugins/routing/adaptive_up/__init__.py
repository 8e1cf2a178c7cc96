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
        return None if tree.whole else dead_end(topology, tree)

    @override
    def prepare(self, topology: Topology, virtual_channels: int) -> HopProgram:
        reason = self.supports(topology, virtual_channels)
        if reason is not None:
            raise UnsupportedError(reason)
        tree = read_fat_tree(topology)
        levels = range(tree.height)
        # the columns of the kernel: leaves below a switch and below its children, links to a child,
        # ports to children, all ports
        shapes = [
            (
                tree.leaves[i],
                tree.leaves[max(i - 1, 0)],
                tree.parallel[i],
                tree.down_ports(i),
                tree.down_ports(i) + tree.up_ports(i),
            )
            for i in levels
        ]
        # switches above the same leaves have the same index // copies
        copies, leaves = np.array(tree.copies), np.array(tree.leaves)
        first_leaf = tree.index // copies[tree.level] * leaves[tree.level]
        ports = max(max(tree.up_ports(i), tree.parallel[i]) for i in levels)
        return HopProgram(
            hop=hop,
            tables=pack_tables(
                topology,
                [tree.out_channel.shape[1]],
                np.array(shapes),
                tree.level,
                first_leaf,
                tree.out_channel,
            ),
            vc_classes=1,
            candidates=ports,
            by_occupancy=True,
            fixed=True,
            max_hops=2 * (tree.height - 1),
        )


def dead_end(topology: Topology, tree: FatTree) -> str | None:
    """Return where a packet could find no way on because parts are missing; None if nowhere."""
    copies, leaves = np.array(tree.copies), np.array(tree.leaves)
    subtree = tree.index // copies[tree.level]
    ends = topology.endpoints
    # by switch and leaf: is it below in the whole tree, is there a way down
    below = subtree[:, None] == tree.index[ends] // leaves[tree.level][:, None]
    delivers = np.zeros_like(below)
    delivers[ends, np.arange(len(ends))] = True
    source, target = topology.channel_source, topology.channel_target
    rises = tree.level[target] > tree.level[source]
    for level in range(1, tree.height):
        for channel in np.flatnonzero(~rises & (tree.level[source] == level)):
            delivers[source[channel]] |= delivers[target[channel]]
    reached = np.zeros(topology.num_switches, np.bool_)
    reached[ends] = True
    names = topology.switch_names
    for level in range(tree.height - 1):
        for switch in np.flatnonzero(reached & (tree.level == level)):
            outside = ~below[switch]
            if not outside.any():
                continue
            parents = target[(source == switch) & rises]
            if not len(parents):
                return f"switch {names[switch]} has lost all its links upwards"
            for parent in parents:
                lost = np.flatnonzero(outside & below[parent] & ~delivers[parent])
                if lost.size:
                    return (
                        f"packets for {names[ends[lost[0]]]} may climb to {names[parent]}, which "
                        "has no path down to it: a link or a switch is missing"
                    )
            reached[parents] = True
    return None
