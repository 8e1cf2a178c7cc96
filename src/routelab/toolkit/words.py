"""Routes of all pairs and the words that they follow, searched together.

A word is a sequence of channels with virtual channels, and a route that is a subsequence of it is
legal. The routing ``words`` explains the search; ``ib-balanced`` grows trees inside its words.
"""

from __future__ import annotations

from collections import deque
from math import ceil
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from routelab.api import RouteTable, RoutingGraph, Topology
from routelab.api.topology import BoolArray, Float64Array, Int32Array, Int64Array
from routelab.kernels.graph import route_lengths
from routelab.kernels.words import (
    broken_rows,
    count_turns,
    exchange,
    lift_blocks,
    move_elements,
    sweep,
)
from routelab.toolkit.irregular.roots import root_of
from routelab.toolkit.irregular.trees import levels_from

TOLLS = (1.5, 6.0)
"""Toll of a break in the first and in the last round, in hops."""

PASSES = 3
"""How often a route may follow the word while words change."""

SHARPNESS = (2.0, 40.0)
"""β times the mean load, in the first and in the last round."""

HEAT, HEAT_ENDS = 1.5, 0.8
"""Deviation of the logarithm of a turn's weight at first, and when none is left, in `rounds`."""

NOISE = 0.2
"""Largest random surcharge of a price, relative to it."""

EMPHASIS = 1.05
"""Factor by which the most loaded channels get dearer in each legal round."""

REQUIRED_WEIGHT = 1e3
"""Weight of turns that words must contain, relative to the greatest of the others."""

LARGE = 200_000
"""Number of pairs above which a round exchanges the routes of a part of them."""


