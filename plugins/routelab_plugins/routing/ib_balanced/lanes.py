"""Tables for fewer lanes than unrestricted trees need."""

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
    order_of_turns,
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
"""Most spanning trees to begin with."""
GROUP = 8
"""Spanning trees of which the most promising is first on one lane."""
DRAWS = 60
"""Largest number of new orders of channels."""
MOST_FOR_WORDS = 300
"""Largest number of switches of a network for which words are searched, in some seconds."""
WORD_ROUNDS, LEGAL_ROUNDS = 400, 100
"""Rounds of the search for words."""


@dataclass(frozen=True)
class Solution:
    """Trees on some lanes.

    Attributes
    ----------
    trees : int32 array, shape (T, S)
    peak : float
        Largest load relative to its channel's capacity.
    ranks : int32 array, shape (lanes, C)
        An order of the channels for each lane; each route follows at least one of them.
    """

    trees: Int32Array
    peak: float
    ranks: Int32Array


class LaneSearch:
    """Fit a table into fewer and fewer lanes.

    Parameters
    ----------
    search : TreeSearch
    fallback : int32 array, shape (T, S)
        Trees that need one lane only; no result is worse.
    """

    def __init__(self, search: TreeSearch, fallback: Int32Array) -> None:
        self.search, self.fallback = search, fallback
        rank = order_of_trees(search, fallback)
        assert rank is not None
        self.rank = rank
        self.fallback_peak = search.peak(search.loads(all_routes(search.fabric), fallback)[0])

    def fewer_lanes(self, more: Solution, lanes: int, *, with_words: bool) -> Solution:
        """Return a solution on fewer lanes; its largest load is not smaller.

        Parameters
        ----------
        more : Solution
            With more lanes.
        lanes : int
        with_words : bool
            Whether to search for words, too, which takes some seconds.
        """
        search = self.search
        least = Solution(self.fallback, self.fallback_peak, self.rank)
        end = search.tried + search.moves // 4
        for trees, ranks in self._starts(more, lanes):
            legality = legality_of_orders(search.fabric, ranks)
            if search.peak(search.loads(legality, trees)[0]) >= more.peak:
                candidate = Solution(*search.balance(legality, trees, more.peak, rounds=1), ranks)
                least = min(least, candidate, key=lambda solution: solution.peak)
            if least.peak <= more.peak or search.tried > end:
                break
        solution = improve(search, least, more.peak)
        is_small = search.topology.num_switches <= MOST_FOR_WORDS
        if with_words and is_small and solution.peak > more.peak:
            inside_words = self._inside_words(more, lanes)
            if inside_words is not None and inside_words.peak < solution.peak:
                solution = inside_words
        return solution

    def _inside_words(self, more: Solution, lanes: int) -> Solution | None:
        """Return trees inside the words of the routing `words`; None if a tree has a dead end."""
        search = self.search
        words = WordSearch(
            search.topology, lanes, seed=search.seed, rounds=WORD_ROUNDS, legal_rounds=LEGAL_ROUNDS
        )
        words.run()
        ranks = words.ranks()
        legality = legality_of_orders(search.fabric, ranks)
        trees = search.no_trees()
        for tree in search.grow(legality, trees, np.arange(len(trees))).tolist():
            target = int(search.topology.terminal_switch[tree])
            trees[tree] = _tree_inside(search.topology, words.tree_channels, target)
        if len(search.loads(legality, trees)[1]):
            return None
        solution = Solution(*search.balance(legality, trees, more.peak, rounds=1), ranks)
        return improve(search, solution, more.peak)

    def _starts(self, more: Solution, lanes: int) -> Iterator[tuple[Int32Array, Int32Array]]:
        """Yield trees, and orders of the channels that they follow, from several spanning trees.

        The routes inside a spanning tree replace trees with dead ends; they are legal on the first
        lane. The other lanes are filled by first fit.
        """
        search = self.search
        table = table_of_trees(search.topology, more.trees)
        order = by_destination(table)
        for inside, ranks in self._first_lanes(more, GROUP if lanes == 1 else 1):
            legality = legality_of_orders(search.fabric, ranks)
            if lanes > 1:
                layer, _ = choose_layers(search.fabric, legality, more.trees)
                unplaced = order[layer_of_paths(table, layer)[order] < 0]
                _, other_ranks = first_fitting_layers(table, unplaced, lanes - 1)
                ranks = np.concatenate((ranks, other_ranks))
                legality = legality_of_orders(search.fabric, ranks)
            trees = more.trees.copy()
            _, illegal = search.loads(legality, trees)
            dead = search.grow(legality, trees, illegal)
            trees[dead] = inside[dead]
            yield trees, ranks

    def _first_lanes(self, more: Solution, group: int) -> Iterator[tuple[Int32Array, Int32Array]]:
        """Yield the routes inside spanning trees, and an order of the channels that they follow.

        The order also follows the most loaded turns of the trees on more lanes, each unless those
        before it forbid it. In a group, the order that keeps most of their load is first.
        """
        search, topology = self.search, self.search.topology
        free = all_routes(search.fabric)
        load = turn_loads(search.fabric, free, more.trees)
        rng = np.random.default_rng(search.seed)
        roots = [center(topology), *rng.permutation(topology.num_switches)[:ROOTS].tolist()]
        for first in range(0, len(roots), group):
            candidates = []
            for root in roots[first : first + group]:
                inside = spanning_trees_from(search, root)
                always = turn_loads(search.fabric, free, inside) > 0
                turns = np.lexsort((-load, ~always))
                turns = turns[(load > 0)[turns] | always[turns]]
                rank = order_of_turns(search.fabric, turns)[None]
                allowed = legality_of_orders(search.fabric, rank).turns > 0
                candidates.append((int(load[allowed].sum()), inside, rank))
            candidates.sort(key=lambda candidate: -candidate[0])
            for _, inside, rank in candidates:
                yield inside, rank


