"""Nue: routes on the dependency graph, for any number of virtual lanes.

Domke, Hoefler and Matsuoka, *Routing on the Dependency Graph: A New Approach to Deadlock-Free
High-Performance Routing*, HPDC 2016, doi 10.1145/2907294.2907313. Every destination belongs to
one lane. A lane begins with the dependencies of escape routes inside a spanning tree. Trees then
grow towards its destinations over the lightest ways, by hops and loads, and use a turn only if the
dependencies of the lane stay acyclic.

Switches that a tree cannot reach so are islands. Local backtracking lets a neighbour of an island
take another way that the island can follow, and switches near it change to lighter ways through
it. Islands that remain follow the escape routes.

Readings where the paper leaves a choice:

- The spanning tree of a lane is breadth-first from the switch with the least sum of distances to
  the lane's destinations; destinations are divided in breadth-first order.
- A hop weighs as much as the mean load of a channel would be if every route had one hop.
- Where the paper replaces the whole tree by the escape routes, only the switches do so that the
  tree does not reach, those on their escape routes, and those whose way would close a cycle with
  these.

Additions: the result depends much on the order of the destinations, as dependencies of the first
ones forbid those of the last. So several orders, with other roots of the spanning trees, are tried,
and the best one is continued in further rounds: each tree grows again against the loads of all
others. ``orders=1,rounds=1`` is the paper's algorithm.
"""

from __future__ import annotations

import numpy as np

from routelab.api import (
    Capabilities,
    Parameters,
    RouteTable,
    RoutingPlugin,
    Topology,
    parameter,
)
from routelab.api.topology import Int32Array, Int64Array
from routelab.kernels.distances import eccentricities, hop_distances
from routelab.kernels.forwarding.lanes import escape_lane_graphs
from routelab.kernels.forwarding.nue import nue_round
from routelab.toolkit.forwarding import all_routes, fabric_of, table_of_trees
from routelab.toolkit.forwarding.spanning_trees import trees_in_spanning_tree
from routelab_plugins import works


class NueParameters(Parameters):
    """Lanes, and the work of the search."""

    vls: int = parameter(8, ge=1, le=15, description="Data VLs of the fabric")
    orders: int = parameter(
        3,
        ge=1,
        description="Number of orders of the destinations to try; the best one is used",
    )
    rounds: int = parameter(
        4, ge=1, description="Rounds in which each tree is rebuilt; 1: as in the paper"
    )
    seed: int = parameter(0, ge=0, description="Seed of the orders")


class Nue(RoutingPlugin):
    """Trees that never close a cycle of dependencies on their lane."""

    name = "nue"
    summary = "Routing on the dependency graph, for any number of VLs (Nue)"
    citations = (works.DOMKE2016("Nue"),)
    capabilities = Capabilities(
        minimal=False, flow_control="plain", virtual_channels=None, destination_based=True
    )
    Parameters = NueParameters

    def supports(self, topology: Topology) -> str | None:
        """Require links with channels in both directions."""
        if np.any(topology.links < 0):
            return "some links have a channel in one direction only"
        return None

    def route(self, topology: Topology) -> RouteTable:
        """Compute one tree towards each terminal, in several orders of the terminals."""
        random = np.random.default_rng(self.parameters.seed)
        blocks = divide_into_lanes(topology, self.parameters.vls)
        # 1. The first round of each order; the trees with the smallest maximum load remain.
        best = LaneTrees(topology, blocks)
        for _ in range(self.parameters.orders - 1):
            in_random_order = LaneTrees(topology, blocks, random)
            best = min(best, in_random_order, key=lambda trees: trees.peak)
        # 2. Further rounds of these.
        for _ in range(self.parameters.rounds - 1):
            best.run_round()
        # 3. The table: all hops of a route are on the lane of its destination.
        table = table_of_trees(topology, best.trees)
        destination = table.path_pair % table.num_destinations
        hop_lane = np.repeat(best.lane[destination], table.path_length)
        return table.with_vcs(hop_lane, "plain")


