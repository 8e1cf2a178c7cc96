"""Routes of all pairs and the words that they follow, searched together.

A word is a sequence of channels with virtual channels, and a route that is a subsequence of it is
legal. The routing ``words`` explains the search; ``ib-balanced`` grows trees inside its words.

    element   a channel with a virtual channel, numbered ``vc * C + channel``
    position  a number by which the elements of a word are in order, perhaps no whole one; words are
              stored as the positions of all elements
    row       a pair of different endpoints, with its route as a list of elements
    turn      two elements that follow each other on a route
    break     a turn whose second position is not above the first: it *descends*, so that the route
              does not follow the word

If packets keep their virtual channel, there are `vcs` words of C elements, else one of ``vcs * C``.
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
    add_turn_weights,
    broken_rows,
    exchange,
    lift_blocks,
    move_elements,
    sweep,
)
from routelab.toolkit.irregular.roots import root_of
from routelab.toolkit.irregular.trees import levels_from

TOLLS = (1.5, 6.0)
"""Toll of a break in the first round and in the legal rounds, in hops."""

PASSES = 3
"""How often a route may pass through the word before the legal rounds; each time after the first is
a break."""

SHARPNESS = (2.0, 40.0)
"""β of the prices exp(β · load), times the mean load, in the first round and in the legal ones."""

HEAT, HEAT_ENDS = 1.5, 0.8
"""Standard deviation of the random change of a turn's weight (of its logarithm) in the first round,
and the share of `rounds` after which it has fallen to 0."""

NOISE = 0.2
"""Largest random surcharge of a price, relative to it."""

EMPHASIS = 1.05
"""Factor by which the most loaded channels get dearer in each legal round."""

REQUIRED_WEIGHT = 1e3
"""Weight of turns that words must contain, relative to the greatest of the others."""

LARGE = 200_000
"""Number of pairs above which a round exchanges the routes of only some of them."""


class WordSearch:
    """Search for routes of all pairs of endpoints and, alternately, for words that contain them.

    Each round has three steps. *Sweep*: find the cheapest routes inside the words. *Exchange*: each
    row takes its cheapest route unless that is dearer than its own. *Reorder*: change the words so
    that fewer routes break them. At first, a route may break a word for a toll; in the last rounds,
    the legal ones, rows take only routes without a break. `run` does all rounds; then `table` and
    `ranks` return the best legal routes and their words.

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
        Rounds in which routes may break words, and later ones that only offer routes without a
        break. The words change in both.

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
        self._num_words = vcs if per == "pair" else 1
        self._word_length = vcs * channels // self._num_words

        # 1. Rows: pairs of different endpoints. Their pairs of terminals are the weight of a route.
        ends = topology.endpoints
        source, target = np.repeat(ends, len(ends)), np.tile(ends, len(ends))
        demand = topology.demand[:, None] * topology.demand
        self._is_row = source != target  # of all P * P pairs
        self._ends = source[self._is_row], target[self._is_row]
        self._demand = demand.reshape(-1)[self._is_row]

        # 2. Words: random orders, or up*/down* once for each virtual channel.
        if per == "pair":
            orders = [self._random.permutation(channels) for _ in range(vcs)]
        else:
            orders = [_order_channels_up_down(topology)] * vcs
        self._position: Float64Array = np.empty(vcs * channels)
        for vc, order in enumerate(orders):
            self._position[vc * channels + order] = vc * channels + np.arange(channels)
        self._required_turns: Int64Array | None = None

        # 3. Results of the sweeps, by word, and their scratch arrays: what
        #    `routelab.kernels.words.sweep` overwrites.
        table_shape = self._num_words, switches, switches
        self._cheapest = np.empty(table_shape, dtype=np.float32)
        self._end = np.empty(table_shape, dtype=np.int32)
        passes = PASSES if rounds > 1 else 1
        positions = passes * self._word_length
        self._previous = np.empty((self._num_words, positions, switches), dtype=np.int32)
        self._sweep_distance = np.empty(table_shape[1:], dtype=np.float32)
        self._sweep_last = np.empty(table_shape[1:], dtype=np.int32)

        # 4. Routes, one per row in an array of fixed width, and their loads.
        lengths = route_lengths(RoutingGraph.of_walks(topology).arrays, ends)
        lengths = lengths.reshape(-1)[self._is_row]
        has_path = lengths >= 0
        longest = int(lengths.max(initial=0))
        self.lower_bound = ceil(int((self._demand * lengths)[has_path].sum()) / max(channels, 1))
        max_hops = 2 * longest + 8  # Longer routes are not offered.
        self._routes: Int32Array = np.zeros((len(lengths), max_hops), dtype=np.int32)
        self._length: Int32Array = np.zeros(len(lengths), dtype=np.int32)
        self._has_path = has_path
        self._load: Int64Array = np.zeros(channels, dtype=np.int64)
        self._emphasis: Float64Array = np.ones(channels)
        self._turn_weight: Float64Array = self._demand.astype(np.float64)
        # An estimate for the first rounds, as if a route had 2.5 hops; `_round` replaces it by the
        # mean of real loads.
        self._mean_load = max(2.5 * self._demand.sum() / max(channels, 1), 1.0)
        self.best_load = int(self._demand.sum()) * max_hops + 1  # more than any routes cause
        self._best: tuple[Int32Array, Int32Array, Float64Array] | None = None
        self._rounds_done = 0

        # 5. To count turns, number the channels that leave a switch, from slot 0: channel c is in
        #    ``_slot[c]`` of its source, and ``_channel_at[switch, slot]`` is the channel.
        out_start, out_channel = topology.outgoing
        degrees = np.diff(out_start)
        self._degree = int(degrees.max(initial=1))
        self._slot: Int64Array = np.empty(channels, dtype=np.int64)
        self._slot[out_channel] = np.arange(channels) - np.repeat(out_start[:-1], degrees)
        self._channel_at: Int64Array = np.full((switches, self._degree), -1, dtype=np.int64)
        self._channel_at[topology.channel_source, self._slot] = np.arange(channels)

    # --- rounds ---------------------------------------------------------------------------------

    def run(self) -> None:
        """Run all rounds, or until the maximum load is proven to be the least."""
        for number in range(self._rounds + self._legal_rounds):
            self._round(number)
            if self.best_load <= self.lower_bound:
                break

    def _round(self, number: int) -> None:
        """Sweep, exchange and reorder once; keep the routes if they are the best legal ones yet."""
        # From progress 1 on, rounds are legal: only routes without a break are offered.
        progress = min(number / self._rounds, 1.0)
        legal = progress == 1
        broken = self._sweep_and_exchange(number, progress, legal=legal)
        self._rounds_done = number + 1
        if number == 2:  # From now on, the mean of real loads instead of an estimate.
            self._mean_load = max(_mean_or_one(self._load), 1.0)
        # If rows are broken, the last word has to contain the turns of a spanning tree from now on:
        # routes inside the tree join all pairs of a connected network.
        if broken.any() and self._required_turns is None and (legal or self._per == "pair"):
            self._required_turns = self._tree_turns()
        if progress > 0.6:
            # Routes that stay broken count more and more when words change; others fade back.
            self._turn_weight *= 0.98
            self._turn_weight[broken] *= 1.3
            np.clip(self._turn_weight, self._demand, 1e3 * self._demand, out=self._turn_weight)
        # The most loaded channels get dearer, and the mean emphasis stays 1.
        if legal and not broken.any():
            max_load = int(self._load.max(initial=0))
            self._emphasis[self._load >= min(self.best_load, max_load)] *= EMPHASIS
            self._emphasis /= _mean_or_one(self._emphasis)
            if max_load < self.best_load:
                self.best_load = max_load
                self._best = self._routes.copy(), self._length.copy(), self._position.copy()
            if max_load <= self.lower_bound:
                return
        self._reorder(HEAT * max(0.0, 1 - progress / HEAT_ENDS))

    def _sweep_and_exchange(self, round_number: int, progress: float, *, legal: bool) -> BoolArray:
        """Find the cheapest routes inside the words, and offer them to the rows.

        Return which rows are broken afterwards, as `_mark_broken_rows`.
        """
        topology = self._topology
        first_sharpness, last_sharpness = SHARPNESS
        # Sharpness and toll grow by a constant factor each, from round to round.
        growth = (last_sharpness / first_sharpness) ** progress
        sharpness = first_sharpness * growth / self._mean_load
        is_large = len(self._length) > LARGE
        first_toll, last_toll = (2.0, 5.0) if is_large else TOLLS
        toll = first_toll * (last_toll / first_toll) ** progress
        # A route that passes through the word a second time has a break, so none does if legal.
        passes = 1 if legal or self._rounds == 1 else PASSES

        # 1. Price of a channel by its load: exp(sharpness · load), scaled so that the mean price of
        #    the channels is 1, plus the price of a hop on any channel. A low hop price before the
        #    legal rounds makes loads count more than hops. Loads may grow during an exchange, so
        #    `cost` reaches above the largest present one. The exponent is at most 60, so that no
        #    price overflows.
        max_load = int(self._load.max(initial=0))
        loads = np.arange(2 * max_load + int(16 * self._mean_load) + 1)
        cost = np.exp(np.minimum(sharpness * (loads - max_load), 60.0))
        cost /= _mean_or_one(self._emphasis * cost[self._load])
        hop_price = 1.0 if legal else 0.2
        cost += hop_price
        price = self._emphasis * cost[self._load]

        # 2. Sweeps.
        words = self._sort_words()
        for word_number, word in enumerate(words):
            channel = word % topology.num_channels
            noisy_price = price[channel] * (1 + NOISE * self._random.random(len(word)))
            sweep(
                source=topology.channel_source[channel],
                target=topology.channel_target[channel],
                price=noisy_price.astype(np.float32),
                num_scans=passes,
                toll=np.float32(toll),
                cheapest=self._cheapest[word_number],
                end=self._end[word_number],
                previous=self._previous[word_number],
                distance=self._sweep_distance,
                last=self._sweep_last,
            )

        # 3. Exchange. On a large network only a share of the rows, and all broken ones, get an
        #    offer, so that the words, which follow the routes, do not change too much in a round.
        share = 0.3 if is_large and round_number > 1 else 1.0
        rows = self._draw_rows(share)
        if share < 1:
            rows = np.concatenate((rows, np.flatnonzero(self._mark_broken_rows())))
        exchange(
            rows=rows,
            ends=self._ends,
            weight=self._demand,
            words=words,
            swept=(self._cheapest, self._end, self._previous),
            position=self._position,
            cost=cost,
            emphasis=self._emphasis,
            toll=toll,
            only_legal=legal,
            routes=self._routes,
            length=self._length,
            load=self._load,
        )
        return self._mark_broken_rows()

    def _sort_words(self) -> Int32Array:
        """Return the elements of each word in order; int32, shape (vcs, C) or (1, vcs C)."""
        position = self._position.reshape(self._num_words, self._word_length)
        order = np.argsort(position, axis=1, kind="stable")
        first_elements = self._word_length * np.arange(self._num_words)
        words: Int32Array = (order + first_elements[:, None]).astype(np.int32)
        return words

    def _mark_broken_rows(self) -> BoolArray:
        """Mark the rows without a route or with a break in it; bool, shape (R,).

        Rows whose switches the network does not connect are not marked.
        """
        broken: BoolArray = broken_rows(self._routes, self._length, self._position) & self._has_path
        return broken

    def _draw_rows(self, share: float) -> Int64Array:
        """Return a random share of the rows in random order, block by block.

        Rows are numbered source by source. A block has the rows of 16 sources, so that the columns
        of these sources in the results of the sweeps stay in the cache.
        """
        num_rows = len(self._length)
        block_size = max(1, 16 * num_rows // max(1, len(self._topology.endpoints)))
        starts = self._random.permutation(np.arange(0, num_rows, block_size))
        blocks = (np.arange(start, min(start + block_size, num_rows)) for start in starts)
        chosen = [self._random.permutation(block)[: ceil(share * len(block))] for block in blocks]
        return np.concatenate([*chosen, np.empty(0, dtype=np.int64)])

    def _reorder(self, heat: float) -> None:
        """Change the words so that the turns that descend in them have little weight.

        `heat` is the standard deviation of a random change of the logarithms of the weights.
        """
        # 1. The weight of each turn that routes use, at the index
        #    ``(first element * degree + slot of the second channel) * next_vcs + its vc``. If each
        #    virtual channel has its own word, both elements have the same one, and `next_vcs` is 1.
        #    Turns that a word must contain weigh more than all others.
        channels, vcs = self._topology.num_channels, self._vcs
        next_vcs = vcs if self._num_words == 1 and vcs > 1 else 1
        turns_per_element = self._degree * next_vcs
        turn_weight = np.zeros(len(self._position) * turns_per_element)
        add_turn_weights(
            routes=self._routes,
            length=self._length,
            weight=self._turn_weight,
            slot=self._slot,
            num_channels=channels,
            degree=self._degree,
            num_next_vcs=next_vcs,
            turn_weight=turn_weight,
        )
        if self._required_turns is not None:
            first, second = self._required_turns
            vc_in_index = second // channels if next_vcs > 1 else 0
            slot = self._slot[second % channels]
            turn_weight[(first * self._degree + slot) * next_vcs + vc_in_index] += (
                REQUIRED_WEIGHT * (1 + turn_weight.max(initial=0))
            )
        # 2. Both elements of each turn that has a weight, from its index. The weight is changed at
        #    random, by as much as `heat`.
        index = np.flatnonzero(turn_weight)
        weight = turn_weight[index] * np.exp(heat * self._random.standard_normal(len(index)))
        first, vc_in_index = index // turns_per_element, index % next_vcs
        slot = index % turns_per_element // next_vcs
        next_channel = self._channel_at[self._topology.channel_target[first % channels], slot]
        next_vc = vc_in_index if next_vcs > 1 else first // channels
        second = next_channel + channels * next_vc
        by_element = _turns_by_element(len(self._position), first, second, weight)

        # 3. Move each element to its best gap, in two passes. A move divides the gap in which it
        #    puts the element: whole numbers after each pass make all gaps wide again.
        for _ in range(2):
            order = self._random.permutation(len(self._position))
            move_elements(
                self._position, order, by_element, self._random.random((len(self._position), 2))
            )
            self._number_positions()
        # 4. Repair turns that still descend, the heaviest first. A repair moves the second element
        #    with its block: what must follow it by turns of at least `share` of the repaired turn's
        #    weight. With 1e-9 these are all turns. If they close a cycle, the repair fails, and is
        #    tried once more with the heavy turns only. Required turns form no cycle among
        #    themselves: at 0.5, their blocks follow little else, so they are repaired first.
        shares = (1e-9, 0.3) if self._required_turns is None else (0.5, 1e-9, 0.3)
        for share in shares:
            descending = np.flatnonzero(self._position[first] >= self._position[second])
            descending = descending[np.argsort(-weight[descending], kind="stable")]
            if self._required_turns is None:
                descending = descending[:3000]
            lift_blocks(
                position_in_word=self._position,
                earlier=first[descending],
                later=second[descending],
                weight=weight[descending],
                turns=by_element,
                share=share,
            )

    def _number_positions(self) -> None:
        """Replace the positions by whole numbers in the same order, word behind word."""
        self._position[np.argsort(self._position, kind="stable")] = np.arange(len(self._position))

    def _tree_turns(self) -> Int64Array:
        """Return the turns inside a spanning tree, in the last word; int64, shape (2, T).

        They form no cycle, so that a word can always contain them. Of the trees from some random
        roots, take the one with fewest turns that descend now.
        """
        roots = self._random.permutation(self._topology.num_switches)[:16]
        trees = [_turns_of_tree(self._topology, int(root)) for root in roots]
        # From channels to elements of the last virtual channel.
        shift = (self._vcs - 1) * self._topology.num_channels
        return min(
            (tree + shift for tree in trees),
            key=lambda tree: np.count_nonzero(self._position[tree[0]] >= self._position[tree[1]]),
        )

    # --- result ---------------------------------------------------------------------------------

    @property
    def tree_channels(self) -> Int64Array:
        """Channels of the spanning tree whose turns the last word had to contain; else empty.

        All routes inside the tree are legal in that word.
        """
        if self._required_turns is None:
            return np.empty(0, dtype=np.int64)
        # elements to channels; `max`, because a network may have none
        return np.unique(self._required_turns) % max(self._topology.num_channels, 1)

    def ranks(self) -> Int32Array:
        """Return the rank of each channel in the word of each virtual channel; int32, (vcs, C).

        Only for ``per="pair"``, where each virtual channel has its own word.
        """
        assert self._best is not None
        _, _, best_position = self._best
        position = best_position.reshape(self._vcs, -1)
        # Sorting twice: the first order lists channels by position, its inverse has their ranks.
        ranks: Int32Array = np.argsort(np.argsort(position, axis=1), axis=1).astype(np.int32)
        return ranks

    def table(self) -> RouteTable:
        """Return the best legal routes with their virtual channels."""
        topology = self._topology
        # The first or second legal round routes all pairs, inside the spanning tree if need be.
        assert self._best is not None
        routes, length, _ = self._best
        # Of all P * P pairs: 0 hops from a switch to itself, -1 without a route.
        lengths = np.zeros(len(self._is_row), dtype=np.int64)
        lengths[self._is_row] = np.where(self._has_path, length, -1)
        hops = routes[np.arange(routes.shape[1]) < length[:, None]]
        return RouteTable.from_lengths(
            topology,
            lengths,
            hops % max(topology.num_channels, 1),
            hop_vc=(hops // max(topology.num_channels, 1)).astype(np.int16),
            counters={"word_rounds": self._rounds_done},
        )


def _turns_by_element(
    count: int, first: Int64Array, second: Int64Array, weight: Float64Array
) -> tuple[Int64Array, Int64Array, Float64Array, NDArray[np.int8]]:
    """Return the turns by element, each at both of its elements, as `move_elements` needs them.

    Returns
    -------
    start : int64 array, shape (count + 1,)
        Turns of element e are ``start[e]:start[e + 1]`` of the other arrays.
    other : int64 array, shape (2 T,)
        The other element.
    weight : float64 array, shape (2 T,)
    direction : int8 array, shape (2 T,)
        1 if the other element should follow, −1 if it should precede.
    """
    element = np.concatenate((first, second))
    other = np.concatenate((second, first))
    direction = np.repeat(np.array((1, -1), dtype=np.int8), len(first))
    by_element = np.argsort(element, kind="stable")
    start = np.searchsorted(element[by_element], np.arange(count + 1))
    weight_at_both = np.concatenate((weight, weight))
    return start, other[by_element], weight_at_both[by_element], direction[by_element]


def _mean_or_one(values: Float64Array | Int64Array) -> float:
    """Return the mean of positive numbers; 1 if there are none, so that it can be a divisor."""
    return float(values.mean()) if len(values) else 1.0


def _order_channels_up_down(topology: Topology) -> Int64Array:
    """Return the channels in the order of up*/down* routes: up, farthest first, then down."""
    level = levels_from(topology, root_of(topology, "center", "words"))
    rank = np.empty(topology.num_switches, dtype=np.int64)
    rank[np.argsort(level, kind="stable")] = np.arange(topology.num_switches)
    source, target = topology.channel_source, topology.channel_target
    up = rank[target] < rank[source]
    order: Int64Array = np.argsort(
        np.where(up, -rank[source], topology.num_switches + rank[source]), kind="stable"
    )
    return order


def _turns_of_tree(topology: Topology, root: int) -> Int64Array:
    """Return the turns inside a spanning forest: both channels of each; shape (2, T).

    The trees are those of breadth-first searches, the first one from `root`.
    """
    target = topology.channel_target.tolist()
    out_start, out_channel = (array.tolist() for array in topology.outgoing)
    opposite = dict(topology.links.tolist()) | {b: a for a, b in topology.links.tolist()}
    reached: set[int] = set()
    tree_channels_to: list[list[int]] = [[] for _ in range(topology.num_switches)]
    for tree_root in [root, *range(topology.num_switches)]:
        if tree_root in reached:
            continue
        reached.add(tree_root)
        queue = deque((tree_root,))
        while queue:
            switch = queue.popleft()
            for channel in out_channel[out_start[switch] : out_start[switch + 1]]:
                if target[channel] not in reached:
                    reached.add(target[channel])
                    queue.append(target[channel])
                    tree_channels_to[target[channel]].append(channel)
                    tree_channels_to[switch].append(opposite[channel])
    # At each switch, a packet arrives by one channel of the tree and leaves by another. Those that
    # leave are opposite to those that arrive; back to the same neighbour is no turn.
    turns = [
        (arriving, opposite[arriving_from_next])
        for channels in tree_channels_to
        for arriving in channels
        for arriving_from_next in channels
        if arriving != arriving_from_next
    ]
    return np.array(turns, dtype=np.int64).reshape(-1, 2).T
