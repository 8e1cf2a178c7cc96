"""Single-source shortest-path route building on channel loads.

Algorithms 3 and 4 of Mukosey, Semenov, Tretiakov, *Optimized Graph Based Routing Algorithm for
the Angara Interconnect*. Two misprints are corrected: Algorithm 4 stops when all targets are
settled (not when that many vertices have been seen), and only routes that are applied in a round
add to the weights.
"""

from __future__ import annotations

import numpy as np

from routelab.api import (
    Capabilities,
    Column,
    RouteTable,
    RoutingGraph,
    SelectionPlugin,
    parameter,
)
from routelab.api.topology import BoolArray, Int32Array, Int64Array
from routelab.kernels.graph import count_routes, fewest_turns
from routelab.toolkit import RouteChoices, TieParameters, route_choices, search_arrays
from routelab.toolkit.parallel import over_ranges
from routelab.toolkit.ties import backwards_at, endpoint_order, tie_order
from routelab_plugins import works

from .kernels import (
    GroupedRoutes,
    build_routes_sssp,
    choose_routes_sssp,
    cut_groups,
    fill_groups,
)

MOST_ROUTES = 64
"""Largest number of routes of a pair to compare one by one; with more, trees are used."""


class SsspParameters(TieParameters):
    """Order of ties, and the paper's first stage."""

    unique_first: bool = parameter(
        True,
        description="Stage 1: apply the routes of pairs with a single shortest legal route first",
    )


class Sssp(SelectionPlugin):
    """Unique routes first, then pairs by turns and length, each on the loads so far."""

    name = "sssp"
    summary = "Shortest paths on channel loads in three stages (Angara, Algorithms 3 and 4)"
    citations = (works.MUKOSEY2020("Algorithms 3 and 4"),)
    capabilities = Capabilities(minimal=None)
    columns = (
        Column(
            "unique_trees",
            "`sssp`: number of trees built for pairs with one shortest route",
            heading="trees built for unique routes",
            group="Computing effort",
        ),
        Column(
            "group_trees",
            "`sssp`: number of trees built for the other pairs, one group at a time",
            group="Computing effort",
            heading="trees built by sort and group",
        ),
    )
    Parameters = SsspParameters

    def select(self, graph: RoutingGraph) -> RouteTable:
        """Choose for each pair the shortest legal route that is lightest on the loads so far.

        If no pair has more than `MOST_ROUTES` routes, they are listed and compared with each other:
        O(V + E) a class of sources and O(hops of the routes) a round. Otherwise each round grows a
        tree of O(V + E), between P and P² in all. Both ways choose the same routes.
        """
        arrays_in_tie_order = tie_order(graph, self.parameters.tie_seed)
        choices = route_choices(graph, MOST_ROUTES, arrays_in_tie_order)
        if choices.complete:
            return self._choose_listed(graph, choices)
        return self._choose_by_trees(graph)

    def _choose_listed(self, graph: RoutingGraph, choices: RouteChoices) -> RouteTable:
        """Choose among the listed routes of each pair; the counters are those of the trees."""
        options: SsspParameters = self.parameters
        topology, symmetry = graph.topology, choices.symmetry
        groups = self._group_routes(graph, choices)
        load, unique_trees = np.zeros(topology.num_channels, dtype=np.int64), 0
        if options.unique_first:
            # Stage 1 needs no trees, because a single route does not depend on loads.
            load += choices.single_load[symmetry.channel_class]
            # Count the trees of Algorithm 3: one for each source with such a pair. A representative
            # stands for as many sources as there are translations.
            single = (choices.arrays.routes == 1) & (choices.arrays.length > 0)
            shape = (len(symmetry.representatives), len(topology.endpoints))
            unique_trees = int(single.reshape(shape).any(axis=1).sum()) * symmetry.order
        # The number of each pair's route. The kernel updates those of the grouped pairs; a single
        # route is number 0.
        chosen = np.zeros(len(topology.endpoints) ** 2, dtype=np.int32)
        group_trees = choose_routes_sssp(
            groups, load, topology.demand, backwards_at(graph, options.ties), chosen
        )
        del groups  # it may be larger than the table
        lengths, hops = choices.table(chosen, by_pair=True)
        counters = {"unique_trees": unique_trees, "group_trees": group_trees}
        return RouteTable.from_lengths(topology, lengths, hops, counters=counters)

    def _group_routes(self, graph: RoutingGraph, choices: RouteChoices) -> GroupedRoutes:
        """Sort pairs into groups of equal turns, length and source (stage 2), with their routes."""
        options: SsspParameters = self.parameters
        ends, symmetry = graph.topology.endpoints, choices.symmetry
        order = endpoint_order(graph, options.tie_seed)
        # 1. The groups, and where each begins among all pairs and among all hops.
        source, length, start, row_rank, next_pair, next_hop, num_hops = cut_groups(
            choices.arrays,
            symmetry.source_class[ends],
            options.unique_first,
            graph.topology.channel_direction,
            order,
        )
        # 2. Empty arrays for their routes. Numpy makes them, because its arrays, unlike those of
        #    compiled code, come in few large pages.
        groups = GroupedRoutes(
            source=source,
            length=length,
            start=start,
            target=np.empty(start[-1], dtype=np.int32),
            routes=np.empty(start[-1], dtype=np.int32),
            hops=np.empty(num_hops, dtype=np.uint32),
        )

        # 3. Threads fill in the routes of different sources, which share no part of the arrays.
        def fill(first: int, last: int) -> None:
            fill_groups(
                choices.arrays,
                symmetry.arrays,
                endpoints=ends,
                order=order,
                row_rank=row_rank,
                next_entry=(next_pair, next_hop),
                source_range=(first, last),
                groups=groups,
            )

        over_ranges(fill, len(ends))
        return groups

    def _choose_by_trees(self, graph: RoutingGraph) -> RouteTable:
        """Choose routes by growing trees, for graphs with too many routes to be listed."""
        options: SsspParameters = self.parameters
        topology = graph.topology
        search = search_arrays(graph, options)
        has_hops = search.lengths > 0
        unique = has_hops & options.unique_first
        unique &= count_routes(search.graph, topology.endpoints) == 1
        turns = fewest_turns(
            search.graph, topology.endpoints, topology.channel_direction, len(topology.directions)
        )
        pairs, group_start = group_pairs(has_hops & ~unique, turns, search.lengths, search.order)
        hops, unique_trees, group_trees = build_routes_sssp(search, unique, pairs, group_start)
        counters = {"unique_trees": unique_trees, "group_trees": group_trees}
        return RouteTable.from_lengths(topology, search.lengths, hops, counters=counters)


