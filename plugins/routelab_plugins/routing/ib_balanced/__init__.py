"""ib-balanced: evenly loaded forwarding tables for any number of virtual lanes.

One tree leads to each terminal, as InfiniBand's forwarding tables need, and each route stays on
one virtual lane, which its service level names. The trees are balanced without any restriction
first (see the selection ``balanced-trees``), then routes get lanes by first fit (``first-fit``).

If these are more lanes than the fabric has, the table is fitted into 15, 8, 4, 2 and 1 lanes, one
step after another; these are the numbers that ports can have. The first lane gets an order of the
channels: the routes inside a spanning tree follow it, then the most loaded turns of the table, each
unless those before it forbid it (compare the escape paths of Nue: Domke, Hoefler, Matsuoka, 2016,
doi 10.1145/2907294.2907313). The other lanes are filled by first fit. Trees with routes that fit
nowhere grow again inside the orders of all lanes; dead ends are replaced by routes inside the
spanning tree. The local search balances the trees inside these orders. Several spanning trees are
tried, and new orders are drawn that all routes follow.

Where that does not reach the load of more lanes, the trees also grow inside words: orders of the
channels, one for each lane, that the routing `words` finds for routes of single pairs.

The search with fewer lanes never goes below the largest load with more, so that the largest load
never rises with the number of lanes. It begins with up*/down* trees or those of a fat tree where
these are better.
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
from routelab.toolkit.forwarding import (
    TreeSearch,
    by_destination,
    first_fitting_layers,
    table_of_trees,
)
from routelab_plugins import works
from routelab_plugins.routing.ib_balanced.lanes import LaneSearch, Solution, lanes_of
from routelab_plugins.routing.ib_balanced.start import unrestricted_trees

STEPS = (15, 8, 4, 2, 1)
"""Numbers of lanes into which a table is fitted, one after another: those that ports can have."""


class IbBalancedParameters(Parameters):
    """Virtual lanes, seed and work of the search."""

    vls: int = parameter(
        8,
        ge=1,
        le=15,
        description="Data VLs of the fabric; numbers between 1, 2, 4, 8 and 15 may be rounded down",
    )
    seed: int = parameter(0, ge=0, description="Seed of the search")
    moves: int | None = parameter(
        None,
        ge=0,
        description="Moves that one search examines; none: 24 for each channel and terminal, at "
        "least 20 and at most 250 million, and a search for words",
    )


class IbBalanced(RoutingPlugin):
    """Balanced trees on as many virtual lanes as the fabric has."""

    name = "ib-balanced"
    summary = "Balanced destination-based routes of any fabric on a given number of VLs"
    citations = (
        works.SKEIE2002("lanes by first fit"),
        works.DOMKE2016("routes inside a spanning tree against dead ends"),
        works.SCHROEDER1991("up*/down* routes as the fallback on one lane"),
    )
    capabilities = Capabilities(
        minimal=False, flow_control="plain", virtual_channels=None, destination_based=True
    )
    Parameters = IbBalancedParameters

    def supports(self, topology: Topology) -> str | None:
        """Require links with channels in both directions."""
        if np.any(topology.links < 0):
            return "some links have a channel in one direction only"
        return None

    def route(self, topology: Topology) -> RouteTable:
        """Compute trees towards all terminals, and the lane of every route."""
        search = TreeSearch(topology, self.parameters.seed, self.parameters.moves)
        trees, peak, fallback = unrestricted_trees(search)
        table = table_of_trees(topology, trees)
        path_lane, ranks = first_fitting_layers(table, by_destination(table))
        if len(ranks) > self.parameters.vls:
            lane_search = LaneSearch(search, fallback)
            solution = Solution(trees, peak, ranks)
            # Try the numbers of lanes below that of first fit, one after another, until the
            # solution needs no more lanes than the fabric has.
            for lanes in STEPS:
                if lanes < len(ranks) and len(solution.ranks) > self.parameters.vls:
                    # words take some seconds, so they are searched for the last number of lanes
                    is_last = lanes <= self.parameters.vls
                    solution = lane_search.reduce_lanes(
                        solution, lanes, with_words=is_last and self.parameters.moves is None
                    )
            table = table_of_trees(topology, solution.trees)
            path_lane = lanes_of(search, solution, table)
        return table.with_vcs(np.repeat(path_lane, table.path_length), "plain")
