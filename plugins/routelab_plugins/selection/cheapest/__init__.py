"""Cheapest legal routes of any length, at prices that rise with the load of a channel.

`balanced` chooses among a pair's shortest routes. Where these leave channels idle, detours of a few
pairs lower the maximum load, for example on a Dragonfly or in a random network. No list of routes
is made here:

1. **Prices.** A hop costs 1 + exp(β (load - maximum)), normalized to a mean of 1 + 1, times the
   channel's emphasis and a random factor up to 1.2; β is 40 divided by the mean load.
2. **Sweep.** One pass over the edges of the routing graph finds the cheapest legal routes of all
   pairs: edges are ordered so that each follows those that lead to it, if the graph has no cycle.
3. **Exchange.** Each pair is offered its cheapest route, in random order, and takes it if it is not
   dearer at the loads of this moment. Groups of sources stay together, for the cache.
4. **Emphasis.** Channels above the goal (one less than the best maximum) get dearer by 5 %.
5. **Proof.** The prices prove a bound for routes of any length: if every pair took its cheapest
   route, the mean load, weighted with the prices, would be the sum of these prices over that of all
   channels. Where it meets the maximum, the search ends; else after `rounds` without progress.

Choosing by exponential prices: Young, *Randomized rounding without solving the linear program*
(SODA 1995); emphasis: Morris, *The breakout method for escaping from local minima* (AAAI 1993).
All channels count alike, whatever their capacity.

A round costs O(E Q) for the sweep, with Q sources, and O(hops) for the exchange; memory is
8 V Q bytes and 4 bytes for each hop that a route may have.
"""

from __future__ import annotations

from itertools import pairwise
from math import ceil
from typing import Literal

import numpy as np

from routelab.api import (
    Capabilities,
    Column,
    Parameters,
    RouteTable,
    RoutingGraph,
    SelectionPlugin,
    parameter,
)
from routelab.api.topology import Float64Array, Int32Array, Int64Array
from routelab_plugins import works

from .kernels import exchange, sweep

SHARPNESS = 40.0
"""β times the mean load."""

NOISE = 0.2
"""Largest random surcharge of a channel's price, relative to it."""

EMPHASIS = 1.05
"""Factor by which channels above the goal get dearer in each round."""

PROOF_ROUNDS = 10
"""Rounds from one attempt to prove the present maximum to the next."""

LEAST_ROUNDS, MOST_ROUNDS = 15, 100
"""Rounds without progress until the search ends, by default."""

WORK = 200_000_000
"""Number of hops that rounds without progress examine by default."""

GROUP = 16
"""Number of sources whose pairs are exchanged together."""

SPARE_HOPS = 6
"""Hops that a route may have beyond the longest of the first sweep."""


class CheapestParameters(Parameters):
    """Effort of the search, and what gets a route of its own."""

    seed: int = parameter(0, ge=0, le=2**63 - 1, description="Seed of prices and orders")
    rounds: int | None = parameter(
        None,
        ge=1,
        le=10**6,
        description="Rounds without a smaller maximum load until the search ends (default: 100, or "
        "on large networks as many as examine 200 million hops, but at least 15)",
    )
    pairs: Literal["switches", "terminals"] = parameter(
        "switches", description="Route pairs of switches, or each terminal of the target by itself"
    )