def group_pairs(
    grouped: BoolArray, turns: Int32Array, lengths: Int32Array, order: Int64Array
) -> tuple[Int64Array, Int64Array]:
    """Sort pairs by turns, then length, then source, and cut between groups (stage 2).

    Parameters
    ----------
    grouped : bool array, shape (P, P)
        Pairs to sort; the others are left out.
    turns, lengths : int32 array, shape (P, P)
    order : int64 array, shape (P,)
        Endpoints in tie order; it decides among sources and among targets.

    Returns
    -------
    pairs : int64 array, shape (M,)
        Source index · P + target index.
    group_start : int64 array, shape (G + 1,)
        Group g has the pairs ``pairs[group_start[g]:group_start[g + 1]]``.
    """
    num_endpoints = len(order)
    # position of each endpoint in `order`
    tie_rank = np.argsort(order)
    source, target = np.nonzero(grouped)
    keys = np.stack(
        [turns[source, target], lengths[source, target], tie_rank[source], tie_rank[target]]
    ).astype(np.int64)
    sorting = np.lexsort(keys[::-1])  # the last key counts first
    # a group ends where turns, length or source change
    group_keys = keys[:3, sorting]
    cuts = np.flatnonzero(np.any(group_keys[:, 1:] != group_keys[:, :-1], axis=0)) + 1
    pairs = (source * num_endpoints + target)[sorting]
    # without pairs there is no group, and the only start is 0
    ends = [len(pairs)] if len(pairs) else []
    return pairs.astype(np.int64), np.concatenate(([0], cuts, ends)).astype(np.int64)