class WordSearch:
    """Routes of all pairs of endpoints, and words.

    Parameters
    ----------
    topology : Topology
        All its links have channels in both directions.
    vcs : int
        Virtual channels.
    per : {"pair", "hop"}
        Whether a packet keeps its virtual channel.
    seed : int
    rounds, legal_rounds : int
        Rounds in which words change, and later ones with routes that break no word.

    Attributes
    ----------
    lower_bound : int
        Mean load of shortest routes, rounded up: no routes have a smaller maximum load.
    best_load : int
        Least maximum load of legal routes so far.
    """

    def __init__(
        self,
        topology: Topology,
        vcs: int,
        *,
        per: Literal["pair", "hop"] = "pair",
        seed: int = 0,
        rounds: int = 400,
        legal_rounds: int = 200,
    ) -> None:
        self._topology, self._vcs, self._per = topology, vcs, per
        self._rounds, self._legal_rounds = rounds, legal_rounds
        self._random = np.random.default_rng(seed)
        switches, channels = topology.num_switches, topology.num_channels
        self._layers = vcs if per == "pair" else 1
        self._places = vcs * channels // self._layers

        # 1. Rows: pairs of different endpoints. Their demand is the weight of a route.
        ends = topology.endpoints
        source, target = np.repeat(ends, len(ends)), np.tile(ends, len(ends))
        demand = topology.demand[:, None] * topology.demand
        self._differ = source != target
        self._ends = source[self._differ], target[self._differ]
        self._weight = demand.reshape(-1)[self._differ]

        # 2. Words: random orders, or up*/down* K times.
        if per == "pair":
            orders = [self._random.permutation(channels) for _ in range(vcs)]
        else:
            orders = [_up_down_order(topology)] * vcs
        self._place: Float64Array = np.empty(vcs * channels)
        for vc, order in enumerate(orders):
            self._place[vc * channels + order] = vc * channels + np.arange(channels)
        self._required_turns: Int64Array | None = None

        # 3. Memory of the sweeps.
        square = self._layers, switches, switches
        self._cheapest = np.empty(square, dtype=np.float32)
        self._end = np.empty(square, dtype=np.int32)
        passes = PASSES if rounds > 1 else 1
        self._previous = np.empty((self._layers, passes * self._places, switches), dtype=np.int32)
        self._scan = np.empty(square[1:], dtype=np.float32), np.empty(square[1:], dtype=np.int32)

        # 4. Routes.
        lengths = route_lengths(RoutingGraph.of_walks(topology).arrays, ends)
        lengths = lengths.reshape(-1)[self._differ]
        reached = lengths >= 0
        hops = int(lengths.max(initial=0))
        self.lower_bound = ceil(int((self._weight * lengths)[reached].sum()) / max(channels, 1))
        self._routes: Int32Array = np.zeros((len(lengths), 2 * hops + 8), dtype=np.int32)
        self._length: Int32Array = np.zeros(len(lengths), dtype=np.int32)
        self._reached = reached
        self._load: Int64Array = np.zeros(channels, dtype=np.int64)
        self._emphasis: Float64Array = np.ones(channels)
        self._turn_weight: Float64Array = self._weight.astype(np.float64)
        self._mean_load = max(2.5 * self._weight.sum() / max(channels, 1), 1.0)
        self.best_load = int(self._weight.sum()) * (2 * hops + 8) + 1
        self._best: tuple[Int32Array, Int32Array, Float64Array] | None = None
        self._number = 0

        # 5. Channels that leave a switch, numbered, to count turns.
        start, out = topology.outgoing
        self._degree = int(np.diff(start).max(initial=1))
        self._slot: Int64Array = np.empty(channels, dtype=np.int64)
        self._slot[out] = np.arange(channels) - np.repeat(start[:-1], np.diff(start))
        self._out: Int64Array = np.full((switches, self._degree), -1, dtype=np.int64)
        self._out[topology.channel_source, self._slot] = np.arange(channels)

    # --- rounds ---------------------------------------------------------------------------------

    def run(self) -> None:
        """Run all rounds, or until the maximum load is proven to be the least."""
        for number in range(self._rounds + self._legal_rounds):
            self._round(number)
            if self.best_load <= self.lower_bound:
                break

    def _round(self, number: int) -> None:
        """Sweep, exchange and reorder once."""
        progress = min(number / self._rounds, 1.0)
        legal = progress == 1
        broken = self._sweep_and_exchange(number, progress, legal=legal)
        self._number = number + 1
        if number == 2:
            self._mean_load = max(_mean(self._load), 1.0)
        if broken.any() and self._required_turns is None and (legal or self._per == "pair"):
            self._required_turns = self._tree_turns()
        if progress > 0.6:
            # Routes that stay broken count more and more in the words.
            self._turn_weight *= 0.98
            self._turn_weight[broken] *= 1.3
            np.clip(self._turn_weight, self._weight, 1e3 * self._weight, out=self._turn_weight)
        if legal and not broken.any():
            top = int(self._load.max(initial=0))
            self._emphasis[self._load >= min(self.best_load, top)] *= EMPHASIS
            self._emphasis /= _mean(self._emphasis)
            if top < self.best_load:
                self.best_load = top
                self._best = self._routes.copy(), self._length.copy(), self._place.copy()
            if top <= self.lower_bound:
                return
        self._reorder(HEAT * max(0.0, 1 - progress / HEAT_ENDS))

    def _sweep_and_exchange(self, number: int, progress: float, *, legal: bool) -> BoolArray:
        """Offer routes to pairs; return which pairs break their word."""
        topology = self._topology
        first, last = SHARPNESS
        sharpness = first * (last / first) ** progress / self._mean_load
        large = len(self._length) > LARGE
        cheap, dear = (2.0, 5.0) if large else TOLLS
        toll = cheap * (dear / cheap) ** progress
        passes = 1 if legal or self._rounds == 1 else PASSES

        # 1. Prices: a hop, and the load. While words change, loads count more than hops.
        top = int(self._load.max(initial=0))
        loads = np.arange(2 * top + int(16 * self._mean_load) + 1)
        cost = np.exp(np.minimum(sharpness * (loads - top), 60.0))
        cost /= _mean(self._emphasis * cost[self._load])
        cost += 1.0 if legal else 0.2
        price = self._emphasis * cost[self._load]

        # 2. Sweeps.
        words = self._words()
        for layer, word in enumerate(words):
            channel = word % topology.num_channels
            noisy = price[channel] * (1 + NOISE * self._random.random(len(word)))
            sweep(
                *(topology.channel_source[channel], topology.channel_target[channel]),
                *(noisy.astype(np.float32), passes, np.float32(toll)),
                *(self._cheapest[layer], self._end[layer], self._previous[layer], *self._scan),
            )

        # 3. Exchange. On a large network the words must not change too much in a round.
        share = 0.3 if large and number > 1 else 1.0
        rows = self._rows(share)
        if share < 1:
            rows = np.concatenate((rows, np.flatnonzero(self._broken())))
        exchange(
            *(rows, self._ends, self._weight, words),
            *((self._cheapest, self._end, self._previous), self._place, cost, self._emphasis),
            *(toll, legal, self._routes, self._length, self._load),
        )
        return self._broken()

    def _words(self) -> Int32Array:
        """Return the elements of each word in order; int32, shape (K, C) or (1, K C)."""
        place = self._place.reshape(self._layers, self._places)
        order = np.argsort(place, axis=1, kind="stable")
        words: Int32Array = (order + self._places * np.arange(self._layers)[:, None]).astype(
            np.int32
        )
        return words

    def _broken(self) -> BoolArray:
        """Return which pairs that a path joins have no route, or one that breaks its word."""
        broken: BoolArray = broken_rows(self._routes, self._length, self._place) & self._reached
        return broken

    def _rows(self, share: float) -> Int64Array:
        """Return a random share of the rows; rows of near sources together, for the cache."""
        count = len(self._length)
        size = max(1, 16 * count // max(1, len(self._topology.endpoints)))
        starts = self._random.permutation(np.arange(0, count, size))
        blocks = (np.arange(start, min(start + size, count)) for start in starts)
        chosen = [self._random.permutation(b)[: ceil(share * len(b))] for b in blocks]
        return np.concatenate([*chosen, np.empty(0, dtype=np.int64)])

    def _reorder(self, heat: float) -> None:
        """Suit the words to the routes: few descending turns, weighted by their routes."""
        # 1. The turns that routes use, by weight. Those that a word must contain count more than
        #    the others. Where virtual channels share a word, a turn has that of its second channel,
        #    too.
        channels, vcs = self._topology.num_channels, self._vcs
        layers = vcs if self._layers == 1 and vcs > 1 else 1
        width = self._degree * layers
        turns = np.zeros(len(self._place) * width)
        count_turns(
            *(self._routes, self._length, self._turn_weight, self._slot),
            *(channels, self._degree, layers, turns),
        )
        if self._required_turns is not None:
            first, second = self._required_turns
            vc = second // channels if layers > 1 else 0
            turns[(first * self._degree + self._slot[second % channels]) * layers + vc] += (
                REQUIRED_WEIGHT * (1 + turns.max(initial=0))
            )
        # 2. Both elements of each turn, and its weight, changed at random while the words are hot.
        index = np.flatnonzero(turns)
        weight = turns[index] * np.exp(heat * self._random.standard_normal(len(index)))
        first, slot, vc = index // width, index % width // layers, index % layers
        following = self._out[self._topology.channel_target[first % channels], slot]
        second = following + channels * (vc if layers > 1 else first // channels)
        by_element = _turns_by_element(len(self._place), first, second, weight)

        # 3. Move each element to its best gap. Moves divide gaps, so a pass ends with whole
        #    numbers.
        for _ in range(2):
            order = self._random.permutation(len(self._place))
            move_elements(
                self._place, order, by_element, self._random.random((len(self._place), 2))
            )
            self._number_places()
        # 4. Repair turns that still descend, the heaviest first. A block follows all turns at
        #    first, which a cycle prevents, then those of some weight only. Turns that a word must
        #    contain form no cycle, so before that, blocks follow only what weighs about as much as
        #    they do.
        shares = (1e-9, 0.3) if self._required_turns is None else (0.5, 1e-9, 0.3)
        for share in shares:
            descending = np.flatnonzero(self._place[first] >= self._place[second])
            descending = descending[np.argsort(-weight[descending], kind="stable")]
            if self._required_turns is None:
                descending = descending[:3000]
            lift_blocks(
                *(self._place, first[descending], second[descending], weight[descending]),
                *(by_element, share),
            )

    def _number_places(self) -> None:
        """Replace the places by whole numbers in the same order, word by word."""
        self._place[np.argsort(self._place, kind="stable")] = np.arange(len(self._place))

    def _tree_turns(self) -> Int64Array:
        """Return the turns inside a spanning tree, in the last word; int64, shape (2, T).

        They form no cycle, so that a word can always contain them. Of the trees from some roots,
        take the one with fewest turns that descend now.
        """
        roots = self._random.permutation(self._topology.num_switches)[:16]
        trees = [_turns_of_tree(self._topology, int(root)) for root in roots]
        shift = (self._vcs - 1) * self._topology.num_channels
        return min(
            (tree + shift for tree in trees),
            key=lambda tree: np.count_nonzero(self._place[tree[0]] >= self._place[tree[1]]),
        )

    # --- result ---------------------------------------------------------------------------------

    @property
    def tree_channels(self) -> Int64Array:
        """Channels of the spanning tree whose turns are in the last word; empty if none was needed.

        All routes inside the tree are legal there.
        """
        if self._required_turns is None:
            return np.empty(0, dtype=np.int64)
        return np.unique(self._required_turns) % max(self._topology.num_channels, 1)

    def ranks(self) -> Int32Array:
        """Return the place of each channel in the word of each virtual channel; (vcs, C).

        For words of pairs.
        """
        assert self._best is not None
        place = self._best[2].reshape(self._vcs, -1)
        ranks: Int32Array = np.argsort(np.argsort(place, axis=1), axis=1).astype(np.int32)
        return ranks

    def table(self) -> RouteTable:
        """Return the best legal routes with their virtual channels."""
        topology = self._topology
        # The first or second legal round routes all pairs, inside the spanning tree if need be.
        assert self._best is not None
        routes, length, _ = self._best
        lengths = np.zeros(len(self._differ), dtype=np.int64)
        lengths[self._differ] = np.where(self._reached, length, -1)
        hops = routes[np.arange(routes.shape[1]) < length[:, None]]
        return RouteTable.from_lengths(
            topology,
            lengths,
            hops % max(topology.num_channels, 1),
            hop_vc=(hops // max(topology.num_channels, 1)).astype(np.int16),
            counters={"word_rounds": self._number},
        )


def _turns_by_element(
    count: int, first: Int64Array, second: Int64Array, weight: Float64Array
) -> tuple[Int64Array, Int64Array, Float64Array, NDArray[np.int8]]:
    """Return each turn at both of its elements; see `kernels.move_elements`."""
    owner = np.concatenate((first, second))
    other = np.concatenate((second, first))
    sense = np.repeat(np.array((1, -1), dtype=np.int8), len(first))
    by_owner = np.argsort(owner, kind="stable")
    start = np.searchsorted(owner[by_owner], np.arange(count + 1))
    both = np.concatenate((weight, weight))
    return start, other[by_owner], both[by_owner], sense[by_owner]


def _mean(values: Float64Array | Int64Array) -> float:
    """Return the mean of positive numbers; 1 without any, so that it can be divided by."""
    return float(values.mean()) if len(values) else 1.0


def _up_down_order(topology: Topology) -> Int64Array:
    """Return the channels in the order of up*/down* routes: up, farthest first, then down."""
    level = levels_from(topology, root_of(topology, "center", "words"))
    number = np.empty(topology.num_switches, dtype=np.int64)
    number[np.argsort(level, kind="stable")] = np.arange(topology.num_switches)
    source, target = topology.channel_source, topology.channel_target
    up = number[target] < number[source]
    order: Int64Array = np.argsort(
        np.where(up, -number[source], topology.num_switches + number[source]), kind="stable"
    )
    return order


def _turns_of_tree(topology: Topology, root: int) -> Int64Array:
    """Return the turns inside a breadth-first forest, the first tree from a root; shape (2, T)."""
    target = topology.channel_target.tolist()
    start, out = (array.tolist() for array in topology.outgoing)
    opposite = dict(topology.links.tolist()) | {b: a for a, b in topology.links.tolist()}
    reached: set[int] = set()
    arriving: list[list[int]] = [[] for _ in range(topology.num_switches)]
    for first in [root, *range(topology.num_switches)]:
        if first in reached:
            continue
        reached.add(first)
        queue = deque((first,))
        while queue:
            switch = queue.popleft()
            for channel in out[start[switch] : start[switch + 1]]:
                if target[channel] not in reached:
                    reached.add(target[channel])
                    queue.append(target[channel])
                    arriving[target[channel]].append(channel)
                    arriving[switch].append(opposite[channel])
    # The channels of the tree that leave a switch are opposite to those that arrive there.
    turns = [
        (a, opposite[b]) for channels in arriving for a in channels for b in channels if a != b
    ]
    return np.array(turns, dtype=np.int64).reshape(-1, 2).T