class Cheapest(SelectionPlugin):
    """Exchanges routes at exponential prices; stops when the prices prove optimality."""

    name = "cheapest"
    summary = "Near-optimal maximum load with legal routes of any length, by exponential prices"
    citations = (
        works.YOUNG1995("choosing by exponential prices"),
        works.MORRIS1993("emphasis that grows where the goal is missed"),
    )
    capabilities = Capabilities(minimal=False)
    columns = (
        Column(
            "exchange_rounds",
            "`cheapest`: number of rounds of sweep and exchange",
            group="Computing effort",
        ),
        Column(
            "price_bound",
            "`cheapest`: lower bound of `max_load` for routes of any length under the rules, from "
            "the prices of the search",
            unit="routes",
        ),
    )
    Parameters = CheapestParameters

    def supports(self, graph: RoutingGraph) -> str | None:
        """Refuse rules that hold for shortest routes only."""
        if graph.minimal_only:
            return "these rules speak for shortest routes only, and it also takes longer ones"
        return None

    def select(self, graph: RoutingGraph) -> RouteTable:
        """Choose one legal route for each pair; see the module for steps and costs."""
        topology, options = graph.topology, self.parameters
        random = np.random.default_rng(options.seed)
        # route to each terminal by itself, instead of one route for all terminals of a switch
        per_terminal = options.pairs == "terminals"
        search = _Search(graph, per_terminal)
        best_load, best_routes = search.load_limit, search.routes
        rounds = rounds_since_best = 0
        patience = options.rounds
        if patience is None:
            patience = max(LEAST_ROUNDS, min(MOST_ROUNDS, WORK // max(search.hops, 1)))
        while rounds_since_best < patience and best_load > search.bound:
            # Steps 1 to 3. Emphasis also leads through worse routes, so the best ones are copied.
            search.run_round(random)
            rounds += 1
            rounds_since_best += 1
            if search.load.max(initial=0) < best_load:
                best_load, rounds_since_best = int(search.load.max(initial=0)), 0
                best_routes = tuple(array.copy() for array in search.routes)
            # Step 5. A proof costs another sweep, and prices of one round hardly change the mean.
            if rounds % PROOF_ROUNDS == 0:
                search.improve_bound()
            # Step 4. Channels above the goal get dearer. The goal is one less than the best maximum
            # and loads are whole numbers, so channels at the best maximum are above it.
            search.emphasis[search.load >= best_load] *= EMPHASIS
            search.emphasis /= _mean(search.emphasis)
        # The table takes the hops of one row after another, without the unused entries behind them.
        hops, length = best_routes
        is_hop = np.arange(hops.shape[1]) < length[:, None]
        return RouteTable.from_lengths(
            topology,
            length,
            hops[is_hop],
            per_terminal=per_terminal,
            counters={"exchange_rounds": rounds, "price_bound": search.bound},
        )


class _Search:
    """The routes of all rows, a row for each pair, and the loads that they add up to.

    A pair is a source switch and a target switch, or a source switch and a target terminal.

    Attributes
    ----------
    routes : tuple of (int32 array, shape (R, W), int32 array, shape (R,))
        Channels of each row's route, and number of hops; -1 if the row has no route (yet).
    load : int64 array, shape (C,)
        Load of each channel by these routes.
    emphasis : float64 array, shape (C,)
        Factor of each channel's price; 1 on average.
    load_limit : int
        More than the load of any channel can be.
    hops : int
        Approximate number of hops of all routes.
    bound : int
        Proven: no legal routes have a smaller maximum load.
    """

    def __init__(self, graph: RoutingGraph, per_terminal: bool) -> None:
        topology = graph.topology
        sources = topology.endpoints
        # 1. The rows, sorted by source, then target. Each switch with terminals is a source. A row
        #    weighs as much as the terminal pairs that use its route: terminals at the source times
        #    terminals at the target (1 if the target is a terminal).
        targets = topology.terminal_switch if per_terminal else sources
        terminals = topology.demand
        self._num_sources = len(sources)
        self._row_source = np.repeat(np.arange(len(sources), dtype=np.int32), len(targets))
        self._row_target = np.tile(np.arange(len(targets), dtype=np.int32), len(sources))
        target_terminals = np.ones(len(targets), np.int64) if per_terminal else terminals
        self._weight = (terminals[:, None] * target_terminals).reshape(-1)
        self.load_limit = int(self._weight.sum()) + 1
        # 2. The graph with its edges in the order of a sweep, and the arrays that a sweep fills.
        self._begins = graph.begin[sources]
        edge_order = _edge_order(graph)
        self._edges = (graph.edge_source[edge_order], graph.edge_channel[edge_order])
        self._edge_target = graph.edge_target[edge_order]
        self._stops = _accepting_vertices(graph, targets)
        self._distance = np.empty((graph.num_vertices, len(sources)), dtype=np.float32)
        self._last_edge = np.empty((graph.num_vertices, len(sources)), dtype=np.int32)
        self.load: Int64Array = np.zeros(topology.num_channels, dtype=np.int64)
        self.emphasis = np.ones(topology.num_channels)
        self._price_sum = np.ones(topology.num_channels)
        # 3. The first sweep has a price of 1 for each hop. So its bound is that of shortest routes,
        #    and its distances are their hops.
        self.bound = 0
        self.improve_bound()
        lengths: Float64Array = self._distance[np.isfinite(self._distance)].astype(np.float64)
        self.hops = int(_mean(lengths) * len(self._weight))
        width = int(lengths.max(initial=0)) + SPARE_HOPS
        self.routes: tuple[Int32Array, ...] = (
            np.empty((len(self._weight), width), dtype=np.int32),
            np.full(len(self._weight), -1, dtype=np.int32),
        )

    def improve_bound(self) -> None:
        """Prove a bound (step 5) with the mean of all prices so far; raise `bound` if it is higher.

        The first prices were 1 for each hop.
        """
        price = self._price_sum / _mean(self._price_sum)
        edge_channel = self._edges[1]
        self._sweep(price[edge_channel])
        # The price of each pair's cheapest route: the least over the vertices where it may stop.
        # It is listed by target, then source; rows are sorted by source, then target.
        stop_start, stop_vertices = self._stops
        cheapest = [
            self._distance[stop_vertices[start:end]].min(axis=0, initial=np.inf)
            for start, end in pairwise(stop_start)
        ]
        row_price = self._weight * np.array(cheapest, dtype=np.float64).T.reshape(-1)
        # Distances are sums of floats with 24 bits. A sum over n hops may be too large by about
        # n / 2^24, relative to it: 1e-5 is enough for 160 hops. Pairs without a route add no load.
        total_price = row_price[np.isfinite(row_price)].sum()
        proven = total_price / max(price.sum(), 1e-30) * (1 - 1e-5)
        self.bound = max(self.bound, ceil(proven))

    def _sweep(self, edge_price: Float64Array) -> None:
        """Update the cheapest walk from each source to each vertex at these prices."""
        sweep(
            edge_source=self._edges[0],
            edge_target=self._edge_target,
            edge_price=edge_price.astype(np.float32),
            begins=self._begins,
            distance=self._distance,
            last_edge=self._last_edge,
        )

    def run_round(self, random: np.random.Generator) -> None:
        """Sweep and exchange once (steps 1 to 3); updates routes, loads and the sum of prices."""
        # 1. cost[x]: what a hop over a channel of load x costs, before emphasis. During the
        #    exchange loads rise above the present maximum: the table ends at twice the maximum and
        #    the weight of a row. Above exp(60) the exponential is cut off.
        mean_load, max_load = max(_mean(self.load), 1.0), int(self.load.max(initial=0))
        possible_loads = np.arange(2 * max_load + 1 + int(self._weight.max(initial=0)))
        exponential = np.exp(np.minimum(SHARPNESS / mean_load * (possible_loads - max_load), 60.0))
        # with emphasis, a mean of 1 over the channels; and 1 for the hop itself
        cost = 1.0 + exponential / _mean(self.emphasis * exponential[self.load])
        # 2. Cheapest routes at noisy prices. The proof takes the exponential part without noise,
        #    normalized, so that every round counts alike.
        price = self.emphasis * cost[self.load]
        edge_channel = self._edges[1]
        self._sweep(price[edge_channel] * (1 + NOISE * random.random(len(edge_channel))))
        exponential_part = price - self.emphasis
        self._price_sum += exponential_part / _mean(exponential_part)
        # 3. Rows may change to these routes.
        exchange(
            order=self._draw_order(random),
            edges=self._edges,
            walks=(self._distance, self._last_edge),
            stops=self._stops,
            row_source=self._row_source,
            row_target=self._row_target,
            weight=self._weight,
            cost=cost,
            emphasis=self.emphasis,
            routes=self.routes,
            load=self.load,
        )

    def _draw_order(self, random: np.random.Generator) -> Int64Array:
        """Return all rows in random order, those of a group of sources together."""
        # Rows are sorted by source, equally many for each: a block has the rows of GROUP sources.
        num_rows = len(self._weight)
        size = max(1, num_rows // max(1, self._num_sources)) * GROUP
        starts = random.permutation(np.arange(0, num_rows, size))
        blocks = [np.arange(start, min(start + size, num_rows)) for start in starts]
        return np.concatenate([random.permutation(block) for block in blocks] or [np.arange(0)])


def _mean(values: Float64Array | Int64Array) -> float:
    """Return the mean of positive numbers; 1 without any, so that it can be divided by."""
    return float(values.mean()) if len(values) else 1.0


def _edge_order(graph: RoutingGraph) -> Int64Array:
    """Return the edges so that each follows all that lead to its source, as far as possible.

    A depth-first search gives the last position to the vertex that it leaves first, and so on
    backwards. If the graph has no cycle, this is a topological order: a vertex is left only after
    all vertices behind it. Edges that no route reaches are left out.
    """
    start, target = graph.edge_start.tolist(), graph.edge_target.tolist()
    position = np.full(graph.num_vertices, -1)
    next_position = graph.num_vertices
    is_entered = [False] * graph.num_vertices
    for root in graph.begin.tolist():
        if is_entered[root]:
            continue
        is_entered[root] = True
        stack = [(root, start[root])]
        while stack:
            # A vertex, and the next of its edges to follow. The edges of v end where those of v + 1
            # start.
            v, e = stack.pop()
            if e == start[v + 1]:
                next_position -= 1
                position[v] = next_position
                continue
            stack.append((v, e + 1))
            if not is_entered[target[e]]:
                is_entered[target[e]] = True
                stack.append((target[e], start[target[e]]))
    order: Int64Array = np.argsort(position[graph.edge_source], kind="stable")
    return order[position[graph.edge_source[order]] >= 0]


def _accepting_vertices(graph: RoutingGraph, targets: Int32Array) -> tuple[Int32Array, Int32Array]:
    """Return the vertices in which routes may stop at each target, target after target.

    Parameters
    ----------
    graph : RoutingGraph
    targets : int32 array
        Switches; several terminals of a switch repeat it.

    Returns
    -------
    offsets : int32 array, shape (targets + 1,)
    vertices : int32 array
        Those of target j are ``vertices[offsets[j]:offsets[j + 1]]``.
    """
    vertices = np.flatnonzero(graph.accepting)
    vertices = vertices[np.argsort(graph.vertex_switch[vertices], kind="stable")]
    switch_start = np.searchsorted(
        graph.vertex_switch[vertices], np.arange(graph.topology.num_switches + 1)
    )
    vertices_of_target = [
        vertices[switch_start[switch] : switch_start[switch + 1]] for switch in targets
    ]
    offsets = np.cumsum([0, *map(len, vertices_of_target)], dtype=np.int32)
    return offsets, np.concatenate([*vertices_of_target, np.empty(0)]).astype(np.int32)
