"""Tables for fewer lanes than unrestricted trees need.

    solution on more lanes      trees, and an order of the channels for each lane
    -> first lane               an order that the routes inside a spanning tree follow, and the most
                                loaded turns of the trees where they can
    -> other lanes              orders by first fit, for the routes that are illegal on the first
    -> trees                    those with illegal routes grow again inside these orders
    -> balanced, then improved  by moves of routes, and by new orders that all routes follow

The *peak* of trees is their largest load, relative to its channel's capacity.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from routelab.api import RouteTable, Topology
from routelab.api.topology import Int8Array, Int32Array, Int64Array
from routelab.kernels.forwarding.trees import Legality
from routelab.kernels.forwarding.turns import (
    choose_layers,
    order_channels,
    order_channels_by_turns,
    turn_loads,
)
from routelab.toolkit.forwarding import (
    TreeSearch,
    all_routes,
    by_destination,
    first_fitting_layers,
    legality_of_orders,
    table_of_trees,
)
from routelab.toolkit.words import WordSearch
from routelab_plugins.routing.ib_balanced.start import (
    center,
    order_of_trees,
    spanning_trees_from,
)

ROOTS = 32
"""Random roots of spanning trees that are tried after the center."""
GROUP = 8
"""On one lane, spanning trees are sorted in groups of this size, the most promising first."""
DRAWS = 60
"""Largest number of new orders of channels."""
MOST_SWITCHES_FOR_WORDS = 300
"""Largest network for which words are searched, in some seconds."""
WORD_ROUNDS, LEGAL_ROUNDS = 400, 100
"""Rounds of the search for words."""


@dataclass(frozen=True)
class Solution:
    """Trees, and the orders of channels that make their lanes free of deadlock.

    Attributes
    ----------
    trees : int32 array, shape (T, S)
        Next channel of each switch to each terminal; −1 at the terminal's switch.
    peak : float
        Largest load relative to its channel's capacity.
    ranks : int32 array, shape (lanes, C)
        An order of the channels for each lane; each route follows at least one of them.
    """

    trees: Int32Array
    peak: float
    ranks: Int32Array


class LaneSearch:
    """Fit trees into fewer and fewer lanes.

    Parameters
    ----------
    search : TreeSearch
    fallback : int32 array, shape (T, S)
        Trees that need one lane only; no result has a larger peak.
    """

    def __init__(self, search: TreeSearch, fallback: Int32Array) -> None:
        self.search, self.fallback = search, fallback
        fallback_ranks = order_of_trees(search, fallback)
        assert fallback_ranks is not None
        self.fallback_ranks = fallback_ranks
        fallback_load, _ = search.loads(all_routes(search.fabric), fallback)
        self.fallback_peak = search.peak(fallback_load)

    def reduce_lanes(self, previous: Solution, lanes: int, *, with_words: bool) -> Solution:
        """Return a solution on fewer lanes; its peak is not below that of the previous one.

        Parameters
        ----------
        previous : Solution
            Solution on more lanes.
        lanes : int
            Number of lanes of the new solution.
        with_words : bool
            Whether to search for words, too, which takes some seconds.
        """
        # 1. Start from several spanning trees, but spend at most about a quarter of the moves of
        #    one search on them all. Starts below the previous peak are skipped: fewer lanes must
        #    not have a smaller load than more lanes have.
        search = self.search
        best = Solution(self.fallback, self.fallback_peak, self.fallback_ranks)
        last_move = search.tried + search.moves // 4
        for trees, ranks in self._generate_starts(previous, lanes):
            legality = legality_of_orders(search.fabric, ranks)
            load, _ = search.loads(legality, trees)
            if search.peak(load) >= previous.peak:
                trees, peak = search.balance(legality, trees, floor=previous.peak, rounds=1)
                best = min(best, Solution(trees, peak, ranks), key=lambda solution: solution.peak)
            if best.peak <= previous.peak or search.tried > last_move:
                break
        # 2. Draw new orders of the channels.
        solution = balance_in_new_orders(search, best, previous.peak)
        # 3. Grow trees inside words, if that may still help.
        is_small = search.topology.num_switches <= MOST_SWITCHES_FOR_WORDS
        if with_words and is_small and solution.peak > previous.peak:
            inside_words = self._solve_inside_words(previous, lanes)
            if inside_words is not None and inside_words.peak < solution.peak:
                solution = inside_words
        return solution

    def _solve_inside_words(self, previous: Solution, lanes: int) -> Solution | None:
        """Return a solution whose routes follow words; None if some route follows none.

        A *word* is an order of the channels; the search of the routing `words` finds one for each
        lane. All turns of one spanning tree are legal in the last word, so that routes inside that
        tree replace trees with dead ends.
        """
        search = self.search
        words = WordSearch(
            search.topology, lanes, seed=search.seed, rounds=WORD_ROUNDS, legal_rounds=LEGAL_ROUNDS
        )
        words.run()
        ranks = words.ranks()
        legality = legality_of_orders(search.fabric, ranks)
        trees = search.no_trees()
        # `grow` updates `trees`; those that it returns lack routes
        trees_with_dead_ends = search.grow(legality, trees, waiting=np.arange(len(trees)))
        for tree in trees_with_dead_ends.tolist():
            target = int(search.topology.terminal_switch[tree])
            trees[tree] = _routes_inside_tree(search.topology, words.tree_channels, target)
        _, illegal_trees = search.loads(legality, trees)
        if len(illegal_trees):
            return None
        trees, peak = search.balance(legality, trees, floor=previous.peak, rounds=1)
        return balance_in_new_orders(search, Solution(trees, peak, ranks), previous.peak)

    def _generate_starts(
        self, previous: Solution, lanes: int
    ) -> Iterator[tuple[Int32Array, Int32Array]]:
        """Yield trees to start from, with an order of the channels for each lane that they follow.

        There is one start for each of several spanning trees. The order of the first lane is that
        of `_generate_first_lanes`; the others come from first fit.
        """
        search = self.search
        table = table_of_trees(search.topology, previous.trees)
        paths = by_destination(table)
        group_size = GROUP if lanes == 1 else 1
        for spanning_routes, ranks in self._generate_first_lanes(previous, group_size):
            legality = legality_of_orders(search.fabric, ranks)
            # 1. Previous paths that are illegal on the first lane decide the orders of the others.
            if lanes > 1:
                layer, _ = choose_layers(search.fabric, legality, previous.trees)
                is_illegal = layer_of_paths(table, layer) < 0
                illegal_paths = paths[is_illegal[paths]]
                _, other_ranks = first_fitting_layers(table, illegal_paths, limit=lanes - 1)
                ranks = np.concatenate((ranks, other_ranks))
                legality = legality_of_orders(search.fabric, ranks)
            # 2. Trees with routes that are illegal on all lanes grow again in `trees`. Those that
            #    end before all switches have joined give way to routes inside the spanning tree,
            #    which are legal on the first lane.
            trees = previous.trees.copy()
            _, illegal_trees = search.loads(legality, trees)
            trees_with_dead_ends = search.grow(legality, trees, waiting=illegal_trees)
            trees[trees_with_dead_ends] = spanning_routes[trees_with_dead_ends]
            yield trees, ranks

    def _generate_first_lanes(
        self, previous: Solution, group_size: int
    ) -> Iterator[tuple[Int32Array, Int32Array]]:
        """Yield the routes inside spanning trees, with an order of the channels for the first lane.

        All turns of these routes are legal in the order. So are the most loaded turns of the
        previous trees: they are added by falling load, and a turn that would close a cycle with
        those before it is left out. Of each `group_size` spanning trees, those whose orders allow
        the largest part of the previous load come first.
        """
        search, topology = self.search, self.search.topology
        unrestricted = all_routes(search.fabric)
        previous_load = turn_loads(search.fabric, unrestricted, previous.trees)
        rng = np.random.default_rng(search.seed)
        roots = [center(topology), *rng.permutation(topology.num_switches)[:ROOTS].tolist()]
        for first in range(0, len(roots), group_size):
            candidates = []
            for root in roots[first : first + group_size]:
                spanning_routes = spanning_trees_from(search, root)
                is_in_tree = turn_loads(search.fabric, unrestricted, spanning_routes) > 0
                # The turns inside the spanning tree, then all others by falling load: `lexsort`
                # takes the last key first, and False before True. Turns that none use are left out.
                turns = np.lexsort((-previous_load, ~is_in_tree))
                turns = turns[(previous_load > 0)[turns] | is_in_tree[turns]]
                ranks = order_channels_by_turns(search.fabric, turns)[None]  # one row: for one lane
                is_allowed = legality_of_orders(search.fabric, ranks).turns > 0
                allowed_load = int(previous_load[is_allowed].sum())
                candidates.append((allowed_load, spanning_routes, ranks))
            candidates.sort(key=lambda candidate: -candidate[0])  # by allowed load
            for _, spanning_routes, ranks in candidates:
                yield spanning_routes, ranks


def _routes_inside_tree(topology: Topology, channels: Int64Array, target: int) -> Int32Array:
    """Return the next channel of each switch to a target, inside a spanning tree.

    Parameters
    ----------
    topology : Topology
    channels : int64 array
        Channels of the spanning tree, in both directions.
    target : int

    Returns
    -------
    next_channel : int32 array, shape (S,)
        −1 at the target, and at switches that the tree does not join with it.
    """
    next_channel = np.full(topology.num_switches, -1, dtype=np.int32)
    channels_into: dict[int, list[int]] = {}
    for channel in channels.tolist():
        channels_into.setdefault(int(topology.channel_target[channel]), []).append(channel)
    queue = deque((target,))
    while queue:
        for channel in channels_into.get(queue.popleft(), []):
            source = int(topology.channel_source[channel])
            if source != target and next_channel[source] < 0:
                next_channel[source] = channel
                queue.append(source)
    return next_channel


def balance_in_new_orders(search: TreeSearch, solution: Solution, floor: float) -> Solution:
    """Draw new orders of the channels that all routes follow, and balance the trees inside them.

    Other orders allow other moves of routes, so that the peak may fall; it never rises. The search
    ends at a peak of `floor`, after `DRAWS` draws, or after about a quarter of the moves of one
    search.
    """
    rng = np.random.default_rng(search.seed)
    trees, peak, ranks = solution.trees, solution.peak, solution.ranks
    legality = legality_of_orders(search.fabric, ranks)
    last_move = search.tried + search.moves // 4
    for _ in range(DRAWS):
        if peak <= floor or search.tried > last_move:
            break
        new_ranks = _draw_orders(search, legality, trees, len(ranks), rng)
        new_legality = legality_of_orders(search.fabric, new_ranks)
        new_trees, new_peak = search.balance(new_legality, trees, floor, rounds=1)
        # equal peaks are accepted, so that the next draw starts from other trees
        if new_peak <= peak:
            trees, peak, ranks, legality = new_trees, new_peak, new_ranks, new_legality
    return Solution(trees, peak, ranks)


def _draw_orders(
    search: TreeSearch, legality: Legality, trees: Int32Array, lanes: int, rng: np.random.Generator
) -> Int32Array:
    """Return a random order of the channels for each lane that the routes on the lane follow.

    Each route is on the first lane where `legality` allows it. Shape (lanes, C).
    """
    _, used_layers = choose_layers(search.fabric, legality, trees)
    ranks = []
    for lane in range(lanes):
        # where the routes leave a choice, the channel with the smallest random number comes next
        priority = rng.permutation(search.topology.num_channels)
        ranks.append(
            order_channels(search.fabric, used_layers, layer=np.int64(lane), priority=priority)
        )
    return np.array(ranks, np.int32)


def lanes_of(search: TreeSearch, solution: Solution, table: RouteTable) -> Int32Array:
    """Return the lane of each path of the table of `solution`; shape (K,)."""
    legality = legality_of_orders(search.fabric, solution.ranks)
    layer, _ = choose_layers(search.fabric, legality, solution.trees)
    return layer_of_paths(table, layer).astype(np.int32)


def layer_of_paths(table: RouteTable, layer: Int8Array) -> Int8Array:
    """Return the layer of each path of a table; int8, shape (K,).

    Parameters
    ----------
    table : RouteTable
    layer : int8 array, shape (S, T)
        Layer of the route from each switch to each terminal, as `choose_layers` returns it.
    """
    pair_layer = layer[table.topology.endpoints].reshape(-1)
    path_layer: Int8Array = pair_layer[table.path_pair]
    return path_layer
