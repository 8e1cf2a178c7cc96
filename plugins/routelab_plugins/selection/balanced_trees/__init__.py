"""Balanced trees: one tree of legal routes towards each terminal, with evenly loaded channels.

A switch of InfiniBand has one next channel for each destination, whatever way a packet came. So
the routes to one destination form a tree, and in this tree every route must be legal from its
source on. Trees grow from their destinations, nearest switches first, over the least loaded
channels. Where a tree has a dead end (switches whose routes over it would be illegal), it grows
again: switches then join first where packets may arrive over any channel. If that fails too,
routes inside a breadth-first tree are tried, root after root.

A local search then moves one switch of one tree at a time to another channel, if that lowers the
sum of a power of all loads; higher powers look at the most loaded channels only. Load counts the
ordered pairs of terminals at different switches, relative to the capacity of the channel.
"""

from __future__ import annotations

import numpy as np

from routelab.api import (
    Capabilities,
    Parameters,
    RouteTable,
    RoutingGraph,
    SelectionPlugin,
    UnsupportedError,
    parameter,
)
from routelab.api.topology import Int64Array
from routelab.kernels.graph import levels_to
from routelab.toolkit.forwarding import TreeSearch, legality_of_rules, table_of_trees
from routelab.toolkit.forwarding.spanning_trees import spanning_trees


class BalancedTreesParameters(Parameters):
    """Seed and work of the search."""

    seed: int = parameter(0, ge=0, description="Seed of the order of moves")
    moves: int | None = parameter(
        None,
        ge=0,
        description="Moves that the search examines; none: 24 for each channel and terminal, at "
        "least 20 and at most 250 million",
    )


class BalancedTrees(SelectionPlugin):
    """Builds one tree for each terminal and balances all of them by local search."""

    name = "balanced-trees"
    summary = "One legal tree towards each terminal, balanced by local search"
    capabilities = Capabilities(minimal=False, destination_based=True)
    Parameters = BalancedTreesParameters

    def supports(self, graph: RoutingGraph) -> str | None:
        """Refuse rules for shortest routes only: the search takes longer ones, too."""
        if graph.minimal_only:
            return "the rules stand for shortest routes only, and trees have longer ones"
        return None

    def select(self, graph: RoutingGraph) -> RouteTable:
        """Grow a tree towards each terminal, balance all of them, and return their routes.

        Raises
        ------
        UnsupportedError
            If no tree of legal routes was found for a destination.
        """
        topology = graph.topology
        search = TreeSearch(
            topology,
            seed=self.parameters.seed,
            moves=self.parameters.moves,
            sources=_count_sources(graph),
        )
        legality = legality_of_rules(graph)
        # Row t of `trees` has the next channel of each switch towards terminal t. `grow` and
        # `spanning_trees` fill the given rows, and return those in which a switch that has a legal
        # route to the terminal has no next channel.
        trees = search.no_trees()
        incomplete = search.grow(legality, trees, np.arange(len(trees)))
        if len(incomplete):
            incomplete = spanning_trees(search, legality, trees, incomplete)
        if len(incomplete):
            raise UnsupportedError(
                "no tree of legal routes was found towards terminal "
                f"{topology.terminal_name(int(incomplete[0]))}; choose other rules, or a selection "
                "that is not destination-based"
            )
        balanced, _ = search.balance(legality, trees)
        return table_of_trees(topology, balanced)


def _count_sources(graph: RoutingGraph) -> Int64Array:
    """Return the number of switches with a legal route to each terminal; int64, shape (T,).

    The search takes a tree as complete if it has so many switches.
    """
    topology = graph.topology
    level = np.empty(graph.num_vertices, np.int32)
    queue = np.empty(graph.num_vertices, np.int32)
    # by the switch of the terminal, as all terminals of a switch have the same sources
    num_sources = np.zeros(topology.num_switches, np.int64)
    for switch in topology.endpoints.tolist():
        # updates `level`: hops from each vertex to the switch, -1 if there is no route
        levels_to(graph.arrays, switch, level, queue)
        num_sources[switch] = np.count_nonzero(level[graph.begin] >= 0)
    return num_sources[topology.terminal_switch]
