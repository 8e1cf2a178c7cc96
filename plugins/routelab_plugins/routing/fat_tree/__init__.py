"""fat-tree: up and down routes of fat trees by counters, as OpenSM's engine ``ftree``.

Zahavi, Johnson, Kerbyson and Lang, *Optimized InfiniBand Fat-Tree Routing for Shift All-to-All
Communication Patterns*, Concurrency and Computation: Practice and Experience 22(2), 2010,
doi 10.1002/cpe.1527. The network need not be complete: any network will do whose switches have
levels (hops from the nearest switch with terminals) and whose links join neighbouring levels.

With missing links, counters of destinations do not show how many sources use a link, and one main
way for each destination is coarse: a leaf with four hosts and three links up would get two hosts
over one of them. So a local search moves routes away from the busiest links while some link is
busier than it has to be. On complete fat trees it has nothing to do.
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
from routelab.toolkit.forwarding import TreeSearch, legality_of_orders, table_of_trees
from routelab.toolkit.forwarding.levels import switch_levels, trees_by_levels
from routelab_plugins import works

ROUNDS = 2
"""Rounds of the local search."""


class FatTreeRouting(RoutingPlugin):
    """Climbs to the main way above each terminal, then descends; counters spread the main ways.

    A local search then evens out what missing links leave uneven.
    """

    name = "fat-tree"
    summary = "Up, then down, over the links with the fewest destinations (OpenSM's ftree)"
    citations = (works.ZAHAVI2010("order of terminals and counters of links"),)
    capabilities = Capabilities(minimal=False, flow_control="plain", destination_based=True)

    def supports(self, topology: Topology) -> str | None:
        """Require levels of switches, and a way up, then down, between all terminals."""
        level = switch_levels(topology)
        if level is None:
            return "a link joins switches that are not on neighbouring levels above the terminals"
        return _unrouted_pair(table_of_trees(topology, trees_by_levels(topology, level)))

    def route(self, topology: Topology) -> RouteTable:
        """Compute one tree towards each terminal.

        Raises
        ------
        UnsupportedError
            If the network has no levels, or no route goes up, then down, between two terminals.
        """
        level = switch_levels(topology)
        if level is None:
            raise UnsupportedError(str(self.supports(topology)))
        trees = trees_by_levels(topology, level)
        if reason := _unrouted_pair(table_of_trees(topology, trees)):
            raise UnsupportedError(reason)
        if topology.num_channels:
            trees = _even_out(topology, level, trees)
        return table_of_trees(topology, trees)


def _even_out(topology: Topology, level: Int32Array, trees: Int32Array) -> Int32Array:
    """Move routes away from the busiest links; all routes still go up, then down."""
    # 1. Order the channels so that routes go up, then down, exactly if their ranks rise: channels
    #    up by rising level of their source, then channels down by falling level. With 3 levels, the
    #    keys are 0 and 1 upwards, 2 (from the top) and 3 downwards.
    source_level, top_level = level[topology.channel_source], level.max(initial=0)
    is_up = level[topology.channel_target] > source_level
    key = np.where(is_up, source_level, 2 * top_level - source_level)
    rank = np.empty((1, topology.num_channels), np.int32)  # one order, for one virtual channel
    rank[0, np.argsort(key, kind="stable")] = np.arange(topology.num_channels)
    search = TreeSearch(topology, seed=0)
    legality = legality_of_orders(search.fabric, rank)
    # 2. The load at which the search may stop, because no table has a smaller maximum: if every
    #    terminal sends a packet to every other, the packets of a leaf for other leaves share its
    #    links up.
    hosts = topology.terminals_per_switch
    packets = hosts * (topology.num_terminals - hosts)
    capacity = np.bincount(
        topology.channel_source, topology.channel_capacity, minlength=topology.num_switches
    )
    least_peak = float((packets[hosts > 0] / capacity[hosts > 0]).max(initial=0.0))
    balanced_trees, _ = search.balance(legality, trees, floor=least_peak, rounds=ROUNDS)
    return balanced_trees


def _unrouted_pair(table: RouteTable) -> str | None:
    """Return that some pair has no route, and which; None if all pairs have one."""
    unrouted = np.flatnonzero(np.diff(table.pair_start) == 0)
    if not unrouted.size:
        return None
    return f"no route up, then down, from {table.describe_pair(int(unrouted[0]))}"