class LaneTrees:
    """Trees towards all terminals, each on one lane, after the first round.

    Parameters
    ----------
    topology : Topology
    blocks : list of (int, int64 array)
        From `divide_into_lanes`: a lane and its terminals, for each lane in each connected part of
        the network.
    random : Generator or None
        Draws the order of the terminals of each block, and the root of its spanning tree; None:
        the order is that of the block, and the root has the least sum of distances to them.

    Attributes
    ----------
    lane : int64 array, shape (T,)
        Lane of each terminal's tree.
    trees : int32 array, shape (T, S)
        Next channels of the best round so far; −1 at the terminal's switch.
    peak : float
        Largest load of a channel under `trees`, relative to its capacity.
    islands, escaped : int
        Trees of the last round that met a dead end, and those that backtracking did not complete.
    """

    def __init__(
        self,
        topology: Topology,
        blocks: list[tuple[int, Int64Array]],
        random: np.random.Generator | None = None,
    ) -> None:
        self.topology = topology
        self.fabric = fabric_of(topology)
        self.legality = all_routes(self.fabric)
        # 1. For each block a spanning tree, and in it the escape route from each switch to each
        #    terminal of the block.
        self.lane = np.zeros(topology.num_terminals, np.int64)
        self.escape_trees = np.full((topology.num_terminals, topology.num_switches), -1, np.int32)
        order = []
        for lane, terminals in blocks:
            targets = topology.terminal_switch[terminals]
            if random is None:
                root = _median_switch(topology, targets)
                order.append(terminals)
            else:
                root = int(random.choice(targets))
                order.append(random.permutation(terminals))
            self.lane[terminals] = lane
            # the second value is always True: a block is in one connected part
            self.escape_trees[terminals], _ = trees_in_spanning_tree(topology, root, targets)
        self.order = np.concatenate(order)
        # 2. The dependency graph of each lane, at first with those of the escape routes only.
        num_lanes = np.int64(self.lane.max(initial=0) + 1)
        self.lane_graphs = escape_lane_graphs(self.fabric, self.escape_trees, self.lane, num_lanes)
        # 3. Trees and loads of the last round, which the next one changes.
        self.last_trees = np.full_like(self.escape_trees, -1)
        self.load = np.zeros(topology.num_channels, np.int64)
        self.trees, self.peak = self.last_trees, np.inf
        self.run_round()

    def run_round(self) -> None:
        """Grow the trees of all terminals once, and keep them if they are the best so far.

        The kernel updates `lane_graphs`, `last_trees` and `load`.
        """
        self.islands, self.escaped = nue_round(
            fabric=self.fabric,
            legality=self.legality,
            lanes=self.lane_graphs,
            escape=self.escape_trees,
            lane=self.lane,
            order=self.order,
            trees=self.last_trees,
            load=self.load,
        )
        peak = float((self.load / self.topology.channel_capacity).max(initial=0.0))
        if peak < self.peak:
            self.trees, self.peak = self.last_trees.copy(), peak


def divide_into_lanes(topology: Topology, vls: int) -> list[tuple[int, Int64Array]]:
    """Divide the terminals of each connected part of the network evenly into lanes.

    Terminals that are near each other share a lane: they are divided in breadth-first order from
    the center of their part. For example, 5 terminals on 2 lanes: the 3 nearest to the center, then
    the other 2.

    Returns
    -------
    list of (int, int64 array)
        A lane and its terminals, for each lane in each connected part of the network.
    """
    blocks = []
    is_undivided = np.ones(topology.num_terminals, np.bool_)
    while is_undivided.any():
        # the part of the first terminal that is not divided yet
        hops = _hops_from_center(topology, terminal=int(np.argmax(is_undivided)))
        members = np.flatnonzero(is_undivided & (hops[topology.terminal_switch] >= 0))
        is_undivided[members] = False
        members = members[np.argsort(hops[topology.terminal_switch[members]], kind="stable")]
        for lane, terminals in enumerate(np.array_split(members, vls)):
            # with fewer terminals than lanes, some lanes have none
            if len(terminals):
                blocks.append((lane, terminals))
    return blocks


def _hops_from_center(topology: Topology, terminal: int) -> Int32Array:
    """Return the hops of each switch from the center of the connected part of a terminal.

    int32, shape (S,); −1 for switches in other parts. The center is the switch with the least
    eccentricity, which is the largest distance from it to any switch of the part.
    """
    hops = np.empty(topology.num_switches, np.int32)
    queue = np.empty(topology.num_switches, np.int32)
    graph = (*topology.outgoing, topology.channel_target)
    hop_distances(*graph, int(topology.terminal_switch[terminal]), hops, queue)
    # no switch outside the part may become the center: no eccentricity is as large as this
    eccentricity = np.where(hops >= 0, eccentricities(*graph), topology.num_switches + 1)
    hop_distances(*graph, int(np.argmin(eccentricity)), hops, queue)
    return hops


def _median_switch(topology: Topology, targets: Int32Array) -> int:
    """Return the switch with the least sum of distances to some switches, all in one part."""
    hops = np.empty(topology.num_switches, np.int32)
    queue = np.empty(topology.num_switches, np.int32)
    graph = (*topology.outgoing, topology.channel_target)
    total = np.zeros(topology.num_switches, np.int64)
    for target, count in zip(*np.unique(targets, return_counts=True), strict=True):
        hop_distances(*graph, int(target), hops, queue)
        # a switch of another part counts as farther away than any switch of this one
        total += np.where(hops >= 0, hops, topology.num_switches) * count
    return int(np.argmin(total))
