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
        rng = np.random.default_rng(self.parameters.seed)
        blocks = blocks_of_lanes(topology, self.parameters.vls)
        solution = LaneTrees(topology, blocks)
        for _ in range(self.parameters.orders - 1):
            drawn = LaneTrees(topology, blocks, rng)
            solution = min(solution, drawn, key=lambda trees: trees.peak)
        for _ in range(self.parameters.rounds - 1):
            solution.route()
        table = table_of_trees(topology, solution.trees)
        destination = table.path_pair % table.num_destinations
        hop_lane = np.repeat(solution.lane[destination], table.path_length)
        return table.with_vcs(hop_lane, "plain")


class LaneTrees:
    """Trees towards all terminals, each on one lane, after the first round.

    Parameters
    ----------
    topology : Topology
    blocks : list of (int, int64 array)
        Lanes and their terminals, separately for each part of the network.
    rng : Generator or None
        Draws the order of the terminals of each block, and the root of its spanning tree; None:
        the order is that of the block, and the root is the most central switch.

    Attributes
    ----------
    lane : int64 array, shape (T,)
    trees : int32 array, shape (T, S)
        Trees of the best round so far.
    peak : float
        Their largest load relative to its channel's capacity.
    islands, escaped : int
        Trees of the last round that met a dead end, and those that backtracking did not complete.
    """

    def __init__(
        self,
        topology: Topology,
        blocks: list[tuple[int, Int64Array]],
        rng: np.random.Generator | None = None,
    ) -> None:
        self.topology = topology
        self.fabric = fabric_of(topology)
        self.legality = all_routes(self.fabric)
        self.lane = np.zeros(topology.num_terminals, np.int64)
        self.escape = np.full((topology.num_terminals, topology.num_switches), -1, np.int32)
        order = []
        for number, block in blocks:
            targets = topology.terminal_switch[block]
            root = _median(topology, targets) if rng is None else int(rng.choice(targets))
            self.lane[block] = number
            self.escape[block], _ = trees_in_spanning_tree(topology, root, targets)
            order.append(block if rng is None else rng.permutation(block))
        self.order = np.concatenate(order)
        self.lanes = escape_lane_graphs(
            self.fabric, self.escape, self.lane, np.int64(self.lane.max(initial=0) + 1)
        )
        self.current = np.full_like(self.escape, -1)
        self.load = np.zeros(topology.num_channels, np.int64)
        self.trees, self.peak = self.current, np.inf
        self.route()

    def route(self) -> None:
        """Route all terminals once, and keep the trees if they are the best so far."""
        self.islands, self.escaped = nue_round(
            self.fabric,
            self.legality,
            self.lanes,
            self.escape,
            self.lane,
            self.order,
            self.current,
            self.load,
        )
        peak = float((self.load / self.topology.channel_capacity).max(initial=0.0))
        if peak < self.peak:
            self.trees, self.peak = self.current.copy(), peak


def blocks_of_lanes(topology: Topology, vls: int) -> list[tuple[int, Int64Array]]:
    """Divide the terminals of each part of the network, in breadth-first order, into lanes."""
    blocks = []
    waiting = np.ones(topology.num_terminals, np.bool_)
    while waiting.any():
        hops = _hops_from_center(topology, int(np.argmax(waiting)))
        members = np.flatnonzero(waiting & (hops[topology.terminal_switch] >= 0))
        waiting[members] = False
        members = members[np.argsort(hops[topology.terminal_switch[members]], kind="stable")]
        parts = np.array_split(members, vls)
        blocks += [(number, block) for number, block in enumerate(parts) if len(block)]
    return blocks


def _hops_from_center(topology: Topology, terminal: int) -> Int32Array:
    """Return the hops from the center of a terminal's part; int32, shape (S,), −1 outside it."""
    hops = np.empty(topology.num_switches, np.int32)
    queue = np.empty(topology.num_switches, np.int32)
    arrays = (*topology.outgoing, topology.channel_target)
    hop_distances(*arrays, int(topology.terminal_switch[terminal]), hops, queue)
    farthest = np.where(hops >= 0, eccentricities(*arrays), topology.num_switches + 1)
    hop_distances(*arrays, int(np.argmin(farthest)), hops, queue)
    return hops


def _median(topology: Topology, targets: Int32Array) -> int:
    """Return the switch with the least sum of distances to some switches of its part."""
    hops = np.empty(topology.num_switches, np.int32)
    queue = np.empty(topology.num_switches, np.int32)
    arrays = (*topology.outgoing, topology.channel_target)
    total = np.zeros(topology.num_switches, np.int64)
    for target, count in zip(*np.unique(targets, return_counts=True), strict=True):
        hop_distances(*arrays, int(target), hops, queue)
        total += np.where(hops >= 0, hops, topology.num_switches) * count
    return int(np.argmin(total))
