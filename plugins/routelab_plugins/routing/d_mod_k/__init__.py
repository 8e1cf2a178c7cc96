"""d-mod-k: deterministic routing of fat trees by the number of the destination.

Zahavi, *Fat-Tree Routing and Node Ordering Providing Contention Free Traffic for MPI Global
Collectives*, Journal of Parallel and Distributed Computing, 2012; on k-ary n-trees the balanced
deterministic routing of Gómez, Gilabert, Gómez, López and Duato, *Deterministic versus Adaptive
Routing in Fat-Trees*, IPDPS 2007.

Terminals are numbered from 0 in the order of the leaves. In a tree with parents w and parallel
links p, a packet for terminal d that has to climb from level l to level l + 1 takes the up link ::

    q = floor(d / (w_1 ... w_l)) mod (w_(l+1) p_(l+1))

of its switch, where leaves are level 1 and w_1 = 1. Up link q leads to parent q mod w_(l+1) and is
number floor(q / w_(l+1)) of the parallel links to it. On the way down, the packet takes the
parallel link with the number that it would take upwards. All packets for d therefore go through the
same switches above d, one on each level.

In a k-ary n-tree with k terminals at each leaf, each channel downwards carries the packets for
exactly one terminal. If all switches have as many links up as down, no shift permutation
(terminal i sends to terminal i + s) puts two flows on one channel. Routes climb, then descend, so
that one virtual channel is free of deadlock.
"""

from __future__ import annotations

import numpy as np

from routelab.api import (
    Capabilities,
    RouteTable,
    RoutingPlugin,
    Topology,
    UnsupportedError,
)
from routelab.api.topology import Int32Array
from routelab.toolkit.families.fat_trees import FatTree, read_fat_tree
from routelab_plugins import works


class DModK(RoutingPlugin):
    """The number of the destination terminal chooses the links upwards."""

    name = "d-mod-k"
    summary = "Deterministic up and down routes of fat trees by the number of the destination"
    citations = (
        works.ZAHAVI2012("D-Mod-K"),
        works.GOMEZ2007("the same on k-ary n-trees"),
    )
    capabilities = Capabilities(
        families=("fat-tree",),
        minimal=True,
        tolerates_failures=False,
        flow_control="plain",
        destination_based=True,
    )

    def supports(self, topology: Topology) -> str | None:
        """Require a fat tree in which no link of a route is missing."""
        try:
            tree = read_fat_tree(topology)
        except UnsupportedError as error:
            return str(error)
        if tree.whole:
            return None
        table = RouteTable.from_next_hops(topology, _next_hops(topology, tree), per_terminal=True)
        unrouted_pairs = np.flatnonzero(np.diff(table.pair_start) == 0)
        if not unrouted_pairs.size:
            return None
        first_pair = table.describe_pair(int(unrouted_pairs[0]))
        return f"no route from {first_pair}: a link of it is missing"

    def route(self, topology: Topology) -> RouteTable:
        """Compute one route from each leaf to each terminal.

        Raises
        ------
        UnsupportedError
            If the network is not a fat tree, or a link of a route is missing.
        """
        reason = self.supports(topology)
        if reason is not None:
            raise UnsupportedError(reason)
        next_hops = _next_hops(topology, read_fat_tree(topology))
        return RouteTable.from_next_hops(topology, next_hops, per_terminal=True)


def _next_hops(topology: Topology, tree: FatTree) -> Int32Array:
    """Return the next channel from each switch to each terminal; int32, shape (S, T).

    −1 at the leaf of the terminal, and where the channel is missing. Levels count from 0 here, so
    with l = level + 1 the formula's terms are::

        w_1 ... w_l    tree.copies[level]
        w_(l+1)        tree.up[level + 1]          parents of a switch
        p_(l+1)        tree.parallel[level + 1]    links to each parent
    """
    # 1. Number the terminals as in the whole tree: those of leaf 0 first, then those of leaf 1.
    leaf = tree.index[topology.terminal_switch]
    order = np.argsort(topology.terminal_switch, kind="stable")
    sorted_switch = topology.terminal_switch[order]
    #    Terminals on switches 0, 0, 1 have the numbers 0, 1, 0 at their leaves.
    number_at_leaf = np.empty(topology.num_terminals, np.int64)
    number_at_leaf[order] = np.arange(len(order)) - np.searchsorted(sorted_switch, sorted_switch)
    number = leaf * tree.terminals + number_at_leaf
    next_hops = np.full((topology.num_switches, topology.num_terminals), -1, np.int32)
    for level in range(tree.height):
        switches = np.flatnonzero(tree.level == level)
        ports = np.full((len(switches), len(number)), -1)
        # 2. Up: the formula's q mod w_(l+1) is the parent. The link to it, floor(q / w_(l+1)), is
        #    the same as floor(d / (w_1 ... w_(l+1))) mod p_(l+1).
        if level + 1 < tree.height:
            links = tree.parallel[level + 1]
            parent = number // tree.copies[level] % tree.up[level + 1]
            link = number // tree.copies[level + 1] % links
            ports[:] = tree.down_ports(level) + parent * links + link
        # 3. Down, where the terminal is below: the link with the number that a packet from the
        #    child would take upwards.
        subtree = tree.index[switches] // tree.copies[level]
        is_below = subtree[:, None] == leaf // tree.leaves[level]
        if level:
            links = tree.parallel[level]
            child = leaf // tree.leaves[level - 1] % tree.down[level]
            link = number // tree.copies[level] % links
            ports = np.where(is_below, child * links + link, ports)
        else:
            ports[is_below] = -1  # at the leaf of the terminal
        # a port −1 reads some channel, which `where` replaces
        channels = tree.out_channel[switches[:, None], ports]
        next_hops[switches] = np.where(ports >= 0, channels, -1)
    return next_hops