def _tree_inside(topology: Topology, channels: Int64Array, target: int) -> Int32Array:
    """Return the channel out of each switch towards a target, over some channels that form a tree.

    The channel of the target, and of switches that the tree does not join with it, is -1.
    """
    tree = np.full(topology.num_switches, -1, dtype=np.int32)
    arriving: dict[int, list[int]] = {}
    for channel in channels.tolist():
        arriving.setdefault(int(topology.channel_target[channel]), []).append(channel)
    waiting = deque((target,))
    while waiting:
        for channel in arriving.get(waiting.popleft(), []):
            source = int(topology.channel_source[channel])
            if source != target and tree[source] < 0:
                tree[source] = channel
                waiting.append(source)
    return tree


def improve(search: TreeSearch, solution: Solution, floor: float) -> Solution:
    """Balance trees inside the orders of their lanes, and draw new orders that they follow."""
    rng = np.random.default_rng(search.seed)
    trees, peak, ranks = solution.trees, solution.peak, solution.ranks
    legality = legality_of_orders(search.fabric, ranks)
    end = search.tried + search.moves // 4
    for _ in range(DRAWS):
        if peak <= floor or search.tried > end:
            break
        drawn = _draw_orders(search, legality, trees, len(ranks), rng)
        new_legality = legality_of_orders(search.fabric, drawn)
        new_trees, reached = search.balance(new_legality, trees, floor, rounds=1)
        if reached <= peak:
            trees, peak, ranks, legality = new_trees, reached, drawn, new_legality
    return Solution(trees, peak, ranks)


def _draw_orders(
    search: TreeSearch, legality: Legality, trees: Int32Array, lanes: int, rng: np.random.Generator
) -> Int32Array:
    """Return random orders of the channels that the routes on each lane follow."""
    _, used = choose_layers(search.fabric, legality, trees)
    drawn = [
        order_channels(
            search.fabric, used, np.int64(lane), rng.permutation(search.topology.num_channels)
        )
        for lane in range(lanes)
    ]
    return np.array(drawn, np.int32)


def lanes_of(search: TreeSearch, solution: Solution, table: RouteTable) -> Int32Array:
    """Return the lane of each path of the table of `solution`; shape (K,)."""
    legality = legality_of_orders(search.fabric, solution.ranks)
    layer, _ = choose_layers(search.fabric, legality, solution.trees)
    return layer_of_paths(table, layer).astype(np.int32)


def layer_of_paths(table: RouteTable, layer: Int8Array) -> Int8Array:
    """Return the layer of each path from that of each switch and terminal; shape (K,)."""
    paths: Int8Array = layer[table.topology.endpoints].reshape(-1)[table.path_pair]
    return paths
